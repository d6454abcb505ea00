import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AdaptiveRun } from '#shared/contract/mastery/adaptive-run.ts';
import { sentenceOf, TIMED_BANK, useAdaptiveRuns, type RunGiven } from '#test/support/adaptive-run.ts';
import { soundSeed } from '#test/support/sound-seed.ts';
import { useTestStack } from '#test/support/stack.ts';

/** Long enough that no slow machine uses it up by itself. */
const BUDGET_SECONDS = 600;
const TENANT = 'tenant-aurora';
const seed = await soundSeed();
const banks = seed.banks.map((bank) => ({
  ...bank,
  policy: bank.name === TIMED_BANK ? { ...bank.policy, timeBudgetSeconds: BUDGET_SECONDS } : bank.policy,
  // No run is as sure as that before it stops.
  calibration: { ...bank.calibration, maximumReportableError: 1 },
}));

/** How far the engine's clock is ahead of the machine's. */
let ahead = 0;
const stack = useTestStack({
  seed: { ...seed, banks },
  inProcess: () => ({ now: () => Date.now() + ahead }),
});
const runs = useAdaptiveRuns(stack);
beforeEach(() => {
  ahead = 0;
});
afterEach(async () => {
  await stack.control('POST', 'reset');
});

const startBody = () => runs.startBody({ bank: TIMED_BANK });
const qti = (conduct: object) => stack.control('POST', 'qti', { tenantId: TENANT, ...conduct });
/** Lets time go by on every clock. */
async function pass(seconds: number): Promise<void> {
  ahead += seconds * 1000;
  await stack.control('POST', 'clock', { advanceSeconds: seconds });
}
async function advance(run: AdaptiveRun): Promise<RunGiven> {
  const { etag } = await runs.inspect(run.continuationToken).sendForRun();
  return runs.advance(run.continuationToken, etag).sendForRun();
}
/** A run with one answer consumed and its second item offered. */
const underWay = async () => runs.answer(await runs.start(startBody()).sendForRun());
const evidenceOf = ({ kcClassifications }: AdaptiveRun) => [
  ...new Set(kcClassifications.flatMap(({ evidenceItemRefs }) => evidenceItemRefs)),
];
const overInTime = { status: 'completed', stopReason: 'time_budget', offeredItem: null };

describe('a time budget', () => {
  it('ends a run whose item is not answered, without that item [MA-111, MA-198]', async () => {
    const run = await underWay();
    await pass(BUDGET_SECONDS);
    const stopped = await advance(run.body);
    expect(stopped.body).toMatchObject(overInTime);
    expect(evidenceOf(stopped.body)).toEqual(evidenceOf(run.body));
    expect(await runs.recordOf(stopped)).toMatchObject({
      stopReason: 'time_budget',
      administeredItemCount: 1,
    });
    expect((await runs.recordOf(stopped)).deliverySessionIds).not.toContain(
      run.body.offeredItem!.deliverySessionId,
    );
  });

  it('goes on until then, and says when it ends [MA-111]', async () => {
    const earliest = Date.now();
    const started = await runs.start(startBody()).sendForRun();
    const latest = Date.now();
    const end = Date.parse(started.body.timeBudgetEndsAt!);
    expect(end).toBeGreaterThanOrEqual(earliest + BUDGET_SECONDS * 1000);
    expect(end).toBeLessThanOrEqual(latest + BUDGET_SECONDS * 1000);
    await pass(BUDGET_SECONDS - 60);
    const second = await runs.answer(started);
    expect(second.body).toMatchObject({
      status: 'in_progress',
      offeredItem: { sequence: 2 },
      timeBudgetEndsAt: started.body.timeBudgetEndsAt,
    });
    const untimed = await runs.start(runs.startBody()).sendForRun();
    expect(untimed.body).not.toHaveProperty('timeBudgetEndsAt');
  });

  it('waits for an answer that is handed in within it and not scored yet, and then counts it [MA-111]', async () => {
    const run = await underWay();
    await qti({ scores: 'later' });
    await runs.play(run.body);
    await pass(BUDGET_SECONDS + 60);
    const waiting = await advance(run.body);
    expect(waiting.body).toMatchObject({ status: 'in_progress', offeredItem: run.body.offeredItem });
    expect(waiting.body.continuationToken).toBe(run.body.continuationToken);
    await qti({ scores: 'at_once' });
    const stopped = await advance(run.body);
    expect(stopped.body).toMatchObject(overInTime);
    expect(evidenceOf(stopped.body)).toHaveLength(2);
  });

  it('does not wait for one that is handed in after it [MA-111]', async () => {
    const run = await underWay();
    await qti({ scores: 'later' });
    await pass(BUDGET_SECONDS);
    const stopped = await runs.answer(run);
    expect(stopped.body).toMatchObject(overInTime);
    // What counts was fixed at the stop.
    await qti({ scores: 'at_once' });
    const again = await runs.inspect(stopped.body.continuationToken).sendForRun();
    expect(again.body.kcClassifications).toEqual(stopped.body.kcClassifications);
    expect(again.etag).toBe(stopped.etag);
  });

  it('is judged by the creation of the advance: a replay offers what it offered before [MA-111, MA-190]', async () => {
    const started = await runs.start(startBody()).sendForRun();
    const { etag } = await runs.playAndInspect(started.body);
    const request = runs.advance(started.body.continuationToken, etag);
    const { body: second } = await request.sendForRun();
    await runs.play(second);
    await pass(BUDGET_SECONDS);
    const { offeredItem, continuationExpiresAt } = (await request.sendForRun()).body;
    expect([offeredItem, continuationExpiresAt]).toEqual([second.offeredItem, second.continuationExpiresAt]);
  });

  it('loses no answer when a predecessor token is advanced again after it [MA-073, MA-111]', async () => {
    const started = await runs.start(startBody()).sendForRun();
    const second = await runs.answer(started);
    await runs.play(second.body);
    await pass(BUDGET_SECONDS);
    const again = await advance(started.body);
    expect(again.body.offeredItem).toEqual(second.body.offeredItem);
    // The run goes on, and says of its scale what it said before.
    expect(sentenceOf(again)).toBe(sentenceOf(second));
    const stopped = await advance(again.body);
    expect(stopped.body).toMatchObject(overInTime);
    expect(evidenceOf(stopped.body)).toHaveLength(2);
  });
});
