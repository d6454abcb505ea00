import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { localBucketName, localStage, localTableName } from '#shared/stage/local-stage.ts';
import { provable, type Gate, type GateName } from '#shared/contract/gates.ts';
import { alignmentReport } from '#shared/contract/reports/alignment-report.ts';
import { readAlignmentReport } from '#shared/contract/reports/routes/read-alignment-report.ts';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import { readEquivalence } from '#shared/contract/reports/routes/read-equivalence.ts';
import { readSelectionPolicy } from '#shared/contract/mastery/routes/read-selection-policy.ts';
import type { Route } from '#shared/contract/route.ts';
import { routesOf, type OperationId } from '#shared/contract/routes.ts';
import type { GateFlags } from '#shared/release/release-state.ts';
import { FRESH_MS } from '#shared/release/watch-release.ts';
import { applyManifest, withdraw } from '#ops/gates/apply.ts';
import { createReleaseStore } from '#ops/gates/release-store.ts';
import { releaseManifest } from '#shared/release/manifest.ts';
import type { GatewayCall, GatewayReply } from '#test/support/gateway-call.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import { lazily } from '#test/support/lazily.ts';
import { createSigner, openFlags, signedManifest } from '#test/support/release.ts';
import { reportsAnswerOf, reportsProblemOf } from '#test/support/reports-call.ts';
import { clientsOf, useTestStack } from '#test/support/stack.ts';
import { openWorlds } from '#test/lemmas/worlds.ts';

/** Within so long a withdrawal shows. */
const PROMISE_MS = 30_000;
const WITHDRAWN = '503 dependency-unavailable unknown';

const signer = createSigner();
/** The clock of the functions, which stands still until it is put forward, while their containers stay warm: ahead, so that no token comes from its future. */
let now = Date.now() + 5 * 60_000;
const advance = (milliseconds: number): void => {
  now += milliseconds;
};
const stack = useTestStack({ inProcess: () => ({ now: () => now }), signer: signer.privateKey });
const store = lazily(() =>
  createReleaseStore({
    ...clientsOf(stack),
    stage: localStage,
    settingsTable: localTableName('settings'),
    bucket: () => Promise.resolve(localBucketName),
  }),
);
const runs = lazily(() => openImprovementRuns(stack));
const worlds = lazily(() => openWorlds(stack));
let receiptUrl: string;
beforeAll(async () => {
  const shown = await send(readAlignmentReport);
  receiptUrl = alignmentReport.parse(JSON.parse(shown.text)).receipt.downloadUrl;
});

/** Sends a request that is served while everything is open. */
async function send({ operationId }: Route, change: GatewayCall = {}): Promise<GatewayReply> {
  const operation = operationId as OperationId;
  return worlds.send(operation, { ...(await worlds.request(operation)), ...change });
}

/** What every route of the reports service returns, in one line each. */
async function answers(): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const route of routesOf('reports')) found[route.operationId] = reportsAnswerOf(await send(route));
  return found;
}

const all = (answer: (route: Route) => string): Readonly<Record<string, string>> =>
  Object.fromEntries(routesOf('reports').map((route) => [route.operationId, answer(route)]));
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
  advance(PROMISE_MS);
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
      advance(PROMISE_MS);
      const waiting = (route: Route): boolean => route.gates.includes(gate);
      expect(await answers()).toEqual(all((route) => (waiting(route) ? WITHDRAWN : '200')));
      await open();
      advance(PROMISE_MS);
      expect(await answers()).toEqual(whole);
    },
  );

  it('closes everything with the manifest itself, and nothing of the mastery engine [RP-025]', async () => {
    await close('E');
    advance(PROMISE_MS);
    expect(await answers()).toEqual(all(() => WITHDRAWN));
    expect((await send(readSelectionPolicy)).status).toBe(200);
  });

  it('asks to come again and tells no more: no caller without a token or with a wrong request learns of it [RP-324]', async () => {
    await close('D');
    advance(PROMISE_MS);
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

  it('closes receipts too, to whoever holds a link [RP-018]', async () => {
    const fetched = async (): Promise<number> => (await fetch(receiptUrl)).status;
    await close('F');
    await stack.killWorkers('readReceipt');
    expect(await fetched()).toBe(503);
  });
});

it('without the mastery engine’s proof with production learners a warm container shows an adaptive diagnostic no more, and with it again, it does [RP-026]', async () => {
  const views = ['', '?view=standards', '?view=evidence'];
  const path = { attemptId: runs.caller.fixtures('tenant-aurora').attempts.diagnostic };
  const found = async (): Promise<readonly string[]> => {
    const replies = views.map((query) => runs.caller.call(readAttemptReport, { path, query }));
    return (await Promise.all(replies)).map(reportsAnswerOf);
  };
  expect(await found()).toEqual(views.map(() => '200'));
  const proves = provable.filter((name) => name !== 'mastery_engine_production_learner');
  await write(signedManifest(signer, proves));
  // The release is read again, and what was composed is still young enough to be given again.
  advance(FRESH_MS);
  expect(await found()).toEqual(views.map(() => '503 dependency-incomplete mastery_engine'));
  await open();
  advance(PROMISE_MS);
  expect(await found()).toEqual(views.map(() => '200'));
});
