import { isDeepStrictEqual } from 'node:util';
import { addressTypes, dataTypes } from '#ops/deploy/losses.ts';
import type { Account, Physical, StackTemplate } from './cloudformation.ts';

/*
 * What has to hold after every step of a deployment.
 */

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
  return [
    ...routeDefects(account),
    ...callerDefects(account),
    ...rolloutDefects(account),
    ...alarmDefects(account, target),
  ];
}

/** Served methods without their function, or without its permission. */
function routeDefects(account: Account): readonly string[] {
  const functions = liveFunctions(account);
  const permitted = new Set(
    permissions(account).map(([called, source]) => `${called} ${source.split(':').slice(5).join(':')}`),
  );
  const deployments = new Map(account.ofType('AWS::ApiGateway::Deployment').map((one) => [one.id, one]));
  return account.ofType('AWS::ApiGateway::Stage').flatMap((stage) => {
    const deployment = deployments.get(String(stage.properties['DeploymentId']));
    if (deployment === undefined) return [`${stage.logicalId} serves a deployment that is gone`];
    return methodsIn(deployment).flatMap((served) => {
      if (served.function === undefined) return [];
      const line = `${served.method} ${served.path} is served without`;
      if (!functions.has(served.function)) return [`${line} its function ${served.function}`];
      const path = served.path.replaceAll(/\{\w+\+?\}/g, '*');
      const source = `${String(stage.properties['RestApiId'])}/${String(stage.properties['StageName'])}/${served.method}${path}`;
      return permitted.has(`${served.function} ${source}`) ? [] : [`${line} its permission`];
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

/** The name of a function with its version or alias, from its name or its ARN. */
function functionIn(value: unknown): string {
  return String(value).replace(/^.*:function:/, '');
}

/** The functions, with their aliases, that others may call, each with who may. */
function permissions(account: Account): readonly (readonly [called: string, source: string])[] {
  return account
    .ofType('AWS::Lambda::Permission')
    .map(({ properties }) => [functionIn(properties['FunctionName']), String(properties['SourceArn'])]);
}

/** `<function>:live` of every alias that leads to a version. */
function liveFunctions(account: Account): ReadonlySet<string> {
  const functions = new Set(account.ofType('AWS::Lambda::Function').map(({ id }) => id));
  const versions = new Set(account.ofType('AWS::Lambda::Version').map(({ id }) => id));
  return new Set(
    account
      .ofType('AWS::Lambda::Alias')
      .filter(
        ({ properties }) =>
          functions.has(String(properties['FunctionName'])) && versions.has(versionOf(properties)),
      )
      .map(({ id }) => functionIn(id)),
  );
}

/** The ARN of the version that an alias leads to. */
function versionOf(alias: Physical['properties']): string {
  return String(alias['FunctionVersion']).replace(/\.Version$/, '');
}

/** Schedules, queues and settings of functions that are not there. */
function callerDefects(account: Account): readonly string[] {
  const functions = liveFunctions(account);
  const calls = [
    ...account
      .ofType('AWS::Lambda::EventSourceMapping')
      .map(({ logicalId, properties }) => [logicalId, functionIn(properties['FunctionName'])] as const),
    ...account
      .ofType('AWS::Lambda::EventInvokeConfig')
      .map(
        ({ logicalId, properties }) =>
          [logicalId, `${String(properties['FunctionName'])}:${String(properties['Qualifier'])}`] as const,
      ),
    ...scheduledCalls(account).map(({ rule, called }) => [rule.logicalId, called] as const),
  ];
  return calls
    .filter(([, called]) => !functions.has(called))
    .map(([by, called]) => `${by} calls ${called}, which does not exist`);
}

/** The functions that rules call. */
function scheduledCalls(account: Account): readonly { readonly rule: Physical; readonly called: string }[] {
  return account.ofType('AWS::Events::Rule').flatMap((rule) =>
    (rule.properties['Targets'] as readonly { Arn: string }[]).map(({ Arn }) => ({
      rule,
      called: functionIn(Arn),
    })),
  );
}

/** Aliases whose next deployment could not begin or be checked, and deployment groups that watch an alarm that is gone. */
function rolloutDefects(account: Account): readonly string[] {
  const ids = (type: string): ReadonlySet<string> => new Set(account.ofType(type).map(({ id }) => id));
  const [alarms, groups] = [ids('AWS::CloudWatch::Alarm'), ids('AWS::CodeDeploy::DeploymentGroup')];
  const functions = ids('AWS::Lambda::Function');
  return [
    ...account.ofType('AWS::CodeDeploy::DeploymentGroup').flatMap(({ logicalId, properties }) => {
      const { Alarms = [] } = (properties['AlarmConfiguration'] ?? {}) as { Alarms?: { Name: string }[] };
      return Alarms.filter(({ Name }) => !alarms.has(Name)).map(
        ({ Name }) => `${logicalId} watches the alarm ${Name}, which does not exist`,
      );
    }),
    ...account.ofType('AWS::Lambda::Alias').flatMap(({ logicalId, properties }) => {
      const { CodeDeployLambdaAliasUpdate: update } = (properties['UpdatePolicy'] ?? {}) as {
        CodeDeployLambdaAliasUpdate?: Readonly<Record<string, string>>;
      };
      if (!groups.has(update?.['DeploymentGroupName'] ?? '')) return [`${logicalId} has no deployment group`];
      return functions.has(update?.['BeforeAllowTrafficHook'] ?? '') ? [] : [`${logicalId} has no check`];
    }),
  ];
}

/**
 * What is wrong after a deployment: aliases that lead to other content than what was deployed, and rules without a permission. A rule comes
 * before its permission: a call between them fails, and the next one does the same work.
 */
export function finalDefectsOf(account: Account, target: readonly StackTemplate[]): readonly string[] {
  const versions = new Map(account.ofType('AWS::Lambda::Version').map((one) => [one.id, one]));
  const permitted = new Set(permissions(account).map((permission) => permission.join(' ')));
  return [
    ...alarmDefects(account, target, true),
    ...staleStages(account),
    ...account
      .ofType('AWS::Lambda::Alias')
      .filter(
        ({ properties }) =>
          !isDeepStrictEqual(
            versions.get(versionOf(properties))?.snapshot,
            account.contentOf(String(properties['FunctionName'])),
          ),
      )
      .map(({ id }) => `${functionIn(id)} leads to former code or settings`),
    ...scheduledCalls(account)
      .filter(({ rule, called }) => !permitted.has(`${called} ${rule.id}.Arn`))
      .map(({ rule, called }) => `${rule.logicalId} calls ${called} without its permission`),
  ];
}

/** Stages that serve another body than the one that is deployed. */
function staleStages(account: Account): readonly string[] {
  const deployments = new Map(account.ofType('AWS::ApiGateway::Deployment').map((one) => [one.id, one]));
  const apis = new Map(account.ofType('AWS::ApiGateway::RestApi').map((one) => [one.id, one]));
  return account
    .ofType('AWS::ApiGateway::Stage')
    .filter(
      ({ properties }) =>
        !isDeepStrictEqual(
          deployments.get(String(properties['DeploymentId']))?.snapshot,
          apis.get(String(properties['RestApiId']))?.properties['Body'],
        ),
    )
    .map(({ logicalId }) => `${logicalId} serves a former body`);
}

/** What the dimensions of an alarm name. */
const watched: Readonly<Record<string, { readonly type: string; readonly name: (of: Physical) => unknown }>> =
  {
    FunctionName: { type: 'AWS::Lambda::Function', name: ({ id }) => id },
    Resource: { type: 'AWS::Lambda::Alias', name: ({ id }) => functionIn(id) },
    ExecutedVersion: { type: 'AWS::Lambda::Version', name: ({ id }) => `${id}.Version` },
    ApiName: { type: 'AWS::ApiGateway::RestApi', name: ({ properties }) => properties['Name'] },
    WebACL: { type: 'AWS::WAFv2::WebACL', name: ({ properties }) => properties['Name'] },
    TableName: { type: 'AWS::DynamoDB::Table', name: ({ id }) => id },
    // A queue's name is an attribute of it, which the outputs of the stores pass on.
    QueueName: { type: 'AWS::SQS::Queue', name: ({ id }) => `${id}.QueueName` },
  };

interface Dimension {
  readonly Name: string;
  readonly Value: string;
}

/** What an alarm names, in its one metric or in those of its expression. */
function dimensionsOf({ properties }: Physical): readonly Dimension[] {
  const metrics = (properties['Metrics'] ?? []) as readonly {
    readonly MetricStat?: { readonly Metric: { readonly Dimensions: readonly Dimension[] } };
  }[];
  return [
    ...((properties['Dimensions'] ?? []) as readonly Dimension[]),
    ...metrics.flatMap(({ MetricStat }) => MetricStat?.Metric.Dimensions ?? []),
  ];
}

const resources = new WeakMap<readonly StackTemplate[], ReadonlySet<string>>();

/** `<stack> <logical id>` of every resource of a deployment. */
function resourcesOf(target: readonly StackTemplate[]): ReadonlySet<string> {
  const known = resources.get(target);
  if (known !== undefined) return known;
  const found = new Set(
    target.flatMap(({ name, template }) => Object.keys(template.Resources).map((id) => `${name} ${id}`)),
  );
  resources.set(target, found);
  return found;
}

/**
 * Alarms that stay and watch nothing.
 * @param isWhole whether the deployment is done: the alarm of a new version exists before the alias that will lead to it
 */
function alarmDefects(
  account: Account,
  target: readonly StackTemplate[],
  isWhole = false,
): readonly string[] {
  const present = new Set(
    Object.entries(watched).flatMap(([dimension, { type, name }]) =>
      account.ofType(type).map((one) => `${dimension} ${String(name(one))}`),
    ),
  );
  const staying = resourcesOf(target);
  return account
    .ofType('AWS::CloudWatch::Alarm')
    .filter(({ stack, logicalId }) => staying.has(`${stack} ${logicalId}`))
    .flatMap((alarm) => {
      const dimensions = dimensionsOf(alarm);
      const isOfVersion = dimensions.some(({ Name }) => Name === 'ExecutedVersion');
      return dimensions
        .filter(({ Name }) => isWhole || !isOfVersion || Name !== 'Resource')
        .filter(({ Name, Value }) => Name in watched && !present.has(`${Name} ${Value}`))
        .map(({ Name, Value }) => `the alarm ${alarm.id} watches the ${Name} ${Value}, which does not exist`);
    });
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
