import { isDeepStrictEqual } from 'node:util';
import type { ResourceChange } from '@aws-sdk/client-cloudformation';
import { isReplaced } from './resource-schemas.ts';
import type { Deployment, Resource } from './template.ts';

/*
 * What has to hold of a deployment, and between two that follow each other. CloudFormation creates and updates a stack's resources in the
 * order of their references and DependsOn, and deletes at its very end: a resource that is called, watched or waited for by reference is
 * there at every step.
 */

type Fields = Resource['properties'];

const ofType = ({ resources }: Deployment, type: string): readonly Resource[] =>
  resources.filter((resource) => resource.type === `AWS::${type}`);
const namesOf = (deployment: Deployment, type: string): ReadonlySet<string> =>
  new Set(ofType(deployment, type).map(({ name }) => name));

/** The name of a function with its version or alias, from its name or its ARN. */
const functionIn = (value: unknown): string => String(value).replace(/^.*:function:/, '');

/** `<function>:live` of every alias. */
const aliasesOf = (deployment: Deployment): ReadonlySet<string> =>
  new Set([...namesOf(deployment, 'Lambda::Alias')].map(functionIn));

/** What is wrong in a deployment. */
export function defectsOf(deployment: Deployment): readonly string[] {
  return [routeDefects, callerDefects, rolloutDefects, alarmDefects].flatMap((of) => of(deployment));
}

/** Served methods without their function, or without its permission before the deployment that serves them. */
function routeDefects(deployment: Deployment): readonly string[] {
  const aliases = aliasesOf(deployment);
  const permissions = new Map(
    ofType(deployment, 'Lambda::Permission').map(({ logicalId, properties }) => [
      `${functionIn(properties['FunctionName'])} ${String(properties['SourceArn']).split(':').slice(5).join(':')}`,
      logicalId,
    ]),
  );
  return ofType(deployment, 'ApiGateway::Stage').flatMap(({ stack, properties }) => {
    const { RestApiId: api, StageName: stage, DeploymentId: id } = properties as Record<string, string>;
    const of = (type: string, name: string | undefined) =>
      ofType(deployment, type).find((one) => one.stack === stack && one.name === name);
    const waitsFor = new Set(of('ApiGateway::Deployment', id)?.dependsOn);
    const { paths } = of('ApiGateway::RestApi', api)?.properties['Body'] as {
      paths: Record<string, Record<string, { 'x-amazon-apigateway-integration': Fields }>>;
    };
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { 'x-amazon-apigateway-integration': called }]) => {
        if (called['type'] === 'mock') return [];
        const line = `${method.toUpperCase()} ${path} is served without`;
        const target = functionIn(/functions\/(.+?)\//.exec(String(called['uri']))?.[1]);
        if (!aliases.has(target)) return [`${line} its function ${target}`];
        const source = `${api}/${stage}/${method.toUpperCase()}${path.replaceAll(/\{\w+\+?\}/g, '*')}`;
        const permission = permissions.get(`${target} ${source}`);
        if (permission === undefined) return [`${line} its permission`];
        return waitsFor.has(permission) ? [] : [`${line} waiting for its permission`];
      }),
    );
  });
}

/** Schedules, queues and settings of functions that are not there, and rules without a permission. */
function callerDefects(deployment: Deployment): readonly string[] {
  const aliases = aliasesOf(deployment);
  const scheduled = ofType(deployment, 'Events::Rule').flatMap(({ logicalId, name, properties }) =>
    (properties['Targets'] as readonly { Arn: string }[]).map(({ Arn }) => ({
      by: logicalId,
      called: functionIn(Arn),
      source: `${name}.Arn`,
    })),
  );
  const calls = [
    ...scheduled,
    ...ofType(deployment, 'Lambda::EventSourceMapping').map(({ logicalId, properties }) => ({
      by: logicalId,
      called: functionIn(properties['FunctionName']),
    })),
    ...ofType(deployment, 'Lambda::EventInvokeConfig').map(({ logicalId, properties }) => ({
      by: logicalId,
      called: `${String(properties['FunctionName'])}:${String(properties['Qualifier'])}`,
    })),
  ];
  const permitted = new Set(
    ofType(deployment, 'Lambda::Permission').map(
      ({ properties }) => `${functionIn(properties['FunctionName'])} ${String(properties['SourceArn'])}`,
    ),
  );
  return [
    ...calls
      .filter(({ called }) => !aliases.has(called))
      .map(({ by, called }) => `${by} calls ${called}, which does not exist`),
    ...scheduled
      .filter(({ called, source }) => !permitted.has(`${called} ${source}`))
      .map(({ by, called }) => `${by} calls ${called} without its permission`),
  ];
}

/** Aliases whose next deployment could not begin, be checked or go back, and deployment groups that watch an alarm that is gone. */
function rolloutDefects(deployment: Deployment): readonly string[] {
  const alarms = namesOf(deployment, 'CloudWatch::Alarm');
  const groups = namesOf(deployment, 'CodeDeploy::DeploymentGroup');
  const functions = namesOf(deployment, 'Lambda::Function');
  const versions = new Map(ofType(deployment, 'Lambda::Version').map((version) => [version.name, version]));
  return [
    ...ofType(deployment, 'CodeDeploy::DeploymentGroup').flatMap(({ logicalId, properties }) => {
      const { Alarms = [] } = (properties['AlarmConfiguration'] ?? {}) as { Alarms?: { Name: string }[] };
      return Alarms.filter(({ Name }) => !alarms.has(Name)).map(
        ({ Name }) => `${logicalId} watches the alarm ${Name}, which does not exist`,
      );
    }),
    ...ofType(deployment, 'Lambda::Alias').flatMap(({ logicalId, properties }) => {
      const { CodeDeployLambdaAliasUpdate: update } = (properties['UpdatePolicy'] ?? {}) as {
        CodeDeployLambdaAliasUpdate?: Readonly<Record<string, string>>;
      };
      const version = versions.get(String(properties['FunctionVersion']).replace(/\.Version$/, ''));
      return [
        ...(groups.has(update?.['DeploymentGroupName'] ?? '')
          ? []
          : [`${logicalId} has no deployment group`]),
        ...(functions.has(update?.['BeforeAllowTrafficHook'] ?? '') ? [] : [`${logicalId} has no check`]),
        ...(version?.properties['FunctionName'] === properties['FunctionName']
          ? []
          : [`${logicalId} leads to no version of its function`]),
        // So that the alias can go back.
        ...(version?.deletionPolicy === 'RetainExceptOnCreate' ? [] : [`${logicalId} loses its version`]),
      ];
    }),
  ];
}

/** What the dimensions of an alarm name. */
const watched: Readonly<Record<string, { readonly type: string; readonly name: (of: Resource) => unknown }>> =
  {
    FunctionName: { type: 'Lambda::Function', name: ({ name }) => name },
    Resource: { type: 'Lambda::Alias', name: ({ name }) => functionIn(name) },
    ExecutedVersion: { type: 'Lambda::Version', name: ({ name }) => `${name}.Version` },
    ApiName: { type: 'ApiGateway::RestApi', name: ({ properties }) => properties['Name'] },
    WebACL: { type: 'WAFv2::WebACL', name: ({ properties }) => properties['Name'] },
    TableName: { type: 'DynamoDB::Table', name: ({ name }) => name },
    // A queue's name is an attribute of it, which the outputs of the stores pass on.
    QueueName: { type: 'SQS::Queue', name: ({ name }) => `${name}.QueueName` },
  };

type Dimensions = readonly { readonly Name: string; readonly Value: string }[];

/** Alarms that watch nothing, in their one metric or in those of their expression. */
function alarmDefects(deployment: Deployment): readonly string[] {
  const present = new Set(
    Object.entries(watched).flatMap(([dimension, { type, name }]) =>
      ofType(deployment, type).map((one) => `${dimension} ${String(name(one))}`),
    ),
  );
  return ofType(deployment, 'CloudWatch::Alarm').flatMap(({ name, properties }) => {
    const { Dimensions: own = [], Metrics = [] } = properties as {
      Dimensions?: Dimensions;
      Metrics?: readonly { MetricStat?: { Metric: { Dimensions: Dimensions } } }[];
    };
    return [...own, ...Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric.Dimensions ?? [])]
      .filter(({ Name, Value }) => Name in watched && !present.has(`${Name} ${Value}`))
      .map(({ Name, Value }) => `the alarm ${name} watches the ${Name} ${Value}, which does not exist`);
  });
}

/** What a version contains of its function. */
const contentOf = (deployment: Deployment, { properties }: Resource): unknown => {
  const found = ofType(deployment, 'Lambda::Function').find(
    ({ name }) => name === properties['FunctionName'],
  );
  return found && { ...found.properties, ReservedConcurrentExecutions: undefined, Tags: undefined };
};
const bodyOf = (deployment: Deployment, { stack, properties }: Resource): unknown =>
  ofType(deployment, 'ApiGateway::RestApi').find(
    (api) => api.stack === stack && api.name === properties['RestApiId'],
  )?.properties['Body'];

/** What would be wrong if one deployment followed another: a snapshot that is not taken again, or a name that is taken. */
export function transitionDefects(before: Deployment, after: Deployment): readonly string[] {
  const former = byPlace(before);
  const names = new Map(before.resources.map(({ type, name, logicalId }) => [`${type} ${name}`, logicalId]));
  return after.resources.flatMap((now) => {
    const { type, logicalId, name, stack } = now;
    const old = former.get(`${stack}/${logicalId}`);
    const taken = names.get(`${type} ${name}`);
    if (taken !== undefined && taken !== logicalId) return [`${logicalId}: ${type} ${name} exists already`];
    if (old !== undefined && old.type !== type) return [`${logicalId} changes from ${old.type} to ${type}`];
    if (old !== undefined && name !== logicalId && isReplaced(type, old.properties, now.properties))
      return [`${logicalId} is replaced under its own name ${name}`];
    if (type === 'AWS::ApiGateway::Deployment')
      return old === undefined || isDeepStrictEqual(bodyOf(before, old), bodyOf(after, now))
        ? []
        : [`${logicalId} serves a former body`];
    if (type !== 'AWS::Lambda::Version') return [];
    const last = ofType(before, 'Lambda::Version').find(
      ({ properties }) => properties['FunctionName'] === now.properties['FunctionName'],
    );
    const isSame = last && isDeepStrictEqual(contentOf(before, last), contentOf(after, now));
    if (last === undefined || isSame === (last.logicalId === logicalId)) return [];
    return [
      `${logicalId} ${isSame === true ? 'is what the last version is' : 'has former code or settings'}`,
    ];
  });
}

const byPlace = ({ resources }: Deployment): ReadonlyMap<string, Resource> =>
  new Map(resources.map((resource) => [`${resource.stack}/${resource.logicalId}`, resource]));

/** The changes as a change set describes them. */
export function changesBetween(before: Deployment, after: Deployment): readonly ResourceChange[] {
  const [former, later] = [byPlace(before), byPlace(after)];
  return [...new Set([...former.keys(), ...later.keys()])].flatMap((place): readonly ResourceChange[] => {
    const [old, now] = [former.get(place), later.get(place)];
    const { logicalId = '', type = '' } = now ?? old ?? {};
    const change = { LogicalResourceId: logicalId, ResourceType: type, Details: [] };
    if (old === undefined || now === undefined)
      return [{ ...change, Action: old === undefined ? 'Add' : 'Remove' }];
    if (isDeepStrictEqual(old.properties, now.properties)) return [];
    const isNew = isReplaced(type, old.properties, now.properties);
    return [{ ...change, Action: 'Modify', Replacement: isNew ? 'True' : 'False' }];
  });
}

/** The outputs that another deployment does not have, or not with this value. */
export function outputsLost(before: Deployment, after: Deployment): readonly string[] {
  return [...before.outputs]
    .filter(([name, value]) => after.outputs.get(name) !== value)
    .map(([name, value]) => `${name}: ${value} is now ${after.outputs.get(name) ?? 'gone'}`);
}
