import { describe, expect, it } from 'vitest';
import { losses } from '#ops/deploy/losses.ts';
import type { ResourceChange } from '#ops/doctor/stacks.ts';
import { deployed, gateSets, ownDomains, stage } from './deployed.ts';
import { changesBetween, defectsOf, outputsLost, transitionDefects } from './invariants.ts';
import { readStacks, type Deployment, type StackTemplate } from './template.ts';

type Stacks = readonly StackTemplate[];

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
const newCode = deployed({ code: "'another'" });

/** The logical ids of the versions in stacks. */
const versionsIn = (stacks: Stacks): readonly string[] =>
  stacks
    .flatMap(({ template }) => Object.entries(template.Resources))
    .flatMap(([id, { Type }]) => (Type === 'AWS::Lambda::Version' ? [id] : []))
    .toSorted();

describe('a new release', () => {
  it('replaces the version of every function, and the release before can follow it', () => {
    expect(versionsIn(newCode)).toHaveLength(versionsIn(all).length);
    expect(versionsIn(newCode).filter((id) => versionsIn(all).includes(id))).toStrictEqual([]);
    expect(between(all, newCode)).toStrictEqual([]);
  });

  it('that changes neither code nor settings of a function makes no version of it', () => {
    const { config, name } = stage('prod');
    const capped = deployed({ settings: { reservedConcurrency: { startAdaptiveRun: 7 } } });
    const { canaryMinutes, ...uncanaried } = config;
    expect(canaryMinutes).toBeDefined();
    for (const stacks of [capped, deployed({ stage: { name, config: uncanaried } })]) {
      expect(versionsIn(stacks)).toStrictEqual(versionsIn(all));
      expect(between(all, stacks)).toStrictEqual([]);
    }
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
    expect(come).toHaveLength(4);
    for (const change of come)
      expect(change).toMatch(
        /^\S+\/(?:Base|Receipts)Url: .*execute-api.* is now https:\/\/\w+\.school\.org$/,
      );
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

/** A resource to spoil. */
interface Draft {
  Properties: Record<string, unknown>;
  DeletionPolicy?: unknown;
  UpdatePolicy?: unknown;
  DependsOn?: unknown;
}
/** The end of a stack's name, the type of a resource, and how its logical id begins. */
type Place = readonly [stack: 'keys' | 'mastery' | 'reports' | 'operations', type: string, id: string];

function idOf(stacks: Stacks, [end, type, prefix]: Place): string {
  const { Resources = {} } = stacks.find(({ name }) => name.endsWith(`-${end}`))?.template ?? {};
  const found = Object.keys(Resources).find(
    (id) => Resources[id]?.Type === `AWS::${type}` && id.startsWith(prefix),
  );
  if (found === undefined) throw new Error(`no ${type} ${prefix}`);
  return found;
}

/** Stacks with one resource changed, or without it if the change returns false. */
function spoiled(stacks: Stacks, place: Place, change: (resource: Draft) => unknown): Stacks {
  const id = idOf(stacks, place);
  return stacks.map((stack) => {
    if (!stack.name.endsWith(`-${place[0]}`)) return stack;
    const { name, template } = structuredClone(stack);
    const { [id]: draft, ...others } = template.Resources;
    const isKept = change(draft as unknown as Draft) !== false;
    return { name, template: { ...template, Resources: { ...others, ...(isKept && { [id]: draft! }) } } };
  });
}

/** Stacks of which one has another text in place of a logical id. */
function renamed(stacks: Stacks, place: Place, to = 'Renamed'): Stacks {
  const id = idOf(stacks, place);
  return stacks.map((stack) =>
    stack.name.endsWith(`-${place[0]}`)
      ? (JSON.parse(JSON.stringify(stack).replaceAll(`"${id}"`, `"${to}"`)) as StackTemplate)
      : stack,
  );
}

const withoutA = deployed({ gates: ['B', 'C', 'D', 'F'] });
const readiness = (type: string): Place => ['reports', type, 'readReadiness'];
const snapshot: Place = ['reports', 'ApiGateway::Deployment', 'Api'];

describe('a planted defect is found', () => {
  it.each<readonly [string, RegExp, Stacks]>([
    [
      'a stage that keeps serving the former snapshot',
      /Deployment\w+ serves a former body/,
      renamed(withoutA, snapshot, idOf(all, snapshot)),
    ],
    [
      'a route that calls a version in place of the alias',
      /readiness is served without its function/,
      spoiled(all, ['reports', 'ApiGateway::RestApi', 'Api'], ({ Properties }) => {
        const [alias, version] = [readiness('Lambda::Alias'), readiness('Lambda::Version')];
        const body = JSON.stringify(Properties['Body']).replaceAll(idOf(all, alias), idOf(all, version));
        Properties['Body'] = JSON.parse(body);
      }),
    ],
    [
      'a route that is served before its permission',
      /readiness is served without waiting for its permission/,
      spoiled(all, snapshot, (resource) => delete resource.DependsOn),
    ],
    [
      'a route without its permission',
      /readiness is served without its permission/,
      spoiled(withoutA, readiness('Lambda::Permission'), () => false),
    ],
    [
      'an alias that stays at the former version',
      /readReadiness\w+ has former code or settings/,
      renamed(newCode, readiness('Lambda::Version'), idOf(all, readiness('Lambda::Version'))),
    ],
    [
      'a version of a function that has not changed',
      /Renamed is what the last version is/,
      renamed(all, readiness('Lambda::Version')),
    ],
    [
      'a function with the name of another',
      /readReadiness exists already/,
      renamed(all, readiness('Lambda::Function')),
    ],
    [
      'a version that goes with the next one',
      /readReadinessFunctionLive\w+ loses its version/,
      spoiled(all, readiness('Lambda::Version'), (version) => delete version.DeletionPolicy),
    ],
    [
      'an alias without a deployment group',
      /readReadinessFunctionLive\w+ has no deployment group/,
      spoiled(all, readiness('Lambda::Alias'), (alias) => delete alias.UpdatePolicy),
    ],
    [
      'a schedule that calls the function in place of its alias',
      /Schedule\w+ calls .*sweepImprovementRuns, which does not exist/,
      spoiled(all, ['reports', 'Events::Rule', 'sweepImprovementRuns'], ({ Properties }) => {
        Properties['Targets'] = [
          { Arn: 'arn:aws:lambda:::function:mastery-reports-prod-sweepImprovementRuns' },
        ];
      }),
    ],
    [
      'a deployment group whose alarm is gone',
      /Deployments\w+ watches the alarm gone/,
      spoiled(all, ['mastery', 'CodeDeploy::DeploymentGroup', 'startAdaptiveRun'], ({ Properties }) => {
        Properties['AlarmConfiguration'] = { Alarms: [{ Name: 'gone' }] };
      }),
    ],
    [
      'an alarm without its function',
      /alarm \S+ watches the FunctionName gone, which does not exist/,
      spoiled(all, ['operations', 'CloudWatch::Alarm', 'readEquivalenceerrors'], ({ Properties }) => {
        Properties['Dimensions'] = [{ Name: 'FunctionName', Value: 'gone' }];
      }),
    ],
    [
      'an API that is left behind',
      /lost by Remove: AWS::ApiGateway::RestApi Api/,
      renamed(withoutA, ['reports', 'ApiGateway::RestApi', 'Api']),
    ],
    [
      'a table with another key',
      /lost by Modify: AWS::DynamoDB::Table Records/,
      spoiled(all, ['keys', 'DynamoDB::Table', 'Records'], ({ Properties }) => {
        Properties['KeySchema'] = [{ AttributeName: 'id', KeyType: 'HASH' }];
      }),
    ],
  ])('%s', (_, found, target) => {
    expect(defects(readStacks(all), readStacks(target)).join('\n')).toMatch(found);
  });

  it('a stack before the one whose outputs it reads', () => {
    expect(() => readStacks(all.toReversed())).toThrow(/has no output \w+ yet/);
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
