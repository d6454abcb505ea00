import { isDeepStrictEqual } from 'node:util';
import { givenName, isReplaced, type DeclaredResource } from './resource-schemas.ts';

/*
 * What CloudFormation does with one account, resource by resource. It creates and updates in the order of the references, replaces by
 * creating before it deletes, and deletes at the very end.
 */

/** A template, as far as it is deployed. */
export interface Template {
  readonly Parameters?: Readonly<Record<string, unknown>>;
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown }>>;
}

export interface TemplateResource extends DeclaredResource {
  readonly DependsOn?: string | readonly string[];
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly UpdatePolicy?: Fields;
}

/** One stack of a deployment. */
export interface StackTemplate {
  readonly name: string;
  readonly template: Template;
}

type Fields = Readonly<Record<string, unknown>>;

/** A resource as it exists. */
export interface Physical {
  readonly stack: string;
  readonly logicalId: string;
  readonly type: string;
  /** Given by the template, or made by CloudFormation and then never the same again. */
  readonly id: string;
  /** With every reference resolved to ids of the account, and with the update policy among them. */
  readonly properties: Fields;
  /** At the time of creation: of a deployment of an API its body, which is what a stage serves; of a version what its function was. */
  readonly snapshot?: unknown;
}

interface DeployedStack {
  template: Template;
  readonly resources: Map<string, Physical>;
  outputs: ReadonlyMap<string, unknown>;
}

/** One step of a deployment, after which the account has changed. */
export interface Step {
  readonly action: 'create' | 'update' | 'replace' | 'delete' | 'outputs';
  readonly stack: string;
  readonly logicalId: string;
}

/** Resources without an order between them are handled in parallel: a test walks the one order and the other. */
export type Order = 'first types first' | 'last types first';

/** An AWS account with stacks. */
export class Account {
  readonly stacks = new Map<string, DeployedStack>();
  /** Everything that exists, with what a stack has left behind, by type. */
  private readonly live = new Map<string, Set<Physical>>();
  private created = 0;

  /**
   * Deploys stacks one after the other. A stack that is not among them stays as it is, as with the CDK.
   * @param stacks in their order
   * @yields after each step
   * @throws where CloudFormation would stop: a name that is taken, an output that is missing, references in a circle
   */
  *deploy(stacks: readonly StackTemplate[], order: Order): Generator<Step, void, undefined> {
    for (const { name, template } of stacks) yield* this.update(name, template, order);
  }

  /** The resources of one type. */
  ofType(type: string): readonly Physical[] {
    return [...(this.live.get(type) ?? [])];
  }

  private begin(physical: Physical): void {
    this.live.set(physical.type, (this.live.get(physical.type) ?? new Set()).add(physical));
  }

  private end(physical: Physical): void {
    this.live.get(physical.type)?.delete(physical);
  }

  private *update(stack: string, template: Template, order: Order): Generator<Step, void, undefined> {
    const current = this.stacks.get(stack) ?? {
      template: { Resources: {} },
      resources: new Map<string, Physical>(),
      outputs: new Map<string, unknown>(),
    };
    this.stacks.set(stack, current);
    const { template: former, resources } = current;
    const scope = { template, resources };
    const leaving = new Map<string, Physical>();

    for (const logicalId of sorted(template, order)) {
      const { Type: type, Properties, UpdatePolicy } = defined(template.Resources[logicalId]);
      const declared = { ...Properties, ...(UpdatePolicy === undefined ? {} : { UpdatePolicy }) };
      const properties = this.resolved(declared, scope) as Fields;
      const old = resources.get(logicalId);
      if (old !== undefined && old.type !== type)
        throw new Error(`${logicalId} cannot change from ${old.type} to ${type}`);
      if (old !== undefined && isDeepStrictEqual(old.properties, properties)) continue;
      if (
        type === 'AWS::KMS::Key' &&
        old !== undefined &&
        old.properties['MultiRegion'] !== properties['MultiRegion']
      )
        throw new Error(`${logicalId} cannot be updated: MultiRegion of a KMS key never changes`);
      if (old !== undefined && !isReplaced(type, old.properties, properties)) {
        const updated = { ...old, properties };
        this.end(old);
        this.begin(updated);
        resources.set(logicalId, updated);
        yield { action: 'update', stack, logicalId };
        continue;
      }
      resources.set(logicalId, this.create(stack, logicalId, type, properties));
      if (old !== undefined) leaving.set(logicalId, old);
      yield { action: old === undefined ? 'create' : 'replace', stack, logicalId };
    }
    const outputs = new Map(
      Object.entries(template.Outputs ?? {}).map(([name, { Value }]) => [name, this.resolved(Value, scope)]),
    );
    const changed = !isDeepStrictEqual(current.outputs, outputs);
    Object.assign(current, { template, outputs });
    if (changed) yield { action: 'outputs', stack, logicalId: '' };

    for (const logicalId of sorted(former, order).toReversed()) {
      const declared = defined(former.Resources[logicalId]);
      const replaced = leaving.get(logicalId);
      const gone = logicalId in template.Resources ? replaced : resources.get(logicalId);
      if (gone === undefined) continue;
      if (replaced === undefined) resources.delete(logicalId);
      const policy = replaced === undefined ? declared.DeletionPolicy : declared.UpdateReplacePolicy;
      if (policy === 'Retain' || policy === 'RetainExceptOnCreate') continue;
      this.end(gone);
      // Lambda deletes a function with all of its versions, also with those that a stack has left behind.
      if (gone.type === 'AWS::Lambda::Function')
        for (const version of this.versionsOf(gone.id)) this.end(version);
      yield { action: 'delete', stack, logicalId };
    }
  }

  private create(stack: string, logicalId: string, type: string, properties: Fields): Physical {
    const named =
      type === 'AWS::Lambda::Alias'
        ? functionArn(properties, String(properties['Name']))
        : givenName(type, properties);
    const taken = this.ofType(type).find((other) => other.id === named);
    if (taken !== undefined)
      throw new Error(`${logicalId} cannot be created: ${type} ${taken.id} exists already`);
    this.created += 1;
    const physical: Physical = {
      stack,
      logicalId,
      type,
      id:
        named ??
        (type === 'AWS::Lambda::Version'
          ? functionArn(properties, String(this.created))
          : `${logicalId}#${String(this.created)}`),
      properties,
      ...(type === 'AWS::ApiGateway::Deployment'
        ? { snapshot: this.bodyOf(String(properties['RestApiId'])) }
        : {}),
      ...(type === 'AWS::Lambda::Version' ? { snapshot: this.published(logicalId, properties) } : {}),
    };
    this.begin(physical);
    return physical;
  }

  /** What a new version contains. Lambda publishes none of a function that is what its last version is. */
  private published(logicalId: string, { FunctionName: name }: Fields): unknown {
    const content = this.contentOf(String(name));
    if (isDeepStrictEqual(this.versionsOf(String(name)).at(-1)?.snapshot, content))
      throw new Error(`${logicalId} cannot be created: ${String(name)} is what its last version is`);
    return content;
  }

  /** The versions of a function, oldest first. */
  private versionsOf(name: string): readonly Physical[] {
    return this.ofType('AWS::Lambda::Version').filter(
      ({ properties }) => properties['FunctionName'] === name,
    );
  }

  /** What a version of a function would contain now. */
  contentOf(name: string): unknown {
    const found = this.ofType('AWS::Lambda::Function').find(({ id }) => id === name);
    return found && { ...found.properties, ReservedConcurrentExecutions: undefined, Tags: undefined };
  }

  private bodyOf(api: string): unknown {
    return this.ofType('AWS::ApiGateway::RestApi').find(({ id }) => id === api)?.properties['Body'];
  }

  /** A value with ids for references. References to the account itself and to parameters stay as they are. */
  private resolved(value: unknown, scope: Scope): unknown {
    if (Array.isArray(value)) return value.map((entry: unknown) => this.resolved(entry, scope));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    const [name, argument] = entries[0] ?? [];
    if (entries.length !== 1 || name === undefined || (name !== 'Ref' && !name.startsWith('Fn::')))
      return Object.fromEntries(entries.map(([key, entry]) => [key, this.resolved(entry, scope)]));
    const target = (id: string): string => targetIn(scope, id);
    switch (name) {
      case 'Ref':
        return target(String(argument));
      case 'Fn::GetAtt': {
        const [id, attribute] = attributeOf(argument);
        return `${target(id)}.${attribute}`;
      }
      case 'Fn::Join': {
        const [separator, parts] = this.resolved(argument, scope) as [string, string[]];
        return parts.join(separator);
      }
      case 'Fn::Split': {
        const [separator, text] = this.resolved(argument, scope) as [string, unknown];
        return String(text).split(separator);
      }
      case 'Fn::Sub':
        return String(argument).replaceAll(
          /\$\{([\w:]+)(?:\.([\w.]+))?\}/g,
          (_, id: string, attribute?: string) =>
            attribute === undefined ? target(id) : `${target(id)}.${attribute}`,
        );
      case 'Fn::Select': {
        const [index, parts] = this.resolved(argument, scope) as [number, unknown];
        return Array.isArray(parts) ? (parts[index] as unknown) : `${String(parts)}[${String(index)}]`;
      }
      case 'Fn::GetStackOutput': {
        const { StackName, OutputName } = argument as Record<string, string>;
        const output = this.stacks.get(StackName ?? '')?.outputs.get(OutputName ?? '');
        if (output === undefined)
          throw new Error(`the stack ${String(StackName)} has no output ${String(OutputName)} yet`);
        return output;
      }
      default:
        // Fn::ImportValue too: it would hold the stack that exports the value back.
        throw new Error(`the templates use ${name}, which this simulator does not know`);
    }
  }
}

/** What a template can refer to in its own stack. */
interface Scope {
  readonly template: Template;
  readonly resources: ReadonlyMap<string, Physical>;
}

/** The id of what a template refers to. Values of the account and parameters stand for themselves. */
function targetIn({ template, resources }: Scope, id: string): string {
  if (id.startsWith('AWS::') || id in (template.Parameters ?? {})) return id.replace('::', '-');
  const physical = id in template.Resources ? resources.get(id) : undefined;
  if (physical === undefined) throw new Error(`the template refers to ${id}, which is not in it`);
  return physical.id;
}

const orders = new WeakMap<Template, Map<Order, readonly string[]>>();

/** The logical ids of a template, each after those that it refers to. */
function sorted(template: Template, order: Order): readonly string[] {
  const known = orders.get(template)?.get(order);
  if (known !== undefined) return known;
  const rank = (id: string): string => `${template.Resources[id]?.Type ?? ''} ${id}`;
  const waiting = new Map(
    Object.entries(template.Resources)
      .map(([id, resource]) => [id, dependencies(resource, template)] as const)
      .toSorted(([one], [other]) => (rank(one) < rank(other) === (order === 'first types first') ? -1 : 1)),
  );
  const ids: string[] = [];
  while (waiting.size > 0) {
    const ready = [...waiting].find(([, others]) => ![...others].some((id) => waiting.has(id)));
    if (ready === undefined)
      throw new Error(`these resources refer to each other in a circle: ${[...waiting.keys()].join()}`);
    waiting.delete(ready[0]);
    ids.push(ready[0]);
  }
  const byOrder = orders.get(template) ?? new Map<Order, readonly string[]>();
  orders.set(template, byOrder.set(order, ids));
  return ids;
}

/** The ARN of a version or an alias, which the templates take apart. */
function functionArn({ FunctionName: name }: Fields, qualifier: string): string {
  return `arn:aws:lambda:region:account:function:${String(name)}:${qualifier}`;
}

/** What a resource refers to, or names in DependsOn. */
function dependencies(
  { Properties, UpdatePolicy, DependsOn = [] }: TemplateResource,
  template: Template,
): Set<string> {
  const found = new Set([DependsOn].flat());
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, argument] of Object.entries(value)) {
      if (name === 'Ref') found.add(String(argument));
      else if (name === 'Fn::GetAtt') found.add(attributeOf(argument)[0]);
      else if (name === 'Fn::Sub')
        for (const [, id] of JSON.stringify(argument).matchAll(/\$\{(\w+)/g)) found.add(id ?? '');
      else visit(argument);
    }
  };
  visit(Properties);
  visit(UpdatePolicy);
  return new Set([...found].filter((id) => id in template.Resources));
}

/** The two ways in which a template writes an attribute. */
function attributeOf(argument: unknown): readonly [string, string] {
  const [id = '', ...attribute] = Array.isArray(argument)
    ? argument.map(String)
    : String(argument).split('.');
  return [id, attribute.join('.')];
}

function defined<T>(value: T | undefined): T {
  if (value === undefined)
    throw new Error('a resource is in the order of a template, but not in the template');
  return value;
}
