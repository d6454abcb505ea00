import { describe, expect, it } from 'vitest';
import { losses } from '#ops/deploy/losses.ts';
import type { ResourceChange } from '#ops/doctor/stacks.ts';
import { Account, type Order, type Physical, type StackTemplate } from './cloudformation.ts';
import { deployed, gateSets, ownDomains, stage } from './deployed.ts';
import { defectsOf, finalDefectsOf, lastingOf, lossesIn } from './invariants.ts';

type Stacks = readonly StackTemplate[];

/** The distinct deployments that sets of gates lead to, each under one of its sets. */
const deployments: readonly (readonly [string, Stacks])[] = [
  ...new Map(
    gateSets.toReversed().map((set) => [deployed({ gates: set }), set.join('') || 'no gate'] as const),
  ),
].map(([stacks, gates]) => [gates, stacks]);

/** Deploys stacks, and returns what was wrong or lost after any step: each defect once, with the step. */
function deploy(account: Account, target: Stacks, order: Order): readonly string[] {
  const lasting = lastingOf(account);
  const before = resourcesOf(account);
  const found = new Map<string, string>();
  for (const { action, stack, logicalId } of account.deploy(target, order)) {
    for (const defect of defectsOf(account, target))
      if (!found.has(defect)) found.set(defect, `after ${action} ${stack} ${logicalId}: ${defect}`);
  }
  const isLost = lossesIn(account, lasting).some((loss) => loss.startsWith('AWS::'));
  const stops = losses(changesBetween(before, resourcesOf(account))).length > 0;
  if (isLost !== stops) found.set('', `${MISJUDGED}: ${isLost ? 'goes on' : 'stops'}`);
  // What is lost does not come back.
  const final = [...lossesIn(account, lasting), ...finalDefectsOf(account, target)]
    .filter((defect) => !found.has(defect))
    .map((defect) => `after the deployment: ${defect}`);
  return [...found.values(), ...final];
}

const MISJUDGED = 'what npm run deploy decides of these changes is wrong';

/** Every resource of the stacks, by its place. */
function resourcesOf(account: Account): ReadonlyMap<string, Physical> {
  return new Map(
    [...account.stacks].flatMap(([stack, { resources }]) =>
      [...resources].map(([id, physical]) => [`${stack}/${id}`, physical] as const),
    ),
  );
}

/** The changes as a change set describes them. */
function changesBetween(
  before: ReadonlyMap<string, Physical>,
  after: ReadonlyMap<string, Physical>,
): readonly ResourceChange[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((place) => {
    const [old, now] = [before.get(place), after.get(place)];
    const { logicalId = '', type = '' } = now ?? old ?? {};
    const change = { LogicalResourceId: logicalId, ResourceType: type, Details: [] };
    if (old === now) return [];
    if (old === undefined) return { ...change, Action: 'Add' };
    if (now === undefined) return { ...change, Action: 'Remove' };
    return { ...change, Action: 'Modify', Replacement: old.id === now.id ? 'False' : 'True' };
  });
}

/** What is wrong on a way from nothing over one deployment to the next, in either order of parallel steps. */
function walk(...path: readonly Stacks[]): readonly string[] {
  return (['first types first', 'last types first'] as const).flatMap((order) => {
    const account = new Account();
    return path.flatMap((target) => deploy(account, target, order));
  });
}

it('the templates of every set of gates lead from nothing to each set, to every other and back, without a defect after any step [RP-024]', () => {
  expect(deployments).toHaveLength(12);
  for (const [index, [gates, here]] of deployments.entries()) {
    const others = deployments.slice(index + 1).flatMap(([, there]) => [there, here]);
    expect(walk(here, ...others), gates).toStrictEqual([]);
  }
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
  it('replaces the version of every function, and the release before can follow it, without a defect after any step', () => {
    expect(versionsIn(newCode)).toHaveLength(versionsIn(all).length);
    expect(versionsIn(newCode).filter((id) => versionsIn(all).includes(id))).toStrictEqual([]);
    expect(walk(all, newCode, all, newCode)).toStrictEqual([]);
  });

  it('that changes neither code nor settings of a function makes no version of it', () => {
    const { config, name } = stage('prod');
    const capped = deployed({ settings: { reservedConcurrency: { startAdaptiveRun: 7 } } });
    const { canaryMinutes, ...uncanaried } = config;
    expect(canaryMinutes).toBeDefined();
    for (const stacks of [capped, deployed({ stage: { name, config: uncanaried } })]) {
      expect(versionsIn(stacks)).toStrictEqual(versionsIn(all));
      expect(walk(all, stacks, newCode)).toStrictEqual([]);
    }
    const logged = versionsIn(deployed({ settings: { logLevel: 'warn' } }));
    expect(logged.filter((id) => versionsIn(all).includes(id))).toStrictEqual([]);
  });

  it('keeps the version that was live, so that the alias can go back', () => {
    const account = new Account();
    const versions = () => account.ofType('AWS::Lambda::Version').map(({ id }) => id);
    deploy(account, all, 'first types first');
    const before = versions();
    deploy(account, newCode, 'first types first');
    expect(versions()).toEqual(expect.arrayContaining(before));
    expect(versions()).toHaveLength(2 * before.length);
  });
});

describe('host names of a stage’s own', () => {
  const moving = deployed({ settings: { domains: ownDomains({ keepsFormerAddress: true }) } });
  const moved = deployed({ settings: { domains: ownDomains() } });
  /** What changes, without the step after which it did and the numbers that AWS draws. */
  const changes = (...path: readonly Stacks[]): readonly string[] => [
    ...new Set(walk(...path).map((line) => line.slice(line.indexOf(': ') + 2).replaceAll(/#\d+/g, ''))),
  ];

  it('replace nothing when they come: only the outputs with addresses change, and no later deployment changes those', () => {
    const come = changes(all, moving);
    expect(come).toHaveLength(4);
    for (const change of come)
      expect(change).toMatch(
        /^output \S+\/(?:Base|Receipts)Url: .*execute-api.* is now https:\/\/\w+\.school\.org$/,
      );
    expect(changes(all, moved)).toStrictEqual(come);
    expect(changes(moving, moved, moving)).toStrictEqual([]);
  });

  it('go with their own resources alone', () => {
    const gone = changes(moved, all).map((line) => /^(?:AWS::\w+::)?(\w+) /.exec(line)?.[1]);
    expect([...new Set(gone)].toSorted()).toStrictEqual(['BasePathMapping', 'DomainName', 'output']);
  });
});

/** A resource to spoil. */
interface Draft {
  Properties: Record<string, unknown>;
  UpdatePolicy?: unknown;
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
      'a stage that keeps serving the former snapshot, with a route without its function',
      /equivalence is served without its function[\s\S]*Stage\w+ serves a former body/,
      renamed(withoutA, snapshot, idOf(all, snapshot)),
    ],
    [
      'a route without its permission',
      /readiness is served without its permission/,
      spoiled(withoutA, readiness('Lambda::Permission'), () => false),
    ],
    [
      'an alias that stays at the former version',
      /readReadiness:live leads to former code/,
      renamed(newCode, readiness('Lambda::Version'), idOf(all, readiness('Lambda::Version'))),
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
      /RestApi .*-reports\/Api.* is now gone/,
      renamed(withoutA, ['reports', 'ApiGateway::RestApi', 'Api']),
    ],
    [
      'a table with another key',
      /Table .*\/Records.*: Records.* is now Records/,
      spoiled(all, ['keys', 'DynamoDB::Table', 'Records'], ({ Properties }) => {
        Properties['KeySchema'] = [{ AttributeName: 'id', KeyType: 'HASH' }];
      }),
    ],
  ])('%s', (_, found, target) => {
    const defects = walk(all, target).join('\n');
    expect(defects).toMatch(found);
    expect(defects).not.toContain(MISJUDGED);
  });

  it.each<readonly [string, RegExp, readonly Stacks[]]>([
    [
      'a version of a function that has not changed',
      /readReadiness is what its last version is/,
      [all, renamed(all, readiness('Lambda::Version'))],
    ],
    [
      'a function with the name of another',
      /readReadiness exists already/,
      [all, renamed(all, readiness('Lambda::Function'))],
    ],
    [
      'a key that gets its replicas later',
      /MultiRegion of a KMS key never changes/,
      [all, deployed({ settings: { key: 'multi-region' } })],
    ],
    ['a stack before the one whose outputs it reads', /has no output \w+ yet/, [all.toReversed()]],
  ])('%s stops the deployment', (_, error, path) => {
    expect(() => walk(...path)).toThrow(error);
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
