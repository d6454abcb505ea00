import { DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { localBucketName, localStage, localTableName } from '#shared/stage/local-stage.ts';
import { provable } from '#shared/contract/gates.ts';
import type { Gate, GateName } from '#shared/contract/gates.ts';
import { alignmentReport } from '#shared/contract/reports/alignment-report.ts';
import {
  listCandidateReports,
  readAlignmentReport,
  readAttemptReport,
  readClassCohort,
  readEquivalence,
  readReadiness,
  reportsRoutes,
} from '#shared/contract/reports/routes.ts';
import { readSelectionPolicy } from '#shared/contract/mastery/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import type { GateFlags } from '#shared/release/release-state.ts';
import { FRESH_MS } from '#shared/release/watch-release.ts';
import { applyManifest, withdraw } from '#ops/gates/apply.ts';
import type { ReleaseStore } from '#ops/gates/apply.ts';
import { createReleaseStore } from '#ops/gates/release-store.ts';
import { releaseManifest } from '#shared/release/manifest.ts';
import type { GatewayCall, GatewayReply } from '#test/support/gateway-call.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import type { ImprovementRuns } from '#test/support/improvement-runs.ts';
import { openMaterializer } from '#test/support/materialize.ts';
import { openMovedClock } from '#test/support/moved-clock.ts';
import type { MovedClock } from '#test/support/moved-clock.ts';
import { createSigner, openFlags, signedManifest } from '#test/support/release.ts';
import { reportsAnswerOf, reportsProblemOf } from '#test/support/reports-call.ts';
import { clientsOf, startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { openWorlds } from '#test/lemmas/worlds.ts';
import type { OperationId, Worlds } from '#test/lemmas/worlds.ts';

/** Within so long a withdrawal shows. */
const PROMISE_MS = 30_000;
const WITHDRAWN = '503 dependency-unavailable unknown';

const signer = createSigner();
let clock: MovedClock;
let stack: TestStack;
let clients: ReturnType<typeof clientsOf>;
let store: ReleaseStore;
let runs: ImprovementRuns;
let worlds: Worlds;
let receiptUrl: string;
beforeAll(async () => {
  clock = openMovedClock();
  stack = await startTestStack({ bundled: clock.wrap, signer });
  clients = clientsOf(stack);
  store = createReleaseStore({
    ...clients,
    stage: localStage,
    settingsTable: localTableName('settings'),
    bucket: () => Promise.resolve(localBucketName),
  });
  runs = openImprovementRuns(stack);
  worlds = openWorlds(stack);
  const shown = await send(readAlignmentReport);
  receiptUrl = alignmentReport.parse(JSON.parse(shown.text)).receipt.downloadUrl;
});
afterAll(async () => {
  await stack.close();
  clock.close();
});

/** Sends a request that is served while everything is open. */
async function send({ operationId }: Route, change: GatewayCall = {}): Promise<GatewayReply> {
  const operation = operationId as OperationId;
  return worlds.send(operation, { ...(await worlds.request(operation)), ...change });
}

/** What every route of the reports service returns, in one line each. */
async function answers(): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const route of reportsRoutes) found[route.operationId] = reportsAnswerOf(await send(route));
  return found;
}

const all = (answer: (route: Route) => string): Readonly<Record<string, string>> =>
  Object.fromEntries(reportsRoutes.map((route) => [route.operationId, answer(route)]));
const whole = all(() => '200');

const options = { stage: localStage, dryRun: false, print: () => undefined };
const close = async (...names: readonly GateName[]): Promise<void> => {
  expect(await withdraw(store, new Set(names), { ...options, now: Date.now() })).toMatchObject({ ok: true });
};
/** Writes the item that the functions read, past every command. */
async function write(manifest: string, flags: GateFlags = openFlags()): Promise<void> {
  const before = await store.state.read();
  const appliedAt = (before?.appliedAt ?? 0) + 1;
  expect(await store.state.write({ manifest, flags, appliedAt }, before)).toBe(true);
}
/** Applies the manifest that the stack was started with. */
async function open(): Promise<void> {
  const jws = stack.rehearsal.manifest;
  const payload = Buffer.from(jws.split('.')[1]!, 'base64url').toString();
  const manifest = releaseManifest.parse(JSON.parse(payload));
  const done = await applyManifest(store, { jws, manifest }, new Set(), { ...options, now: Date.now() });
  expect(done).toMatchObject({ ok: true });
}

beforeEach(async () => {
  stack.awsFaults.reset();
  await open();
  clock.advance(PROMISE_MS);
  expect(await answers()).toEqual(whole);
  // The run that this has begun: one that a test stopped on its way would become a dead letter.
  await stack.improvement.settled();
});
afterEach(() => stack.awsFaults.reset());

describe('a gate that is withdrawn while its routes are deployed', () => {
  it.each(['A', 'B', 'C', 'D', 'F'] as const)(
    '(%s) closes exactly the routes that wait for it, within 30 seconds in containers that are warm, and applying opens them again [RP-018, RP-019, RP-020, RP-021, RP-024, RP-279]',
    async (gate: Gate) => {
      await close(gate);
      clock.advance(PROMISE_MS);
      const waiting = (route: Route): boolean => route.gates.includes(gate);
      expect(await answers()).toEqual(all((route) => (waiting(route) ? WITHDRAWN : '200')));
      await open();
      clock.advance(PROMISE_MS);
      expect(await answers()).toEqual(whole);
    },
  );

  it('closes everything with the manifest itself, and nothing of the mastery engine [RP-025]', async () => {
    await close('E');
    clock.advance(PROMISE_MS);
    expect(await answers()).toEqual(all(() => WITHDRAWN));
    expect((await send(readSelectionPolicy)).status).toBe(200);
  });

  it('asks to come again and tells nobody more: no caller without a token or with a wrong request learns of it [RP-324]', async () => {
    await close('D');
    clock.advance(PROMISE_MS);
    const reply = await send(readEquivalence);
    expect(reply.headers.get('retry-after')).toBe('5');
    expect(reportsProblemOf(reply)).toMatchObject({
      retryable: true,
      dependency: 'unknown',
      operationId: null,
    });
    expect(reply.text).not.toMatch(/gate|withdr|releas|manifest/i);
    const changes: readonly [GatewayCall, number][] = [
      [{ headers: { Authorization: 'Bearer x' } }, 401],
      [{ scopes: ['x'] }, 403],
      [{ query: '?x=1' }, 400],
    ];
    for (const [change, status] of changes) expect((await send(readEquivalence, change)).status).toBe(status);
  });

  it('leaves no trace of a request that writes, not even a control record [RP-018]', async () => {
    await close('B');
    clock.advance(PROMISE_MS);
    const { request, written } = openMaterializer(stack, 'tenant-aurora');
    const before = await written();
    const materialization = request('unsettled');
    expect(reportsAnswerOf(await materialization.send())).toBe(WITHDRAWN);
    expect(await materialization.record()).toBeUndefined();
    expect(await written()).toEqual(before);
    await open();
    clock.advance(PROMISE_MS);
    expect((await materialization.succeed()).replayed).toBe(false);
  });

  it('closes receipts too, to whoever holds a link [RP-018]', async () => {
    const fetched = async (): Promise<number> => (await fetch(receiptUrl)).status;
    await close('F');
    await stack.killWorkers('readReceipt');
    expect(await fetched()).toBe(503);
  });
});

describe('improvement runs that are under way', () => {
  it('stand still while gate F is withdrawn, and go on when it is open again: nothing is lost', async () => {
    const { administrations } = runs.caller.fixtures('tenant-aurora');
    stack.improvement.pause();
    const run = await runs.analyze(administrations[0]!);
    await close('F');
    clock.advance(PROMISE_MS);
    stack.improvement.resume();
    await stack.improvement.settled();
    // The emulator gives a message back at once; a stage keeps it out of sight for half an hour each time.
    expect(stack.improvement.deadLetters()).toHaveLength(1);
    await runs.leaveAlone(run);
    const before = await runs.progress(run);
    await stack.improvement.sweep();
    await stack.improvement.settled();
    expect(await runs.progress(run)).toStrictEqual(before);
    expect([before.run.state, before.evidence, before.orders]).toEqual(['queued', [], []]);

    await open();
    clock.advance(PROMISE_MS);
    await stack.improvement.sweep();
    await stack.improvement.settled();
    expect((await runs.progress(run)).run.state).toMatch(/^completed/);
  });
});

describe('what proves nothing', () => {
  /** Every route is closed, and the log says why. */
  async function closedForAll(reason: string): Promise<void> {
    clock.advance(PROMISE_MS);
    expect(await answers()).toEqual(all(() => WITHDRAWN));
    const said = stack.logs().filter(({ line }) => JSON.stringify(line).includes('RELEASE_UNPROVED'));
    expect(said.at(-1)?.line).toMatchObject({ code: 'RELEASE_UNPROVED', level: 'ERROR', reason });
  }

  it.each<[string, string, () => string]>([
    ['flags that were set by hand, without a manifest', 'never-applied', () => ''],
    ['a manifest under another key', 'unsigned', () => signedManifest(createSigner())],
    ['a manifest of another stage', 'other-stage', () => signedManifest(signer, provable, { stage: 'prod' })],
    [
      'a manifest that has expired',
      'expired',
      () => signedManifest(signer, provable, { expiresAt: '2020-01-02T00:00:00Z' }),
    ],
    [
      'a manifest that was changed after it was signed',
      'unsigned',
      () =>
        stack.rehearsal.manifest.replace(
          /^(\w+\.)(.)/,
          (_, head: string, first: string) => head + (first === 'e' ? 'f' : 'e'),
        ),
    ],
  ])('closes every route: %s [RP-025]', async (_, reason, manifest) => {
    await write(manifest());
    await closedForAll(reason);
  });

  it('closes every route when nothing was ever applied [RP-025]', async () => {
    const Key = { pk: { S: 'release' }, sk: { S: 'state' } };
    await clients.dynamo.send(new DeleteItemCommand({ TableName: localTableName('settings'), Key }));
    await closedForAll('never-applied');
  });

  it('closes what it is no receipt of, whatever the flags say [RP-019, RP-020, RP-023, RP-025]', async () => {
    await write(signedManifest(signer, ['A', 'C', 'D']));
    clock.advance(PROMISE_MS);
    const found = await answers();
    expect(Object.keys(found).filter((operationId) => found[operationId] === '200')).toEqual([
      'readAttemptReport',
      'readClassCohort',
      'readSchoolGradeCohort',
      'readEquivalence',
      'readReadiness',
    ]);
  });

  it('closes a route with the end of its manifest, in a container that has verified it', async () => {
    const expiresAt = formatInstant(clock.now() + 10_000);
    await write(signedManifest(signer, provable, { expiresAt }));
    await stack.killWorkers();
    expect(reportsAnswerOf(await send(readEquivalence))).toBe('200');
    clock.advance(10_000 - 1);
    expect(reportsAnswerOf(await send(readEquivalence))).toBe('200');
    clock.advance(1);
    expect(reportsAnswerOf(await send(readEquivalence))).toBe(WITHDRAWN);
  });
});

describe('without the mastery engine’s proof with production learners', () => {
  const incomplete = '503 dependency-incomplete mastery_engine';
  const proves = provable.filter((name) => name !== 'mastery_engine_production_learner');
  const views = ['', '?view=standards', '?view=evidence'];

  it('an adaptive diagnostic is shown in no report, no page and no materialization, and every other kind is [RP-026]', async () => {
    const { attempts, candidates } = runs.caller.fixtures('tenant-aurora');
    const report = async (role: keyof typeof attempts, query = ''): Promise<string> => {
      const path = { attemptId: attempts[role] };
      return reportsAnswerOf(await runs.caller.call(readAttemptReport, { path, query }));
    };
    const page = async (query: string): Promise<string> => {
      const path = { candidateSourcedId: candidates.withHistory };
      const reply = await runs.caller.call(listCandidateReports, { path, query });
      const { data, withheld = [] } = listCandidateReports.success.schema.parse(JSON.parse(reply.text));
      return [data.length > 0 ? 'rows' : 'no row', ...withheld.map(({ reason }) => reason)].join(', ');
    };
    const materialize = async (role: keyof typeof attempts): Promise<string> =>
      reportsAnswerOf(await openMaterializer(stack, 'tenant-aurora').request(role).send());
    for (const view of views) expect(await report('diagnostic', view)).toBe('200');
    expect(await page('?testKind=adaptive_diagnostic')).toBe('rows');

    await write(signedManifest(signer, proves));
    // The release is read again, and what was composed is still young enough to be given again.
    clock.advance(FRESH_MS);
    for (const view of views) expect(await report('diagnostic', view)).toBe(incomplete);
    expect(await page('?testKind=adaptive_diagnostic')).toBe('no row, unreleased');
    expect(await materialize('diagnostic')).toBe(incomplete);
    for (const role of ['gatePass', 'gateFail', 'gateIndeterminate', 'formative'] as const)
      expect([role, await report(role)]).toEqual([role, '200']);
    expect(await page('?testKind=mastery_gate')).toBe('rows, unreleased');
    expect(await materialize('gatePass')).toBe('200');
    expect(reportsAnswerOf(await send(readReadiness))).toBe('200');

    await open();
    clock.advance(PROMISE_MS);
    for (const view of views) expect(await report('diagnostic', view)).toBe('200');
    expect(await page('?testKind=adaptive_diagnostic')).toBe('rows');
    expect(await materialize('diagnostic')).toBe('200');
  });
});

describe('a table that gives no answer', () => {
  it('closes a route once the last reading is too old, tells nobody why, and opens it with the first answer [RP-324]', async () => {
    stack.awsFaults.unavailable('dynamodb', 1_000_000);
    expect(reportsAnswerOf(await send(readEquivalence))).toBe('200');
    clock.advance(PROMISE_MS);
    const reply = await send(readEquivalence);
    expect(reportsAnswerOf(reply)).toBe(WITHDRAWN);
    expect(reply.text).not.toMatch(/dynamo|table|item|on demand/i);
    stack.awsFaults.reset();
    expect(reportsAnswerOf(await send(readEquivalence))).toBe('200');
  });

  it('closes a route that has not read it yet', async () => {
    await stack.killWorkers();
    stack.awsFaults.unavailable('dynamodb', 1_000_000);
    expect(reportsAnswerOf(await send(readEquivalence))).toBe(WITHDRAWN);
  });
});

it('costs most requests no call: one at the beginning of a container, then one for every ten seconds in which there are any', async () => {
  await stack.killWorkers();
  const before = stack.awsCalls('dynamodb', 'GetItem');
  for (const reads of [1, 2, 3]) {
    // Nothing else in this function reads DynamoDB.
    for (let n = 0; n < 30; n += 1) expect((await send(readClassCohort)).status).toBe(200);
    expect(stack.awsCalls('dynamodb', 'GetItem') - before).toBe(reads);
    clock.advance(10_000);
  }
});
