import { describe, expect, it } from 'vitest';
import { losses } from '#ops/deploy/losses.ts';
import type { ResourceChange } from '@aws-sdk/client-cloudformation';
import { changed } from '#test/support/changed.ts';
import { deployed, gateSets, logicalIds, ownDomains, stage } from './deployed.ts';
import { changesBetween, defectsOf, outputsLost, transitionDefects } from './invariants.ts';
import { readStacks, type Deployment, type Resource, type StackTemplate } from './template.ts';

type Stacks = readonly StackTemplate[];
type Fields = Readonly<Record<string, unknown>>;

/** The distinct deployments that sets of gates lead to, each under one of its sets. */
const deployments: readonly (readonly [string, Deployment])[] = [
  ...new Map(gateSets.toReversed().map((set) => [deployed({ gates: set }), set.join('') || 'no gate'])),
].map(([stacks, gates]) => [gates, readStacks(stacks)]);

/** What is wrong in a deployment, or lost if it follows another one. */
function defects(before: Deployment, after: Deployment): readonly string[] {
  return [
    ...defectsOf(after),
    ...transitionDefects(before, after),
    ...outputsLost(before, after),
    ...losses(changesBetween(before, after)).map(
      ({ Action, ResourceType, LogicalResourceId }) =>
        `lost by ${Action}: ${ResourceType} ${LogicalResourceId}`,
    ),
  ];
}
/** The same in both directions, since every deployment can follow every other. */
const between = (one: Stacks, other: Stacks): readonly string[] => {
  const [here, there] = [readStacks(one), readStacks(other)];
  return [...defects(here, there), ...defects(there, here)];
};

it('every set of gates can follow every other: routes, alarms, addresses, data and outputs hold [RP-024]', () => {
  expect(deployments).toHaveLength(12);
  for (const [gates, here] of deployments)
    for (const [others, there] of deployments)
      expect(defects(here, there), `${gates} to ${others}`).toStrictEqual([]);
}, 60_000);

const all = deployed();

it('alarms come after what they watch, since silence raises one of them', () => {
  const { waitsFor } = all.find(({ name }) => name.endsWith('-operations'))!;
  for (const watched of ['mastery', 'reports', 'sandbox'])
    expect(waitsFor).toContain(`mastery-reports-prod-${watched}`);
  const unordered = all.map((stack) => ({ ...stack, waitsFor: [] }));
  expect(() => readStacks(unordered)).toThrow('which may not be there yet');
});

/** What becomes of a member, or '' that a resource is missing, and which defect that is, whichever resource of the type it is. */
it.each<readonly [type: string, path: string, to: unknown, defect: string]>([
  ['ApiGateway::Deployment', 'dependsOn', [], 'is served without waiting for its permission'],
  ['ApiGateway::RestApi', 'properties/Body/info', {}, 'serves a former body'],
  ['ApiGateway::RestApi', 'properties/Name', 'x', 'watches the ApiName'],
  [
    'CloudWatch::Alarm',
    'properties/Metrics/1/MetricStat/Metric/Dimensions/0/Value',
    'x',
    'ExecutedVersion x',
  ],
  ['CodeDeploy::DeploymentGroup', 'properties/AlarmConfiguration/Alarms/0/Name', 'x', 'watches the alarm x'],
  ['CodeDeploy::DeploymentGroup|Lambda::Function', '', 0, 'has no |watches the Function'],
  ['DynamoDB::Table|Lambda::Alias|SQS::Queue|WAFv2::WebACL', '', 0, 'watches the (Tab|Que|Res|Web)'],
  ['Events::Rule', 'properties/Targets/0/Arn', 'x', 'calls x, which does not exist'],
  ['Lambda::Alias', '', 0, 'is served without its function|calls '],
  ['Lambda::Alias', 'properties/FunctionVersion', 'x', 'leads to no version of its function'],
  ['Lambda::EventInvokeConfig', 'properties/Qualifier', 'x', 'calls .*:x, which does not exist'],
  ['Lambda::EventSourceMapping', 'properties/FunctionName', 'x', 'calls x, which does not exist'],
  ['Lambda::Function', 'logicalId', 'x', 'exists already'],
  ['Lambda::Function', 'properties/FunctionName', 'x', 'is replaced under its own name'],
  ['Lambda::Function', 'properties/Environment/Variables/PROBLEMS_URL', 'x', 'has former code or settings'],
  ['Lambda::Permission', '', 0, '(is served|calls .*) without its permission'],
  ['Lambda::Version', 'deletionPolicy', 'Delete', 'loses its version'],
  ['SQS::Queue', 'type', 'AWS::SNS::Topic', 'changes from AWS::SQS::Queue'],
])('sees what is wrong where of any %s "%s" is %j', (type, path, to, defect) => {
  const before = readStacks(all);
  const spoilt = before.resources.flatMap((one, index) => {
    // What uploads the documentation is the CDK's own.
    if (!new RegExp(`^AWS::(${type})$`).test(one.type) || one.stack.endsWith('-documentation')) return [];
    // The expressions of those stacks' alarms watch what functions count, which is no resource.
    if (path.startsWith('properties/Metrics/') && one.stack.endsWith('-operations')) return [];
    if (path === '') return [before.resources.toSpliced(index, 1)];
    const former = path.split('/').reduce<unknown>((at, name) => (at as Fields | undefined)?.[name], one);
    return former === undefined ? [] : [before.resources.with(index, changed(one, path, to) as Resource)];
  });
  expect(spoilt).not.toHaveLength(0);
  for (const resources of spoilt)
    expect(defects(before, { ...before, resources }).join('\n')).toMatch(new RegExp(defect));
});

const newCode = deployed({ code: "'another'" });

/** The logical ids of the versions in stacks. */
const versionsIn = (stacks: Stacks) => logicalIds(stacks, 'AWS::Lambda::Version').toSorted();

describe('a new release', () => {
  it('replaces the version of every function, and the release before can follow it', () => {
    expect(versionsIn(newCode)).toHaveLength(versionsIn(all).length);
    expect(versionsIn(newCode).filter((id) => versionsIn(all).includes(id))).toStrictEqual([]);
    expect(between(all, newCode)).toStrictEqual([]);
  });

  it('that changes neither code nor settings of a function makes no version of it', () => {
    const { config, name } = stage('prod');
    const { canaryMinutes, ...uncanaried } = config;
    expect(canaryMinutes).toBeDefined();
    const stacks = deployed({
      stage: { name, config: { ...uncanaried, reservedConcurrency: { startAdaptiveRun: 7 } } },
    });
    expect(versionsIn(stacks)).toStrictEqual(versionsIn(all));
    expect(between(all, stacks)).toStrictEqual([]);
    const logged = versionsIn(deployed({ settings: { logLevel: 'warn' } }));
    expect(logged.filter((id) => versionsIn(all).includes(id))).toStrictEqual([]);
  });
});

describe('host names of a stage’s own', () => {
  const [none, moving, moved] = [
    all,
    deployed({ settings: { domains: ownDomains({ keepsFormerAddress: true }) } }),
    deployed({ settings: { domains: ownDomains() } }),
  ].map(readStacks) as [Deployment, Deployment, Deployment];

  it('replace nothing when they come: only the outputs with addresses change, and no later deployment changes those', () => {
    const come = defects(none, moving);
    const address = /^\S+-(\w+)\/(\w+): .*execute-api.* is now (.*)$/;
    expect(come.map((change) => address.exec(change)?.slice(1).join(' '))).toStrictEqual([
      'mastery BaseUrl https://mastery.school.org',
      'reports ReceiptsUrl https://receipts.school.org',
      'reports BaseUrl https://reports.school.org',
    ]);
    expect(defects(none, moved)).toStrictEqual(come);
    expect([...defects(moving, moved), ...defects(moved, moving)]).toStrictEqual([]);
  });

  it('go with their own resources alone', () => {
    const gone = losses(changesBetween(moved, none)).map(({ ResourceType }) => ResourceType);
    expect(new Set(gone)).toStrictEqual(
      new Set(['AWS::ApiGateway::BasePathMapping', 'AWS::ApiGateway::DomainName']),
    );
  });
});

describe('what npm run deploy decides of a change', () => {
  const api: ResourceChange = {
    ...{ Action: 'Modify', Replacement: 'False', Details: [] },
    ...{ LogicalResourceId: 'Api', ResourceType: 'AWS::ApiGateway::RestApi' },
  };
  const reason = {
    Target: { RequiresRecreation: 'Always' },
    Evaluation: 'Dynamic',
    CausingEntity: 'Api',
  } as const;
  const stage: ResourceChange = {
    ...{ Action: 'Modify', Replacement: 'Conditional', Details: [reason] },
    ...{ LogicalResourceId: 'Stage', ResourceType: 'AWS::ApiGateway::Stage' },
  };

  it.each<readonly [string, boolean, readonly ResourceChange[]]>([
    [
      'a resource that may be replaced, for a reason of its own',
      true,
      [api, { ...stage, Details: [{ ...reason, Evaluation: 'Static' }] }],
    ],
    ['one that names another, which stays', false, [api, stage]],
    ['one that names another, which is replaced', true, [{ ...api, Replacement: 'True' }, stage]],
    ['one that names another, which may be replaced', true, [{ ...api, Replacement: 'Conditional' }, stage]],
    ['one of which CloudFormation tells no reason', true, [api, { ...stage, Details: [] }]],
    ['one of which CloudFormation cannot tell', true, [{ ...api, Action: 'Dynamic' }]],
    ['one that is only imported', false, [{ ...api, Action: 'Import' }]],
  ])('%s: stops is %j', (_, stops, changes) => {
    expect(losses(changes).length > 0).toBe(stops);
    expect(losses(changes, new Set(['Api', 'Stage']))).toStrictEqual([]);
  });
});
