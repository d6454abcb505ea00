/** What a template consists of here. */
interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
}
interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

/** A type that every CloudFormation knows, and that creates nothing. */
const GENERIC = 'AWS::CloudFormation::WaitConditionHandle';

interface Reference {
  readonly Ref?: string;
  readonly 'Fn::GetAtt'?: readonly string[];
  readonly 'Fn::GetStackOutput'?: { readonly StackName: string; readonly OutputName: string };
}

/** Returns what a policy accepts in place of an ARN. */
const textOf = (name: string): string => (name.endsWith('Arn') ? `arn:aws:s3:::${name}` : name);

/**
 * Returns a copy of a template in which a generic resource is in place of each one whose type is not known, and text in place of what the others
 * read of it, or of another stack: for an alias of a function, the function.
 * @returns also the replaced types, in alphabetical order
 */
export function withKnownTypes<T extends Template>(
  template: T,
  known: ReadonlySet<string>,
): { readonly template: T; readonly replaced: readonly string[] } {
  const unknown = new Map(Object.entries(template.Resources).filter(([, { Type }]) => !known.has(Type)));
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== 'object' || value === null) return value;
    const { Ref: ref, 'Fn::GetAtt': attribute, 'Fn::GetStackOutput': output } = value as Reference;
    if (output !== undefined) return textOf(`${output.StackName}.${output.OutputName}`);
    const absent = unknown.get(ref ?? attribute?.[0] ?? '');
    const { Ref: aliased } = (absent?.Properties?.['FunctionName'] ?? {}) as { Ref?: string };
    if (absent?.Type === 'AWS::Lambda::Alias') return { 'Fn::GetAtt': [aliased, 'Arn'] };
    if (absent !== undefined) return ref ?? textOf(attribute?.join('.') ?? '');
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, visit(member)]));
  };
  const Resources = Object.fromEntries(
    Object.entries(template.Resources).map(([id, resource]) => [
      id,
      unknown.has(id) ? { Type: GENERIC } : visit(resource),
    ]),
  );
  return {
    // SAFETY: of the same form.
    template: { ...(visit(template) as T), Resources },
    replaced: [...new Set([...unknown.values()].map(({ Type }) => Type))].toSorted(),
  };
}
