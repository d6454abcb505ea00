import { describe, expect, it } from 'vitest';
import { losses } from '#ops/deploy/losses.ts';
import type { ResourceChange } from '#ops/doctor/stacks.ts';
import { Account, type Order, type Physical, type StackTemplate } from './cloudformation.ts';
import { deployed, gateSets, ownDomains, stage } from './deployed.ts';
import { defectsOf, finalDefectsOf, lastingOf, lossesIn } from './invariants.ts';
import { schemaDefects } from './resource-schemas.ts';

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

describe('the templates of every set of gates', () => {
  it('conform to the published schemas of their resources', () => {
    for (const [gates, stacks] of deployments)
      expect(
        stacks.flatMap(({ template }) => schemaDefects(template.Resources)),
        gates,
      ).toStrictEqual([]);
  });

  it('lead from nothing to each set, to every other and back, without a defect after any step [RP-024]', () => {
    expect(deployments).toHaveLength(12);
    for (const [index, [gates, here]] of deployments.entries()) {
      const others = deployments.slice(index + 1).flatMap(([, there]) => [there, here]);
      expect(walk(here, ...others), gates).toStrictEqual([]);
    }
  }, 60_000);
});

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

  it('conform to the published schemas', () => {
    for (const stacks of [moving, moved])
      expect(stacks.flatMap(({ template }) => schemaDefects(template.Resources))).toStrictEqual([]);
  });

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

/** A template to spoil. */
interface Draft {
  Resources: Record<string, DraftResource>;
}
interface DraftResource {
  Type: string;
  Properties: Record<string, unknown>;
  UpdatePolicy?: unknown;
}
type StackEnd = 'keys' | 'mastery' | 'reports' | 'operations';

const draftOf = (stacks: Stacks, end: StackEnd): Draft =>
  structuredClone(stacks.find(({ name }) => name.endsWith(`-${end}`))?.template) as unknown as Draft;

/** Stacks with one template changed. */
function spoiled(stacks: Stacks, end: StackEnd, spoil: (draft: Draft) => Draft): Stacks {
  return stacks.map((stack) =>
    stack.name.endsWith(`-${end}`)
      ? { name: stack.name, template: spoil(draftOf(stacks, end)) as unknown as StackTemplate['template'] }
      : stack,
  );
}

/** The logical id of the resource of a type that begins with `prefix`. */
function idOf({ Resources }: Draft, type: string, prefix: string): string {
  const id = Object.keys(Resources).find(
    (key) => Resources[key]?.Type === `AWS::${type}` && key.startsWith(prefix),
  );
  if (id === undefined) throw new Error(`no ${type} ${prefix}`);
  return id;
}

/** Stacks with one resource changed, or without it. */
function changed(
  stacks: Stacks,
  end: StackEnd,
  [type, prefix]: readonly [string, string],
  change: (resource: DraftResource, draft: Draft) => void,
): Stacks {
  return spoiled(stacks, end, (draft) => {
    const resource = draft.Resources[idOf(draft, type, prefix)];
    if (resource !== undefined) change(resource, draft);
    return draft;
  });
}

/** Stacks in which one template has another text in place of a logical id. */
function renamed(stacks: Stacks, end: StackEnd, type: string, prefix: string, to = 'Renamed'): Stacks {
  return spoiled(stacks, end, (draft) => {
    const id = idOf(draft, type, prefix);
    return JSON.parse(JSON.stringify(draft).replaceAll(`"${id}"`, `"${to}"`)) as Draft;
  });
}

const withoutA = deployed({ gates: ['B', 'C', 'D', 'F'] });
/** The id that a resource of the reports stack has in other stacks. */
const idIn = (stacks: Stacks, type: string, prefix: string) => idOf(draftOf(stacks, 'reports'), type, prefix);
const aliasless = (draft: Draft, operationId: string) => idOf(draft, 'Lambda::Function', operationId);

describe('a planted defect is found', () => {
  it.each<readonly [string, RegExp, () => Stacks]>([
    [
      'a route that stays in the body without its function',
      /readiness is served without its function gone/,
      () =>
        changed(withoutA, 'reports', ['ApiGateway::RestApi', 'Api'], ({ Properties }) => {
          const { paths } = Properties['Body'] as { paths: Record<string, { get: object }> };
          const route = paths['/v1/attempt-reports/{attemptId}/readiness'];
          const integration = { type: 'aws_proxy', uri: 'lambda:path/functions/gone/invocations' };
          Object.assign(route?.get ?? {}, { 'x-amazon-apigateway-integration': integration });
        }),
    ],
    [
      'a stage that keeps serving the former snapshot',
      /equivalence is served without its function/,
      () => {
        const former = idIn(all, 'ApiGateway::Deployment', 'Api');
        return renamed(withoutA, 'reports', 'ApiGateway::Deployment', 'Api', former);
      },
    ],
    [
      'a route without its permission',
      /readiness is served without its permission/,
      () =>
        spoiled(withoutA, 'reports', (draft) => {
          Reflect.deleteProperty(draft.Resources, idOf(draft, 'Lambda::Permission', 'readReadiness'));
          return draft;
        }),
    ],
    [
      'an alias that stays at the former version',
      /readReadiness:live leads to former code/,
      () => {
        const former = idIn(all, 'Lambda::Version', 'readReadiness');
        return renamed(newCode, 'reports', 'Lambda::Version', 'readReadiness', former);
      },
    ],
    [
      'an alias without a deployment group',
      /readReadinessFunctionLive\w+ has no deployment group/,
      () => changed(all, 'reports', ['Lambda::Alias', 'readReadiness'], (alias) => delete alias.UpdatePolicy),
    ],
    [
      'a schedule that calls the function in place of its alias',
      /Schedule\w+ calls .*sweepImprovementRuns\.Arn, which does not exist/,
      () =>
        changed(all, 'reports', ['Events::Rule', 'sweepImprovementRuns'], ({ Properties }, draft) => {
          const [target] = Properties['Targets'] as { Arn: unknown }[];
          Object.assign(target ?? {}, {
            Arn: { 'Fn::GetAtt': [aliasless(draft, 'sweepImprovementRuns'), 'Arn'] },
          });
        }),
    ],
    [
      'a deployment group whose alarm is gone',
      /Deployments\w+ watches the alarm gone/,
      () =>
        changed(all, 'mastery', ['CodeDeploy::DeploymentGroup', 'startAdaptiveRun'], ({ Properties }) => {
          Properties['AlarmConfiguration'] = { Alarms: [{ Name: 'gone' }] };
        }),
    ],
    [
      'an alarm that stays without its function',
      /readEquivalence-errors watches the FunctionName .*readEquivalence, which does not exist/,
      () =>
        spoiled(withoutA, 'operations', (draft) => {
          const former = draftOf(all, 'operations');
          const id = idOf(former, 'CloudWatch::Alarm', 'readEquivalenceerrors');
          return { ...draft, Resources: { ...draft.Resources, ...{ [id]: former.Resources[id]! } } };
        }),
    ],
    [
      'a renamed API',
      /RestApi .*-reports\/Api.* is now gone/,
      () => renamed(withoutA, 'reports', 'ApiGateway::RestApi', 'Api'),
    ],
    [
      'a table with another key',
      /Table .*\/Records.*: Records.* is now Records/,
      () =>
        changed(all, 'keys', ['DynamoDB::Table', 'Records'], ({ Properties }) => {
          Properties['KeySchema'] = [{ AttributeName: 'id', KeyType: 'HASH' }];
        }),
    ],
    [
      'a table that is left behind',
      /Table .*\/Records.* is now gone/,
      () => renamed(all, 'keys', 'DynamoDB::Table', 'Records'),
    ],
  ])('%s', (_, found, spoil) => {
    const defects = walk(all, spoil()).join('\n');
    expect(defects).toMatch(found);
    expect(defects).not.toContain(MISJUDGED);
  });

  it('a body that its stage does not serve', () => {
    const former = idIn(withoutA, 'ApiGateway::Deployment', 'Api');
    const stale = renamed(all, 'reports', 'ApiGateway::Deployment', 'Api', former);
    expect(walk(withoutA, stale).join('\n')).toMatch(/Stage\w+ serves a former body/);
  });

  it('an alarm that is created before its function', () => {
    const early = ['-keys', '-operations'].flatMap((end) => all.filter(({ name }) => name.endsWith(end)));
    expect(walk(early).join('\n')).toMatch(/readEquivalence-errors watches/);
  });

  const replicable = deployed({ settings: { key: 'multi-region' } });
  it.each<readonly [string, RegExp, readonly Stacks[]]>([
    [
      'a version of a function that has not changed',
      /readReadiness is what its last version is/,
      [all, renamed(all, 'reports', 'Lambda::Version', 'readReadiness')],
    ],
    [
      'a function with the name of another',
      /readReadiness exists already/,
      [all, renamed(all, 'reports', 'Lambda::Function', 'readReadiness')],
    ],
    [
      'a reference to what closed',
      /refers to readClassCohortFunction\w+, which is not in it/,
      [
        all,
        changed(withoutA, 'reports', ['ApiGateway::RestApi', 'Api'], (one) => {
          const former = draftOf(all, 'reports');
          Object.assign(one, former.Resources[idOf(former, 'ApiGateway::RestApi', 'Api')]);
        }),
      ],
    ],
    ['a key that gets its replicas', /MultiRegion of a KMS key never changes/, [all, replicable]],
    ['a key that loses its replicas', /MultiRegion of a KMS key never changes/, [replicable, all]],
    ['a stack before the one whose outputs it reads', /has no output \w+ yet/, [all.toReversed()]],
  ])('%s stops the deployment', (_, error, path) => {
    expect(() => walk(...path)).toThrow(error);
  });

  it.each<readonly [string, RegExp, (table: DraftResource) => unknown]>([
    ['an unknown property', /unknown property KeySchemas$/, (table) => (table.Properties['KeySchemas'] = [])],
    ['a missing property', /KeySchema is required$/, (table) => delete table.Properties['KeySchema']],
    [
      'an unknown type',
      /unknown resource type AWS::DynamoDB::Tables$/,
      (table) => (table.Type = 'AWS::DynamoDB::Tables'),
    ],
  ])('%s of a table', (_, defect, spoil) => {
    const [stores] = changed(all, 'keys', ['DynamoDB::Table', 'Records'], spoil);
    expect(schemaDefects(stores?.template.Resources ?? {})).toStrictEqual([
      expect.stringMatching(defect) as string,
    ]);
  });
});

describe('what npm run deploy decides of a change', () => {
  const api: ResourceChange = {
    Action: 'Modify',
    LogicalResourceId: 'Api',
    ResourceType: 'AWS::ApiGateway::RestApi',
    Replacement: 'False',
    Details: [],
  };
  const stage = (detail: Partial<ResourceChange['Details'][number]>): ResourceChange => ({
    ...api,
    LogicalResourceId: 'Stage',
    ResourceType: 'AWS::ApiGateway::Stage',
    Replacement: 'Conditional',
    Details: [
      { Target: { RequiresRecreation: 'Always' }, Evaluation: 'Dynamic', CausingEntity: 'Api', ...detail },
    ],
  });

  it.each<readonly [string, boolean, readonly ResourceChange[]]>([
    ['a resource that may be replaced, for a reason of its own', true, [stage({ Evaluation: 'Static' })]],
    ['one that names another, which stays', false, [api, stage({})]],
    ['one that names another, which is replaced', true, [{ ...api, Replacement: 'True' }, stage({})]],
    [
      'one that names another, which may be replaced',
      true,
      [{ ...api, Replacement: 'Conditional' }, stage({})],
    ],
    ['one of which CloudFormation tells no reason', true, [{ ...stage({}), Details: [] }]],
    ['one of which CloudFormation cannot tell', true, [{ ...api, Action: 'Dynamic' }]],
    ['one that is only imported', false, [{ ...api, Action: 'Import' }]],
    [
      'a function that is replaced',
      false,
      [{ ...api, ResourceType: 'AWS::Lambda::Function', Replacement: 'True' }],
    ],
  ])('%s: stops is %j', (_, stops, changes) => {
    expect(losses(changes).length > 0).toBe(stops);
    expect(losses(changes, new Set(['Api', 'Stage']))).toStrictEqual([]);
  });
});
