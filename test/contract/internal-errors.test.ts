import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { damagingCredentials } from '#local/aws/access.ts';
import { localTableName } from '#shared/stage/local-stage.ts';
import { readSelectionPolicy } from '#shared/contract/mastery/routes/read-selection-policy.ts';
import { simulateScoreRecovery } from '#shared/contract/mastery/routes/simulate-score-recovery.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { callMastery, problemOf } from '#test/support/mastery-call.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { simulate, simulationBody } from '#test/support/score-recovery.ts';
import { clientsOf, useTestStack } from '#test/support/stack.ts';

// Failures of the mastery engine itself: which of them may be repeated.

/** Puts the functions' clock forward once so many more calls of owners have been answered. */
const jump = { after: Infinity, milliseconds: 0 };
let offset = 0;

const { fetch } = processRuntime();
const stack = useTestStack({
  inProcess: () => ({
    now: () => Date.now() + offset,
    fetch: async (url, request) => {
      const response = await fetch(url, request);
      jump.after -= 1;
      if (jump.after === 0) offset += jump.milliseconds;
      return response;
    },
  }),
});
const runs = useAdaptiveRuns(stack);

it('a simulation whose time runs out is a 424 that may be repeated and says to split the profiles; nothing was emitted [MA-178, MA-184]', async () => {
  const simulated = () => callsDuring(stack, () => simulate(stack, { body: simulationBody(stack) }));
  await simulated();
  const { result: calm, calls } = await simulated();
  expect(calm.status).toBe(200);
  // All but the event and its read-back.
  jump.after = calls.length - 2;
  jump.milliseconds = 26_000;
  const lines = stack.logs().length;
  const { result, calls: made } = await simulated();
  expect(problemOf(result)).toMatchObject({
    status: 424,
    code: 'upstream-unavailable',
    retryable: true,
    upstream: { service: 'platform_auth', operation: 'platform_auth.own_computation' },
    detail: expect.stringContaining('Split the profiles over several requests') as string,
  });
  expect(result.headers.get('retry-after')).toBe('5');
  expect(made.map(({ operation }) => operation)).not.toContain('caliper.emit_completion_or_simulation');
  expect(
    stack
      .logs()
      .slice(lines)
      .map(({ line }) => line),
  ).toContainEqual(expect.objectContaining({ code: 'SIMULATION_OUT_OF_TIME', simulated: 0 }));
});

it('a stored policy that is not the released one is a 500 that no repetition gets past [MA-195, MA-225]', async () => {
  const { selectionPolicyId } = simulationBody(stack);
  await clientsOf(stack, damagingCredentials).dynamo.send(
    new UpdateItemCommand({
      TableName: localTableName('records'),
      Key: {
        pk: { S: `tenant#tenant-aurora#policy#${selectionPolicyId}` },
        sk: { S: 'document' },
      },
      UpdateExpression: 'SET document = :damaged',
      ConditionExpression: 'attribute_exists(document)',
      ExpressionAttributeValues: { ':damaged': { S: '{}' } },
    }),
  );
  await stack.killWorkers();
  for (const [route, call] of [
    [readSelectionPolicy, { path: { policyId: selectionPolicyId } }],
    [startAdaptiveRun, { body: runs.startBody() }],
    [simulateScoreRecovery, { body: simulationBody(stack) }],
  ] as const) {
    const { result, calls } = await callsDuring(stack, () => callMastery(stack, route, call));
    expect(problemOf(result)).toMatchObject({ status: 500, code: 'internal-error', retryable: false });
    expect(result.headers.has('retry-after')).toBe(false);
    expect(result.text).not.toContain('checksum');
    expect(calls).toEqual([]);
  }
});
