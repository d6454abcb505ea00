import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { attemptRequest } from '#local/attempt-request.ts';
import { startRequest } from '#local/journey/bank.ts';
import { withdraw } from '#ops/gates/apply.ts';
import { createReleaseStore } from '#ops/gates/release-store.ts';
import { analyzeRun, rotateKeys, sweepRuns } from '#shared/contract/background.ts';
import type { DeployedFunction } from '#shared/contract/functions.ts';
import type { AdaptiveRun } from '#shared/contract/mastery/adaptive-run.ts';
import { advanceAdaptiveRun } from '#shared/contract/mastery/routes/advance-adaptive-run.ts';
import { inspectAdaptiveRun } from '#shared/contract/mastery/routes/inspect-adaptive-run.ts';
import { simulateScoreRecovery } from '#shared/contract/mastery/routes/simulate-score-recovery.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { problemKeysOf } from '#shared/contract/route-problems.ts';
import type { Route } from '#shared/contract/route.ts';
import { analyzeAdministration } from '#shared/contract/reports/routes/analyze-administration.ts';
import { materializeAttemptReport } from '#shared/contract/reports/routes/materialize-attempt-report.ts';
import { PROMOTE_AFTER_MS } from '#shared/keys/key-states.ts';
import { localBucketName, localStage, localTableName } from '#shared/stage/local-stage.ts';
import { makeDynamo, makeS3, makeSsm } from '#shared/stores/make-clients.ts';
import { SHORT_BANK, TIMED_BANK } from '#test/support/adaptive-run.ts';
import type { GatewayCall } from '#test/support/gateway-call.ts';
import { countsOf, stateOf } from '#test/support/platform-control.ts';
import { claimsToAll } from '#test/support/reports-call.ts';
import { simulationBody } from '#test/support/score-recovery.ts';
import type { Actor, Life } from './scheduler.ts';
import { TENANT, type Answer, type World } from './world.ts';

/** What a schedule of a scenario begins with. */
interface Prepared {
  readonly actors: readonly Actor[];
  /** Lets what is under way come to its end, undisturbed: what the queue, the sweeper and the clients would do later. */
  readonly finish?: () => Promise<void>;
  /** The requests of clients; each is sent once more at the end, and must get an equal answer. */
  readonly requests: readonly Request[];
  /** What must be held at the end, whatever the undisturbed schedule leads to: one record, one event, one offer. */
  readonly held?: readonly string[];
  /** What must be true at the end beyond what holds for every scenario. Each is a sentence. */
  readonly wrong?: () => readonly string[] | Promise<readonly string[]>;
}

export interface Request {
  readonly route: Route;
  readonly call: GatewayCall;
}

interface Scenario {
  /** The functions that its actors are. */
  readonly functions: readonly DeployedFunction[];
  readonly prepare: (world: World) => Prepared | Promise<Prepared>;
}

const HOUR_MS = 3_600_000;

/** Every scenario: two actors, of which each may die, be late or see another time than the other. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  'start-one-key': twice(startAdaptiveRun, (world) => ({ body: startBody(world) }), true, 'qti.session 1'),
  'start-two-bodies': {
    functions: [startAdaptiveRun],
    prepare: (world) => {
      const key = world.freshKey();
      const calls = [SHORT_BANK, TIMED_BANK].map((bank): Request => ({
        route: startAdaptiveRun,
        call: { key, body: startBody(world, bank) },
      }));
      return {
        actors: calls.map((request, at) => clientOf(world, 'AB'[at]!, request)),
        requests: calls,
        wrong: () => {
          const statuses = ['A', 'B'].map(
            (name) => world.answers.findLast(({ actor }) => actor === name)?.status,
          );
          return statuses.toSorted().join() === '201,409'
            ? []
            : [`one of two bodies under one key is refused, not ${statuses.join()}`];
        },
      };
    },
  },
  'advance-one-key': twice(advanceAdaptiveRun, (world) => played(world), true, 'qti.session 2'),
  'advance-two-keys': twice(advanceAdaptiveRun, (world) => played(world), false, 'qti.session 2'),
  'end-one-key': twice(
    advanceAdaptiveRun,
    (world) => played(world, TIMED_BANK),
    true,
    'qti.session 1',
    'results.record 1',
    'caliper.event 1',
  ),
  'end-two-keys': twice(
    advanceAdaptiveRun,
    (world) => played(world, TIMED_BANK),
    false,
    'qti.session 1',
    'results.record 1',
    'caliper.event 1',
  ),
  'advance-inspect': {
    functions: [advanceAdaptiveRun, inspectAdaptiveRun],
    prepare: async (world) => {
      const call = await played(world);
      const advance = { route: advanceAdaptiveRun, call: { ...call, key: world.freshKey() } };
      const inspect = { route: inspectAdaptiveRun, call: { key: world.freshKey(), body: call.body } };
      return {
        actors: [clientOf(world, 'A', advance), clientOf(world, 'B', inspect)],
        requests: [advance, inspect],
      };
    },
  },
  'simulate-one-key': twice(
    simulateScoreRecovery,
    (world) => ({ body: simulationBody(world.stack) }),
    true,
    'caliper.event 1',
  ),
  'materialize-one-key': twice(
    materializeAttemptReport,
    materializeCall,
    true,
    'results.settlement 1',
    'caliper.event 1',
  ),
  'materialize-two-keys': twice(
    materializeAttemptReport,
    materializeCall,
    false,
    'results.settlement 1',
    'caliper.event 1',
  ),
  'analyze-one-key': improving([analyzeAdministration], (world) => {
    const request = analysis(world);
    return [clientOf(world, 'A', request), clientOf(world, 'B', request)];
  }),
  'analyze-worker': improving([analyzeAdministration, analyzeRun], (world) => [
    clientOf(world, 'A', analysis(world)),
    workerOf(world, 'B'),
  ]),
  'worker-twice': improving([analyzeRun], async (world) => {
    await begun(world);
    world.messages.push({ ...world.messages[0]! });
    return [workerOf(world, 'A'), workerOf(world, 'B')];
  }),
  'worker-sweeper': improving([analyzeRun, sweepRuns], async (world) => {
    await begun(world);
    world.passTime(HOUR_MS);
    return [workerOf(world, 'A'), scheduled(world, 'B', sweepRuns)];
  }),
  'sweeper-twice': improving([sweepRuns], async (world) => {
    await begun(world);
    world.passTime(HOUR_MS);
    return [scheduled(world, 'A', sweepRuns), scheduled(world, 'B', sweepRuns)];
  }),
  'rotation-twice': rotating([rotateKeys], (world) => ({
    actors: [scheduled(world, 'A', rotateKeys), scheduled(world, 'B', rotateKeys)],
    requests: [],
  })),
  'rotation-start': rotating([rotateKeys, startAdaptiveRun], (world) => {
    const request = { route: startAdaptiveRun, call: { key: world.freshKey(), body: startBody(world) } };
    return {
      actors: [scheduled(world, 'A', rotateKeys), clientOf(world, 'B', request)],
      requests: [request],
    };
  }),
  'rotation-advance': rotating([rotateKeys, advanceAdaptiveRun], async (world) => {
    const request = { route: advanceAdaptiveRun, call: { ...(await played(world)), key: world.freshKey() } };
    return {
      actors: [scheduled(world, 'A', rotateKeys), clientOf(world, 'B', request)],
      requests: [request],
    };
  }),
  'withdrawal-analyze': improving([analyzeAdministration], (world) => [
    clientOf(world, 'A', analysis(world), 1),
    withdrawal(world, 'B'),
  ]),
  'withdrawal-worker': improving([analyzeRun], async (world) => {
    await begun(world);
    return [workerOf(world, 'A'), withdrawal(world, 'B')];
  }),
  'withdrawal-materialize': {
    functions: [materializeAttemptReport],
    prepare: (world) => {
      const request = {
        route: materializeAttemptReport,
        call: { ...materializeCall(world), key: world.freshKey() },
      };
      return {
        actors: [clientOf(world, 'A', request, 1), withdrawal(world, 'B')],
        finish: async () => {
          await reopen(world);
          await world.alone((actor) => world.client(actor, request.route, request.call));
        },
        requests: [request],
      };
    },
  },
};

/** The same request by two clients, with one key or with one each. */
function twice(
  route: Route,
  callOf: (world: World) => GatewayCall | Promise<GatewayCall>,
  isOneKey: boolean,
  ...held: readonly string[]
): Scenario {
  return {
    functions: [route],
    prepare: async (world) => {
      const call = await callOf(world);
      const a: Request = { route, call: { ...call, key: world.freshKey() } };
      const b: Request = isOneKey ? a : { route, call: { ...call, key: world.freshKey() } };
      return {
        actors: [clientOf(world, 'A', a), clientOf(world, 'B', b)],
        requests: isOneKey ? [a] : [a, b],
        held,
      };
    },
  };
}

/** Actors of one improvement run: it ends whole, whatever happened. */
function improving(
  functions: readonly DeployedFunction[],
  actorsOf: (world: World) => readonly Actor[] | Promise<readonly Actor[]>,
): Scenario {
  return {
    functions,
    prepare: async (world) => {
      const actors = await actorsOf(world);
      const request = analysis(world);
      return {
        actors,
        requests: [request],
        finish: async () => {
          await reopen(world);
          await world.alone((actor) => world.client(actor, request.route, request.call));
          await workOn(world);
        },
        wrong: async () => {
          const runs = (await itemsOf(world, 'improvement')).filter(({ sk }) => sk === '0-run');
          if (runs.length !== 1) return [`there is one run, not ${runs.length}`];
          return /^completed/.test(String(runs[0]!['state']))
            ? []
            : [`the run ends complete, not ${String(runs[0]!['state'])}`];
        },
      };
    },
  };
}

/** Actors around the promotion of a key: the ring has moved by exactly one step. */
function rotating(
  functions: readonly DeployedFunction[],
  prepare: (world: World) => Prepared | Promise<Prepared>,
): Scenario {
  return {
    functions,
    prepare: async (world) => {
      world.passTime(30 * 24 * HOUR_MS);
      await world.alone((actor) => rotation(world, actor));
      world.passTime(PROMOTE_AFTER_MS);
      return {
        ...(await prepare(world)),
        finish: () => world.alone((actor) => rotation(world, actor)),
        wrong: async () => {
          const keys = (await itemsOf(world, 'settings')).filter(({ pk }) => String(pk).startsWith('key#'));
          const states = keys
            .map(({ state }) => String(state))
            .toSorted()
            .join();
          return states === RING ? [] : [`the keys are ${RING}, not ${states}`];
        },
      };
    },
  };
}
/** Three purposes rotate on schedule, two never do. */
const RING = 'active,active,active,active,active,opening,opening,opening';
const rotation = (world: World, actor: Actor) => world.invoke(actor, rotateKeys, {}).then(() => undefined);

function clientOf(world: World, name: string, { route, call }: Request, tries?: number): Actor {
  return { name, run: async (actor) => void (await world.client(actor, route, call, tries)) };
}

/** A function that its schedule calls again if it fails. */
function scheduled(world: World, name: string, row: DeployedFunction): Actor {
  return {
    name,
    run: async (actor) => {
      for (let calls = 0; calls < 3; calls += 1)
        if ((await world.invoke(actor, row, {})).kind === 'returned') return;
    },
  };
}

/** The worker, with the next message. */
function workerOf(world: World, name: string): Actor {
  return {
    name,
    run: async (actor) => {
      const waiting = world.scheduler.live(actor);
      for (let polls = 0; polls < 40 && world.messages.length === 0; polls += 1)
        await world.scheduler.sleep(waiting, 500);
      const message = world.messages.shift();
      if (message !== undefined) await world.deliver(actor, analyzeRun, message);
    },
  };
}

/** An operator who withdraws a gate. */
function withdrawal(world: World, name: string): Actor {
  const options = { stage: localStage, dryRun: false, print: () => undefined };
  return {
    name,
    run: async (actor) => {
      for (let tries = 0; tries < 4; tries += 1) {
        const life = world.scheduler.live(actor);
        const withdrawn = withdraw(releaseStore(world, life), new Set(['D']), {
          ...options,
          now: world.scheduler.now,
        });
        const outcome = await Promise.race([withdrawn, life.death]);
        if (outcome !== 'died' && outcome.ok) return;
      }
    },
  };
}

function releaseStore(world: World, life: Life) {
  return createReleaseStore({
    dynamo: world.sdk(life, makeDynamo),
    s3: world.sdk(life, makeS3),
    ssm: world.sdk(life, makeSsm),
    stage: localStage,
    settingsTable: localTableName('settings'),
    bucket: () => Promise.resolve(localBucketName),
  });
}

/** Opens every gate again, as it was. */
async function reopen(world: World): Promise<void> {
  await world.alone(async (actor) => {
    const { state } = releaseStore(world, world.scheduler.live(actor));
    const before = (await state.read())!;
    if (before.flags.D === 'open') return;
    await state.write(
      { ...before, flags: { ...before.flags, D: 'open' }, appliedAt: before.appliedAt + 1 },
      before,
    );
  });
}

function startBody({ stack }: World, bank = SHORT_BANK) {
  const { banks, resultsStudentId } = stack.seededTenants.get(TENANT)!.fixtures.mastery;
  return startRequest(
    { fixture: banks.find(({ name }) => name === bank)!, resultsStudentId },
    'production_learner',
  );
}

/** A run whose first item is answered: the request that advances it. */
async function played(world: World, bank = SHORT_BANK): Promise<GatewayCall> {
  const { stack } = world;
  const started = await world.alone((actor) =>
    world.client(actor, startAdaptiveRun, { key: world.freshKey(), body: startBody(world, bank) }),
  );
  const { continuationToken, offeredItem } = JSON.parse(started.text) as AdaptiveRun;
  if (bank === TIMED_BANK) world.passTime(60_000);
  const playerToken = stack.seededTenants.get(TENANT)!.platform.credentials.playerToken;
  const { deliverySessionId } = offeredItem!;
  await fetch(
    ...attemptRequest({
      platformUrl: stack.urls.platformUrl,
      tenantId: TENANT,
      playerToken,
      deliverySessionId,
      correct: true,
    }),
  );
  const inspected = await world.alone((actor) =>
    world.client(actor, inspectAdaptiveRun, { key: world.freshKey(), body: { continuationToken } }),
  );
  return { body: { continuationToken }, ifMatch: headerOf(inspected, 'etag') };
}

function materializeCall({ caller }: World): GatewayCall {
  const fixtures = caller.fixtures(TENANT);
  const { attempts, administrationOf } = fixtures;
  return {
    body: { attemptId: attempts.unsettled, administrationId: administrationOf.unsettled },
    claims: claimsToAll(fixtures),
  };
}

function analysis({ caller, stack }: World): Request {
  const fixtures = caller.fixtures(TENANT);
  const listed = stack.seed.reports.fixtures.administrations.indexOf('school-gate');
  const administrationId =
    fixtures.administrations[listed] ?? fixtures.special.administrations['school-gate']!;
  return {
    route: analyzeAdministration,
    call: { key: 'analysis', path: { administrationId }, claims: claimsToAll(fixtures) },
  };
}

/** A run that is analyzed, with its message on the queue. */
async function begun(world: World): Promise<void> {
  const { route, call } = analysis(world);
  await world.alone((actor) => world.client(actor, route, call));
}

/** Delivers every message, and sweeps until no run is open. */
async function workOn(world: World): Promise<void> {
  for (let sweeps = 0; sweeps < 4; sweeps += 1) {
    for (let message = world.messages.shift(); message !== undefined; message = world.messages.shift()) {
      const next = message;
      await world.alone((actor) => world.deliver(actor, analyzeRun, next));
    }
    const open = (await itemsOf(world, 'improvement')).filter(({ pk }) => pk === 'open');
    if (open.length === 0) return;
    world.passTime(HOUR_MS);
    await world.alone((actor) => world.invoke(actor, sweepRuns, {}));
  }
}

type Item = Readonly<Record<string, string | number | undefined>>;

async function itemsOf(
  { clients }: World,
  table: 'control' | 'improvement' | 'settings',
): Promise<readonly Item[]> {
  const { Items = [] } = await clients.dynamo.send(new ScanCommand({ TableName: localTableName(table) }));
  // SAFETY: what is looked at is texts and numbers.
  return Items.map((item) => unmarshall(item) as Item);
}

/** What is held at the end, without the names that a schedule gives: the same after every schedule of a scenario. */
export async function heldBy(world: World): Promise<readonly string[]> {
  const counts = await countsOf(world.stack, TENANT);
  // A receiver that gets an order twice says so.
  const improvement = (await itemsOf(world, 'improvement')).map((item) =>
    ['pk', 'sk', 'state', 'status']
      .map((name) => String(item[name] ?? '').replace(/#.*/, ''))
      .join(' ')
      .replace('replayed', 'accepted'),
  );
  // Counts of requests have no state.
  const control = (await itemsOf(world, 'control')).flatMap(({ state, leaseUntil }) =>
    state === undefined ? [] : [`control ${String(state)}${leaseUntil === 0 ? '' : ' leased'}`],
  );
  return [
    ...Object.entries(counts).map(([name, count]) => `${name} ${count}`),
    ...improvement,
    ...control,
  ].toSorted();
}

/** Sends every request once more: it must get what it got before, except that a run which an owner kept waiting may be completed by now [MA-138]. */
export async function wrongRepetitions(
  world: World,
  requests: readonly Request[],
): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const { route, call } of requests) {
    const before = world.answers.filter(
      (answer) => answer.call === call && answer.status === route.success.status,
    );
    const repeated = await world.alone((actor) => world.client(actor, route, call));
    const isLasting = (answer: Answer): boolean =>
      lasting(answer) === lasting(repeated) ||
      (isFinalizing(answer) && lasting(answer, published) === lasting(repeated, published));
    if (!before.every(isLasting))
      wrong.push(
        `${route.operationId} returns something else when it is repeated: ${changeIn(
          before.map((answer) => lasting(answer)),
          lasting(repeated),
        )}`,
      );
  }
  return wrong;
}

/**
 * Returns what of an answer does not change when its request is repeated: no token, no time, no name of an occurrence. Of a run that is worked on, its id.
 * @param alsoPassing the names of more members that may change
 */
function lasting({ route, status, text }: Answer, alsoPassing: ReadonlySet<string> = new Set()): string {
  const value = JSON.parse(text) as { readonly improvementRunId?: string };
  if (route === analyzeAdministration) return `${status} ${value.improvementRunId ?? ''}`;
  return JSON.stringify([status, value], (name, member: unknown) =>
    passing.has(name) || alsoPassing.has(name) ? undefined : member,
  );
}
const passing = new Set(['continuationToken', 'receiptId', 'requestId', 'traceId', 'observedAt', 'sources']);
/** The members that a publication changes. */
const published = new Set(['status', 'resultRecordRef', 'caliperEventRef', 'waitingFor']);

function isFinalizing({ text }: Answer): boolean {
  return (JSON.parse(text) as { readonly status?: unknown }).status === 'finalizing';
}

/** Everything that is wrong with the answers of a schedule by themselves. */
export function wrongAnswers(world: World, faultsStruck: number): readonly string[] {
  const wrong: string[] = [];
  for (const answer of world.answers) {
    const { route, status, text } = answer;
    if (status === route.success.status) {
      if (!route.success.schema.safeParse(JSON.parse(text)).success)
        wrong.push(`${route.operationId} returns no ${status} of its schema`);
      continue;
    }
    const { type } = JSON.parse(text) as { readonly type: string };
    const key = `${status} ${type.split('/').at(-1) ?? ''}`;
    if (!problemKeysOf(route).includes(key))
      wrong.push(`${route.operationId} returns ${key}, which its row does not name`);
    if (status === 500 && faultsStruck === 0)
      wrong.push(`${route.operationId} returns 500 although nothing is wrong`);
  }
  return wrong;
}

/** What is wrong with an answer at its time: a completed run names a record and an event that its owners hold by then. */
export async function wrongFacts(
  { stack }: World,
  { route, status, text }: Answer,
): Promise<readonly string[]> {
  if (route !== advanceAdaptiveRun || status !== 200) return [];
  const run = JSON.parse(text) as AdaptiveRun;
  if (run.status !== 'completed') return [];
  const { entities } = await stateOf(stack, TENANT);
  const facts = [
    ['results.record', run.resultRecordRef],
    ['caliper.event', run.caliperEventRef],
  ] as const;
  return facts.flatMap(([kind, ref]) =>
    entities[kind]?.[ref ?? ''] === undefined
      ? [`a run is completed, and its owner does not hold the ${kind}`]
      : [],
  );
}

function headerOf({ headers }: Answer, name: string): string {
  return Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1] ?? '';
}

/** Where two texts part. */
function changeIn(before: readonly string[], after: string): string {
  const other = before.find((text) => text !== after) ?? '';
  let at = 0;
  while (at < other.length && other[at] === after[at]) at += 1;
  return [other, after].map((text) => text.slice(Math.max(0, at - 60), at + 40)).join(' … ');
}
