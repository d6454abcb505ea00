import { describe, expect, it } from 'vitest';
import { advanceAdaptiveRun } from '#shared/contract/mastery/routes/advance-adaptive-run.ts';
import { inspectAdaptiveRun } from '#shared/contract/mastery/routes/inspect-adaptive-run.ts';
import { readScaleCalibration } from '#shared/contract/mastery/routes/read-scale-calibration.ts';
import { readSelectionPolicy } from '#shared/contract/mastery/routes/read-selection-policy.ts';
import { simulateScoreRecovery } from '#shared/contract/mastery/routes/simulate-score-recovery.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import type { Route } from '#shared/contract/route.ts';
import { useAdaptiveRuns, type RunGiven } from '#test/support/adaptive-run.ts';
import { callMastery } from '#test/support/mastery-call.ts';
import {
  callsDuring,
  countedCalls,
  depthOf,
  slowDown,
  takenBy,
  withinBudget,
} from '#test/support/platform-calls.ts';
import { simulate, simulationBody, simulationIn } from '#test/support/score-recovery.ts';
import { useTestStack } from '#test/support/stack.ts';

const stack = useTestStack();
const runs = useAdaptiveRuns(stack);

/** Does one request with every owner slow, and holds its calls to the row; the calls of the bank's components are side by side. */
async function slowly(route: Route, request: () => Promise<RunGiven>): Promise<RunGiven> {
  await slowDown(stack);
  const { result, calls } = await callsDuring(stack, request);
  await stack.control('DELETE', 'faults');
  expect(withinBudget(route, calls)).toEqual({ calls: 0, depth: 0 });
  expect(calls.length - countedCalls(calls)).toBe(result.body.kcClassifications.length);
  // What is published goes out one after another: the measure does see a chain.
  if (result.body.status === 'completed') expect(depthOf(calls)).toBeGreaterThanOrEqual(4);
  return result;
}

/** What a start pins, each read twice. */
const pinned = [
  'content.read_test_spec',
  'content.validate_adaptive_bank_identity',
  'bank.read_adaptive_pool_manifest',
  'qti.read_adaptive_pool_root',
];

describe('the upstream calls of a route, one by one and one after another, stay within its row’s budget', () => {
  it('start, inspect and advance, each with a call for every component [MA-157]', async () => {
    const { body } = await slowly(startAdaptiveRun, () => runs.start().sendForRun());
    await runs.play(body);
    const inspecting = runs.inspect(body.continuationToken);
    const { etag } = await slowly(inspectAdaptiveRun, () => inspecting.sendForRun());
    const advancing = runs.advance(body.continuationToken, etag);
    const { body: second } = await slowly(advanceAdaptiveRun, () => advancing.sendForRun());
    expect(second.offeredItem?.sequence).toBe(2);
  });

  it.each(['production_learner', 'owner_conformance'] as const)(
    'the advance that finishes a run, which publishes one thing after another (%s)',
    async (mode) => {
      const { advance } = await runs.playedOut(mode);
      const { body } = await slowly(advanceAdaptiveRun, () => advance.sendForRun());
      expect(body.status).toBe('completed');
    },
  );

  it('a simulation, which asks about every component and publishes in the end', async () => {
    const body = simulationBody(stack);
    await slowDown(stack);
    const { result, calls } = await callsDuring(stack, () => simulate(stack, { body }));
    await stack.control('DELETE', 'faults');
    expect(simulationIn(result).profilesTotal).toBe(body.profiles.length);
    // The calls that the budget has left are for readings that contradict.
    expect(takenBy(calls)).toEqual({ calls: 11, depth: 6 });
    expect(withinBudget(simulateScoreRecovery, calls)).toEqual({ calls: 0, depth: 0 });
    expect(calls.length - countedCalls(calls)).toBe(Object.keys(body.profiles[0]!.knownMastery).length);
  });

  it('a simulation, and a start, whose second readings of the pool are made again', async () => {
    const body = simulationBody(stack);
    for (const [route, work] of [
      [simulateScoreRecovery, () => simulate(stack, { body })],
      [startAdaptiveRun, () => runs.start().sendForRun()],
    ] as const) {
      for (const operation of pinned) await stack.fault({ operation, kind: 'version_drift', skip: 1 });
      const { calls } = await callsDuring<unknown>(stack, work);
      await stack.faultsStruck();
      expect(countedCalls(calls)).toBe(15);
      expect(withinBudget(route, calls)).toEqual({ calls: 0, depth: 0 });
    }
  });

  it('an inspection and an advance that find every pinned document changed, and read it again [MA-066, MA-157]', async () => {
    const first = await runs.start().sendForRun();
    const { etag } = await runs.playAndInspect(first.body);
    for (const [route, request] of [
      [inspectAdaptiveRun, runs.inspect(first.body.continuationToken)],
      [advanceAdaptiveRun, runs.advance(first.body.continuationToken, etag)],
    ] as const) {
      for (const operation of pinned) await stack.fault({ operation, kind: 'version_drift' });
      const { calls } = await callsDuring(stack, () => request.sendForRun());
      await stack.faultsStruck();
      expect(countedCalls(calls)).toBeGreaterThanOrEqual(10);
      expect(withinBudget(route, calls)).toEqual({ calls: 0, depth: 0 });
    }
  });

  it('the configuration reads ask no owner at all', async () => {
    const { selectionPolicyId, scaleCalibrationId } = runs.startBody();
    for (const [route, path] of [
      [readSelectionPolicy, { policyId: selectionPolicyId }],
      [readScaleCalibration, { calibrationId: scaleCalibrationId }],
    ] as const) {
      const { result, calls } = await callsDuring(stack, () => callMastery(stack, route, { path }));
      expect(result.status).toBe(200);
      expect(calls).toEqual([]);
    }
  });
});
