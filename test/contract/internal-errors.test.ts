import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localCredentials, localTableName } from '#shared/stage/local-stage.ts';
import { localRegion } from '#shared/stage/local-stage.ts';
import { createEndpointClients } from '#shared/stores/endpoint-clients.ts';
import {
  readSelectionPolicy,
  simulateScoreRecovery,
  startAdaptiveRun,
} from '#shared/contract/mastery/routes.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { openAdaptiveRuns } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns } from '#test/support/adaptive-run.ts';
import { callMastery, problemOf } from '#test/support/mastery-call.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { profile, simulate, simulationBody, simulationIn } from '#test/support/score-recovery.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

// Failures of the mastery engine itself: which of them may be repeated.

/** Puts the functions' clock forward once so many more calls of owners have been answered. */
const jump = { after: Infinity, milliseconds: 0 };
let offset = 0;

let stack: TestStack;
let runs: AdaptiveRuns;
beforeAll(async () => {
  const { fetch } = processRuntime();
  stack = await startTestStack({
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
  runs = openAdaptiveRuns(stack);
});
afterAll(async () => {
  runs.close();
  await stack.close();
});

describe('a simulation whose time runs out', () => {
  const body = () => ({
    ...simulationBody(stack),
    profiles: [
      profile(
        'synthetic:slow',
        stack.seededTenants.get('tenant-aurora')!.fixtures.mastery.banks[0]!.kcGuids,
        () => 0.5,
      ),
    ],
  });

  it('is a 500 that may be repeated and says to split the profiles; nothing was emitted [MA-178, MA-225]', async () => {
    await simulate(stack, { body: body() });
    const { calls } = await callsDuring(stack, async () =>
      simulationIn(await simulate(stack, { body: body() })),
    );
    // All but the event and its read-back.
    jump.after = calls.length - 2;
    jump.milliseconds = 26_000;
    const lines = stack.logs().length;
    const { result, calls: made } = await callsDuring(stack, () => simulate(stack, { body: body() }));
    expect(problemOf(result)).toMatchObject({
      status: 500,
      code: 'internal-error',
      retryable: true,
      detail: expect.stringContaining('Split the profiles over several requests') as string,
    });
    expect(result.headers.get('retry-after')).toBe('5');
    expect(made.map(({ operation }) => operation)).not.toContain('caliper.emit_completion_or_simulation');
    expect(JSON.stringify(stack.logs().slice(lines))).toContain('SIMULATION_OUT_OF_TIME');
  });
});

it('a stored policy that is not the released one is a 500 that no repetition gets past [MA-195, MA-225]', async () => {
  const { selectionPolicyId } = simulationBody(stack);
  const clients = createEndpointClients({
    endpoint: stack.urls.awsUrl,
    region: localRegion,
    credentials: localCredentials,
  });
  const damaged = await clients.dynamo.send(
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
  expect(damaged).toBeDefined();
  clients.destroy();
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
