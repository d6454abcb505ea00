import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  advanceAdaptiveRun,
  inspectAdaptiveRun,
  readScaleCalibration,
  readSelectionPolicy,
  simulateScoreRecovery,
  startAdaptiveRun,
} from '#shared/contract/mastery/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import { openAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns, RunGiven } from '#test/support/adaptive-run.ts';
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
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

let stack: TestStack;
let runs: AdaptiveRuns;
beforeAll(async () => {
  stack = await startTestStack();
  runs = openAdaptiveRuns(stack);
});
afterAll(async () => {
  runs.close();
  await stack.close();
});

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

describe('the upstream calls of a route, one by one and one after another, stay within its row’s budget', () => {
  it.each(['production_learner', 'owner_conformance'] as const)(
    'start, inspect, advance, and the advance that finishes the run (%s)',
    async (mode) => {
      let run = await slowly(startAdaptiveRun, () => runs.start(runs.startBody({ mode })).sendForRun());
      while (run.body.status !== 'completed') {
        const { continuationToken, offeredItem } = run.body;
        await runs.play(run.body);
        // The second item and the last one stand for all: without the delay, nothing could be said of the order.
        const measured = offeredItem?.sequence === 2 || offeredItem?.sequence === 5;
        const inspecting = () => runs.inspect(continuationToken).sendForRun();
        const { etag } = measured ? await slowly(inspectAdaptiveRun, inspecting) : await inspecting();
        const advancing = () => runs.advance(continuationToken, etag).sendForRun();
        run = measured ? await slowly(advanceAdaptiveRun, advancing) : await advancing();
      }
    },
  );

  it('a simulation, which asks about every component and publishes in the end', async () => {
    const body = simulationBody(stack);
    await slowDown(stack);
    const { result, calls } = await callsDuring(stack, () => simulate(stack, { body }));
    await stack.control('DELETE', 'faults');
    expect(simulationIn(result).profilesTotal).toBe(body.profiles.length);
    expect(takenBy(calls)).toEqual(simulateScoreRecovery.budget);
    expect(calls.length - countedCalls(calls)).toBe(Object.keys(body.profiles[0]!.knownMastery).length);
  });

  it('the configuration reads ask no owner at all', async () => {
    const { selectionPolicyId, scaleCalibrationId } = runs.startBody() as Record<string, string>;
    for (const [route, path] of [
      [readSelectionPolicy, { policyId: selectionPolicyId! }],
      [readScaleCalibration, { calibrationId: scaleCalibrationId! }],
    ] as const) {
      const { result, calls } = await callsDuring(stack, () => callMastery(stack, route, { path }));
      expect(result.status).toBe(200);
      expect(calls).toEqual([]);
    }
  });
});
