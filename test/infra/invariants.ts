import { addressTypes, dataTypes } from '#ops/deploy/losses.ts';
import type { Account, Physical, StackTemplate } from './cloudformation.ts';

/*
 * What has to hold after every step of a deployment.
 */

/** An account at one moment, by what the invariants ask of it. */
interface Moment {
  readonly functions: ReadonlySet<string>;
  /** `<function> <API's id>/<stage>/<METHOD>/<path>` of every permission. */
  readonly permitted: ReadonlySet<string>;
  readonly deployments: ReadonlyMap<string, Physical>;
}

/** A method that an API serves. */
interface ServedMethod {
  readonly method: string;
  readonly path: string;
  /** Undefined where the gateway itself responds. */
  readonly function: string | undefined;
}

/**
 * What is wrong in an account.
 * @param target the stacks of the deployment that is under way or done. An alarm that it no longer has may outlive its function: the
 *   stack of the alarms is deployed after those of the functions
 */
export function defectsOf(account: Account, target: readonly StackTemplate[]): readonly string[] {
  return [...routeDefects(account), ...alarmDefects(account, target)];
}

/** Served methods without their function, or without its permission. */
function routeDefects(account: Account): readonly string[] {
  const moment: Moment = {
    functions: new Set(account.ofType('AWS::Lambda::Function').map(({ id }) => id)),
    permitted: new Set(
      account
        .ofType('AWS::Lambda::Permission')
        .map(
          ({ properties }) =>
            `${functionIn(properties['FunctionName'])} ${String(properties['SourceArn']).split(':').slice(5).join(':')}`,
        ),
    ),
    deployments: new Map(account.ofType('AWS::ApiGateway::Deployment').map((one) => [one.id, one])),
  };
  return account.ofType('AWS::ApiGateway::Stage').flatMap((stage) => {
    const deployment = moment.deployments.get(String(stage.properties['DeploymentId']));
    if (deployment === undefined) return [`${stage.logicalId} serves a deployment that is gone`];
    return methodsIn(deployment).flatMap((served) => {
      if (served.function === undefined) return [];
      const line = `${served.method} ${served.path} is served without`;
      if (!moment.functions.has(served.function)) return [`${line} its function ${served.function}`];
      const path = served.path.replaceAll(/\{\w+\+?\}/g, '*');
      const source = `${String(stage.properties['RestApiId'])}/${String(stage.properties['StageName'])}/${served.method}${path}`;
      return moment.permitted.has(`${served.function} ${source}`) ? [] : [`${line} its permission`];
    });
  });
}

const snapshots = new WeakMap<object, readonly ServedMethod[]>();

function methodsIn({ snapshot }: Physical): readonly ServedMethod[] {
  const body = snapshot as { paths: Record<string, Record<string, Record<string, unknown>>> };
  const known = snapshots.get(body);
  if (known !== undefined) return known;
  const methods = Object.entries(body.paths).flatMap(([path, of]) =>
    Object.entries(of).map(([method, operation]) => {
      const { type, uri } = operation['x-amazon-apigateway-integration'] as Record<string, unknown>;
      return {
        method: method === 'x-amazon-apigateway-any-method' ? '*' : method.toUpperCase(),
        path,
        function: type === 'mock' ? undefined : functionIn(/functions\/(.+?)\//.exec(String(uri))?.[1]),
      };
    }),
  );
  snapshots.set(body, methods);
  return methods;
}

/** The name of a function, from its name or its ARN. */
function functionIn(value: unknown): string {
  return (String(value).split(':').at(-1) ?? '').replace(/\.Arn$/, '');
}

/** What the dimensions of an alarm name. */
const watched: Readonly<Record<string, { readonly type: string; readonly by: 'id' | 'Name' | 'QueueName' }>> =
  {
    FunctionName: { type: 'AWS::Lambda::Function', by: 'id' },
    ApiName: { type: 'AWS::ApiGateway::RestApi', by: 'Name' },
    WebACL: { type: 'AWS::WAFv2::WebACL', by: 'Name' },
    TableName: { type: 'AWS::DynamoDB::Table', by: 'id' },
    QueueName: { type: 'AWS::SQS::Queue', by: 'QueueName' },
  };

/** Alarms that stay and watch nothing. */
function alarmDefects(account: Account, target: readonly StackTemplate[]): readonly string[] {
  const present = new Set(
    Object.entries(watched).flatMap(([dimension, { type, by }]) =>
      account.ofType(type).map(({ id, properties }) => {
        // A queue's name is an attribute of it, which the outputs of the stores pass on.
        const name = by === 'id' ? id : by === 'Name' ? properties['Name'] : `${id}.QueueName`;
        return `${dimension} ${String(name)}`;
      }),
    ),
  );
  const staying = new Set(
    target.flatMap(({ name, template }) => Object.keys(template.Resources).map((id) => `${name} ${id}`)),
  );
  return account
    .ofType('AWS::CloudWatch::Alarm')
    .filter(({ stack, logicalId }) => staying.has(`${stack} ${logicalId}`))
    .flatMap(({ id, properties }) =>
      (properties['Dimensions'] as readonly { Name: string; Value: string }[])
        .filter(({ Name, Value }) => Name in watched && !present.has(`${Name} ${Value}`))
        .map(({ Name, Value }) => `the alarm ${id} watches the ${Name} ${Value}, which does not exist`),
    );
}

/** What a deployment must leave as it is: ids of what contains data, addresses and outputs, by their place in the templates. */
export function lastingOf(account: Account): ReadonlyMap<string, string> {
  return new Map([
    ...[...account.stacks].flatMap(([stack, { resources, outputs }]) => [
      ...[...resources.values()]
        .filter(({ type }) => dataTypes.has(type) || addressTypes.has(type))
        .map(({ logicalId, id, type }) => [`${type} ${stack}/${logicalId}`, id] as const),
      ...[...outputs].map(([name, value]) => [`output ${stack}/${name}`, String(value)] as const),
    ]),
  ]);
}

/** What of `lasting` an account no longer has, or has under another id. */
export function lossesIn(account: Account, lasting: ReadonlyMap<string, string>): readonly string[] {
  const now = lastingOf(account);
  return [...lasting]
    .filter(([place, id]) => now.get(place) !== id)
    .map(([place, id]) => `${place}: ${id} is now ${now.get(place) ?? 'gone'}`);
}
