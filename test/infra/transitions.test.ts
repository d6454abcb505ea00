import { describe, expect, it } from 'vitest';
import { losses } from '#ops/deploy/losses.ts';
import type { ResourceChange } from '#ops/doctor/stacks.ts';
import { Account, type Order, type Physical, type StackTemplate } from './cloudformation.ts';
import { deployed, gateSets, stage, withDomains } from './deployed.ts';
import { defectsOf, finalDefectsOf, lastingOf, lossesIn } from './invariants.ts';
import { schemaDefects } from './resource-schemas.ts';

type Stacks = readonly StackTemplate[];

/** The distinct deployments that sets of gates lead to, each under one of its sets. */
const deployments: readonly (readonly [string, Stacks])[] = [
  ...new Map(
    gateSets.toReversed().map((set) => [deployed({ gates: set }).stacks, set.join('') || 'no gate'] as const),
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

const all = deployed().stacks;
const newCode = deployed({ code: "'another'" }).stacks;

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
    const concurrency = { reservedConcurrency: { startAdaptiveRun: 7 } };
    const capped = deployed({ stage: { name, config: { ...config, ...concurrency } } }).stacks;
    const { canaryMinutes, ...uncanaried } = config;
    const atOnce = deployed({ stage: { name, config: uncanaried } }).stacks;
    expect(canaryMinutes).toBeDefined();
    for (const stacks of [capped, atOnce]) {
      expect(versionsIn(stacks)).toStrictEqual(versionsIn(all));
      expect(walk(all, stacks, newCode)).toStrictEqual([]);
    }
    const logged = deployed({ stage: { name, config: { ...config, logLevel: 'warn' } } }).stacks;
    expect(versionsIn(logged).filter((id) => versionsIn(all).includes(id))).toStrictEqual([]);
  });

  it('keeps the version that was live, so that the alias can go back', () => {
    const account = new Account();
    deploy(account, all, 'first types first');
    const before = account.ofType('AWS::Lambda::Version').map(({ id }) => id);
    deploy(account, newCode, 'first types first');
    const after = account.ofType('AWS::Lambda::Version').map(({ id }) => id);
    expect(after).toEqual(expect.arrayContaining(before));
    expect(after).toHaveLength(2 * before.length);
  });
});

describe('host names of a stage’s own', () => {
  const moving = deployed({ stage: withDomains(true) }).stacks;
  const moved = deployed({ stage: withDomains() }).stacks;
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
  Resources: Record<string, { Type: string; Properties: Record<string, unknown>; DependsOn?: unknown }>;
}

/** Stacks with one template changed. */
function spoiled(stacks: Stacks, name: string, spoil: (draft: Draft) => void): Stacks {
  return stacks.map((stack) => {
    if (!stack.name.endsWith(name)) return stack;
    const draft = structuredClone(stack.template) as unknown as Draft;
    spoil(draft);
    return { name: stack.name, template: draft as StackTemplate['template'] };
  });
}

/** The one resource of a type whose logical id begins with `prefix`. */
function idOf({ Resources }: Pick<Draft, 'Resources'>, type: string, prefix: string): string {
  const id = Object.keys(Resources).find((key) => Resources[key]?.Type === type && key.startsWith(prefix));
  if (id === undefined) throw new Error(`no ${type} ${prefix}`);
  return id;
}

function renamed(stacks: Stacks, name: string, type: string, prefix: string): Stacks {
  return spoiled(stacks, name, (draft) => {
    const id = idOf(draft, type, prefix);
    Object.assign(draft, JSON.parse(JSON.stringify(draft).replaceAll(`"${id}"`, '"Renamed"')));
  });
}

const withoutA = deployed({ gates: ['B', 'C', 'D', 'F'] }).stacks;
const reports = (stacks: Stacks): Draft =>
  stacks.find(({ name }) => name.endsWith('-reports'))?.template as unknown as Draft;
const api = 'AWS::ApiGateway::RestApi';

describe('a planted defect is found', () => {
  it.each<readonly [string, RegExp, () => Stacks]>([
    [
      'a route that stays in the body without its function',
      /readiness is served without its function gone/,
      () =>
        spoiled(withoutA, '-reports', (draft) => {
          const { Body } = draft.Resources[idOf(draft, api, 'Api')]?.Properties as {
            Body: { paths: Record<string, { get: { 'x-amazon-apigateway-integration': { uri: unknown } } }> };
          };
          const route = Body.paths['/v1/attempt-reports/{attemptId}/readiness'];
          if (route)
            route.get['x-amazon-apigateway-integration'].uri = 'lambda:path/functions/gone/invocations';
        }),
    ],
    [
      'a stage that keeps serving the former snapshot',
      /equivalence is served without its function/,
      () =>
        spoiled(withoutA, '-reports', (draft) => {
          const type = 'AWS::ApiGateway::Deployment';
          const [former, next] = [idOf(reports(all), type, 'Api'), idOf(draft, type, 'Api')];
          Object.assign(draft, JSON.parse(JSON.stringify(draft).replaceAll(next, former)));
        }),
    ],
    [
      'a route without its permission',
      /readiness is served without its permission/,
      () =>
        spoiled(withoutA, '-reports', (draft) => {
          Reflect.deleteProperty(draft.Resources, idOf(draft, 'AWS::Lambda::Permission', 'readReadiness'));
        }),
    ],
    [
      'a permission for the function in place of its alias',
      /readiness is served without its permission/,
      () =>
        spoiled(all, '-reports', (draft) => {
          const permission = draft.Resources[idOf(draft, 'AWS::Lambda::Permission', 'readReadiness')];
          const to = idOf(draft, 'AWS::Lambda::Function', 'readReadiness');
          if (permission) permission.Properties['FunctionName'] = { Ref: to };
        }),
    ],
    [
      'an alias that stays at the former version',
      /readReadiness:live leads to former code/,
      () =>
        spoiled(newCode, '-reports', (draft) => {
          const type = 'AWS::Lambda::Version';
          const [former, next] = [
            idOf(reports(all), type, 'readReadiness'),
            idOf(draft, type, 'readReadiness'),
          ];
          Object.assign(draft, JSON.parse(JSON.stringify(draft).replaceAll(next, former)));
        }),
    ],
    [
      'an alias without a deployment group',
      /readReadinessFunctionLive\w+ has no deployment group/,
      () =>
        spoiled(all, '-reports', (draft) => {
          const alias = draft.Resources[idOf(draft, 'AWS::Lambda::Alias', 'readReadiness')];
          Reflect.deleteProperty(alias ?? {}, 'UpdatePolicy');
        }),
    ],
    [
      'a schedule that calls the function in place of its alias',
      /Schedule\w+ calls .*sweepImprovementRuns\.Arn, which does not exist/,
      () =>
        spoiled(all, '-reports', (draft) => {
          const rule = draft.Resources[idOf(draft, 'AWS::Events::Rule', 'sweepImprovementRuns')];
          const to = idOf(draft, 'AWS::Lambda::Function', 'sweepImprovementRuns');
          const [target] = (rule?.Properties['Targets'] ?? []) as { Arn: unknown }[];
          if (target) target.Arn = { 'Fn::GetAtt': [to, 'Arn'] };
        }),
    ],
    [
      'an alarm of a version that is not deployed',
      /watches the ExecutedVersion 1, which does not exist/,
      () =>
        spoiled(all, '-mastery', (draft) => {
          const id = idOf(draft, 'AWS::CloudWatch::Alarm', 'startAdaptiveRun');
          const text = JSON.stringify(draft.Resources[id]).replaceAll(
            /(?<="Name":"ExecutedVersion","Value":)\{[^}]*\}/g,
            '"1"',
          );
          Object.assign(draft.Resources, { [id]: JSON.parse(text) as unknown });
        }),
    ],
    [
      'a deployment group whose alarm is gone',
      /Deployments\w+ watches the alarm gone/,
      () =>
        spoiled(all, '-mastery', (draft) => {
          const group = draft.Resources[idOf(draft, 'AWS::CodeDeploy::DeploymentGroup', 'startAdaptiveRun')];
          Object.assign(group?.Properties ?? {}, { AlarmConfiguration: { Alarms: [{ Name: 'gone' }] } });
        }),
    ],
    [
      'an alarm that stays without its function',
      /readEquivalence-errors watches the FunctionName .*readEquivalence, which does not exist/,
      () =>
        spoiled(withoutA, '-operations', ({ Resources }) => {
          const former = all.find(({ name }) => name.endsWith('-operations'))?.template as unknown as Draft;
          const id = idOf(former, 'AWS::CloudWatch::Alarm', 'readEquivalenceerrors');
          Object.assign(Resources, { [id]: former.Resources[id] });
        }),
    ],
    [
      'a renamed API',
      /RestApi .*-reports\/Api.* is now gone/,
      () => renamed(withoutA, '-reports', api, 'Api'),
    ],
    [
      'a table with another key',
      /Table .*\/Records.*: Records.* is now Records/,
      () =>
        spoiled(all, '-keys', (draft) => {
          const table = draft.Resources[idOf(draft, 'AWS::DynamoDB::Table', 'Records')];
          Object.assign(table?.Properties ?? {}, { KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }] });
        }),
    ],
    [
      'a bucket that gets or loses Object Lock',
      /Bucket .*\/Receipts.*: Receipts.* is now Receipts/,
      () =>
        spoiled(all, '-keys', (draft) => {
          const bucket = draft.Resources[idOf(draft, 'AWS::S3::Bucket', 'Receipts')];
          delete bucket?.Properties['ObjectLockEnabled'];
        }),
    ],
    [
      'a table that is left behind',
      /Table .*\/Records.* is now gone/,
      () => renamed(all, '-keys', 'AWS::DynamoDB::Table', 'Records'),
    ],
  ])('%s', (_, found, spoil) => {
    const defects = walk(all, spoil()).join('\n');
    expect(defects).toMatch(found);
    expect(defects).not.toContain(MISJUDGED);
  });

  it('an alarm that is created before its function', () => {
    const [stores, alarms] = ['-keys', '-operations'].map((end) =>
      all.filter(({ name }) => name.endsWith(end)),
    );
    const early = [...(stores ?? []), ...(alarms ?? [])];
    expect(walk(early).join('\n')).toMatch(/readEquivalence-errors watches/);
  });

  it.each<readonly [string, RegExp, () => Stacks]>([
    [
      'a version of a function that has not changed',
      /readReadiness is what its last version is/,
      () => renamed(all, '-reports', 'AWS::Lambda::Version', 'readReadiness'),
    ],
    [
      'a function with the name of another',
      /readReadiness exists already/,
      () => renamed(all, '-reports', 'AWS::Lambda::Function', 'readReadiness'),
    ],
    [
      'a reference to what closed',
      /refers to readClassCohortFunction\w+, which is not in it/,
      () =>
        spoiled(withoutA, '-reports', (draft) => {
          const id = idOf(draft, api, 'Api');
          draft.Resources[id] = structuredClone(reports(all).Resources[id] ?? { Type: api, Properties: {} });
        }),
    ],
  ])('%s stops the deployment', (_, error, spoil) => {
    expect(() => walk(all, spoil())).toThrow(error);
  });

  it('a key that gets or loses its replicas stops the deployment', () => {
    const prod = stage('prod');
    const replicable = deployed({
      stage: { ...prod, config: { ...prod.config, key: 'multi-region' } },
    }).stacks;
    expect(() => walk(all, replicable)).toThrow(/MultiRegion of a KMS key never changes/);
    expect(() => walk(replicable, all)).toThrow(/MultiRegion of a KMS key never changes/);
  });

  it('a stack before the one whose outputs it reads stops the deployment', () => {
    expect(() => walk(all.toReversed())).toThrow(/has no output \w+ yet/);
  });

  it.each<readonly [string, RegExp, (draft: Draft['Resources'][string]) => void]>([
    [
      'an unknown property',
      /unknown property KeySchemas$/,
      ({ Properties }) => (Properties['KeySchemas'] = []),
    ],
    [
      'a number for a text',
      /BillingMode: expected string, found 1$/,
      ({ Properties }) => (Properties['BillingMode'] = 1),
    ],
    ['a missing property', /KeySchema is required$/, ({ Properties }) => delete Properties['KeySchema']],
    [
      'an unknown member',
      /\.SSESpecification: unknown property Enabled$/,
      ({ Properties }) => (Properties['SSESpecification'] = { SSEEnabled: true, Enabled: true }),
    ],
    [
      'an unknown type',
      /unknown resource type AWS::DynamoDB::Tables$/,
      (table) => (table.Type = 'AWS::DynamoDB::Tables'),
    ],
  ])('%s of a table', (_, defect, spoil) => {
    const [stores] = spoiled(all, '-keys', (draft) => {
      const table = draft.Resources[idOf(draft, 'AWS::DynamoDB::Table', 'Records')];
      if (table) spoil(table);
    }).filter(({ name }) => name.endsWith('-keys'));
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
