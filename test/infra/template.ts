import { givenName, type DeclaredResource } from './resource-schemas.ts';

/*
 * Templates as CloudFormation reads them: every reference stands for the name of what it leads to.
 */

/** A template, as far as tests read it. */
export interface Template {
  readonly Parameters?: Readonly<Record<string, unknown>>;
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown }>>;
}

interface TemplateResource extends DeclaredResource {
  readonly DependsOn?: string | readonly string[];
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly UpdatePolicy?: Fields;
}

/** One stack of a deployment. */
export interface StackTemplate {
  readonly name: string;
  /** `unknown-region`: that of the caller, who cannot deploy such a template. */
  readonly region: string;
  /** The names of the stacks that are deployed before it, whatever the order of the others. */
  readonly waitsFor: readonly string[];
  readonly template: Template;
}

type Fields = Readonly<Record<string, unknown>>;

export interface Resource {
  readonly stack: string;
  readonly logicalId: string;
  readonly type: string;
  /** What references to it become: the name that the template gives to it, else its logical id. */
  readonly name: string;
  /** With names in place of references, and with the update policy among them. */
  readonly properties: Fields;
  /** The logical ids that it waits for, besides those that it refers to. */
  readonly dependsOn: readonly string[];
  readonly deletionPolicy: string | undefined;
}

/** What stacks make. */
export interface Deployment {
  /** By stack, type and logical id. */
  readonly resources: readonly Resource[];
  /** By stack and name. */
  readonly outputs: ReadonlyMap<string, string>;
}

/**
 * @param stacks in the order in which they are deployed
 * @throws where CloudFormation would stop: a reference to nothing, to an output of a stack that it does not wait for, or to a part of one
 */
export function readStacks(stacks: readonly StackTemplate[]): Deployment {
  const outputs = new Map<string, string>();
  const regions = new Map(stacks.map(({ name, region }) => [name, region]));
  const resources = stacks.flatMap(({ name: stack, region: here, waitsFor, template }) => {
    const { Resources, Outputs = {}, Parameters = {} } = template;
    const known = new Map<string, Resource>();
    const resource = (id: string): Resource => {
      const found = known.get(id) ?? read(id);
      known.set(id, found);
      return found;
    };
    /** Values of the account and parameters stand for themselves. */
    const nameOf = (id: string): string =>
      id.startsWith('AWS::') || id in Parameters ? id.replace('::', '-') : resource(id).name;

    function read(logicalId: string): Resource {
      const declared = Resources[logicalId];
      if (declared === undefined) throw new Error(`the template refers to ${logicalId}, which is not in it`);
      const { Type: type, Properties, UpdatePolicy, DependsOn = [], DeletionPolicy } = declared;
      const properties = resolved({ ...Properties, ...(UpdatePolicy && { UpdatePolicy }) }) as Fields;
      return {
        ...{ stack, logicalId, type, properties },
        name: isQualified(type)
          ? functionArn(properties, logicalId)
          : (givenName(type, properties) ?? logicalId),
        dependsOn: [DependsOn].flat(),
        deletionPolicy: DeletionPolicy,
      };
    }

    function resolved(value: unknown): unknown {
      if (Array.isArray(value)) return value.map(resolved);
      if (typeof value !== 'object' || value === null) return value;
      const entries = Object.entries(value);
      const [name, argument] = entries[0] ?? [];
      if (entries.length !== 1 || name === undefined || (name !== 'Ref' && !name.startsWith('Fn::')))
        return Object.fromEntries(entries.map(([key, entry]) => [key, resolved(entry)]));
      switch (name) {
        case 'Ref':
          return nameOf(String(argument));
        case 'Fn::GetAtt': {
          const [id = '', ...attribute] = Array.isArray(argument)
            ? argument.map(String)
            : String(argument).split('.');
          return [nameOf(id), ...attribute].join('.');
        }
        case 'Fn::Join': {
          const [separator, parts] = resolved(argument) as [string, string[]];
          return parts.join(separator);
        }
        case 'Fn::Split': {
          const [, source] = argument as [string, unknown];
          if (typeof source === 'object' && source !== null && 'Fn::GetStackOutput' in source)
            throw new Error(`${stack} splits an output of another stack, which CloudFormation rejects`);
          const [separator, text] = resolved(argument) as [string, unknown];
          return String(text).split(separator);
        }
        case 'Fn::Sub':
          return String(argument).replaceAll(
            /\$\{([\w:]+)(\.[\w.]+)?\}/g,
            (_, id: string, attribute = '') => `${nameOf(id)}${String(attribute)}`,
          );
        case 'Fn::Select': {
          const [index, parts] = resolved(argument) as [number, unknown];
          return Array.isArray(parts) ? (parts[index] as unknown) : `${String(parts)}[${String(index)}]`;
        }
        case 'Fn::GetStackOutput': {
          const { StackName = '', OutputName = '', Region = here } = argument as Record<string, string>;
          const there = regions.get(StackName);
          if (there !== 'unknown-region' && there !== Region)
            throw new Error(`${stack} looks for ${StackName} in ${Region}, but it is in ${String(there)}`);
          const output = outputs.get(`${StackName}/${OutputName}`);
          if (output === undefined || !waitsFor.includes(StackName))
            throw new Error(`${stack} reads ${OutputName} of ${StackName}, which may not be there yet`);
          return output;
        }
        default:
          // Fn::ImportValue too: it would hold the stack that exports the value back.
          throw new Error(`the templates use ${name}, which a deployment here never needs`);
      }
    }

    const rank = (id: string): string => `${Resources[id]?.Type ?? ''} ${id}`;
    const all = Object.keys(Resources)
      .toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1))
      .map(resource);
    for (const [name, { Value }] of Object.entries(Outputs))
      outputs.set(`${stack}/${name}`, String(resolved(Value)));
    return all;
  });
  return { resources, outputs };
}

function isQualified(type: string): boolean {
  return type === 'AWS::Lambda::Alias' || type === 'AWS::Lambda::Version';
}

/** The ARN of a version or an alias, which the templates take apart. */
function functionArn({ FunctionName: name, Name: alias }: Fields, logicalId: string): string {
  return `arn:aws:lambda:region:account:function:${String(name)}:${typeof alias === 'string' ? alias : logicalId}`;
}
