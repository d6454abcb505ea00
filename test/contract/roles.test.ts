import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { PutParameterCommand } from '@aws-sdk/client-ssm';
import { beforeAll, expect, it } from 'vitest';
import { bind as bindWatcher } from '#functions/reports/background/watch-stage/handler.ts';
import { bind as bindRotation } from '#functions/reports/background/rotate-keys/handler.ts';
import { bind as bindCanary } from '#functions/reports/background/run-canary/handler.ts';
import { emptyAccount } from '#local/aws/account.ts';
import { accessKeyOf } from '#local/aws/resources.ts';
import { variablesOf } from '#local/stack/function-variables.ts';
import { analyzeRun, rotateKeys, runCanary, sweepRuns, watchStage } from '#shared/contract/background.ts';
import type { BackgroundFunction } from '#shared/contract/background.ts';
import { deployedFunctions } from '#shared/contract/functions.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import { PROMOTE_AFTER_MS, RETIRE_AFTER_MS } from '#shared/keys/key-states.ts';
import { createAwsClients, processRuntime } from '#shared/lambda/process-runtime.ts';
import {
  localAccount,
  localCredentials,
  localRegion,
  localStage,
  localTableName,
} from '#shared/stage/local-stage.ts';
import { alarmTopicOutputs, apiName, stackIds, stackName } from '#shared/stage/stack-names.ts';
import { canaryCredential } from '#shared/contract/grants.ts';
import { openAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { openWorlds, operations } from '#test/lemmas/worlds.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import { lazily } from '#test/support/lazily.ts';
import { clientsOf, startTestStack, useTestStack } from '#test/support/stack.ts';

// Every function does everything that its role allows, so that a permission which nothing needs is noticed. That a role allows everything its function
// does is what every test on a stack shows (test/support/stack.ts).

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** How far the clocks of the functions without a caller are ahead. */
const ahead: Record<string, number> = {};
/** The worker's time runs out once it has delivered something. */
let isInterrupted = false;

const own = processRuntime();
const stack = useTestStack({
  inProcess: (name) => ({
    now: () => Date.now() + (ahead[name] ?? 0),
    fetch: async (url, request) => {
      const response = await own.fetch(url, request);
      if (isInterrupted && name === analyzeRun.operationId && request.method !== 'GET') {
        isInterrupted = false;
        ahead[name] = analyzeRun.lambda.timeoutSeconds * 1000 - MINUTE / 2;
      }
      return response;
    },
  }),
});
const runs = lazily(() => openImprovementRuns(stack));

async function serveEveryRoute(): Promise<void> {
  const worlds = openWorlds(stack);
  for (const { operation, route } of operations) {
    const reply = await worlds.send(operation, await worlds.request(operation));
    expect(reply.status, operation).toBe(route.success.status);
  }
  // A page that is not the last one, so that a cursor is sealed, and one that it leads to.
  const orders = { ...(await worlds.request('listRevisionOrders')), query: '?limit=1' };
  expect((await worlds.send('listRevisionOrders', orders)).text).toContain('"nextCursor":"');
}

/** Runs that overlap, one that is handed on, and a receipt of it. */
async function analyze(): Promise<void> {
  const administration = runs.administration('spring-gate');
  stack.improvement.pause();
  const first = runs.request(administration);
  await first.succeed();
  await runs.analyze(administration);
  isInterrupted = true;
  stack.improvement.resume();
  await stack.improvement.settled();
  expect(isInterrupted).toBe(false);
  const { run } = await first.succeed();
  const link = JSON.stringify(run).match(/"downloadUrl":"([^"]+)"/)?.[1] ?? '';
  expect((await fetch(link)).status).toBe(200);
}

/** One run that is sent on, and given up two weeks later. */
async function sweep(): Promise<void> {
  stack.improvement.pause();
  const run = await runs.analyze(runs.administration('spring-gate'));
  await runs.leaveAlone(run);
  await stack.improvement.sweep();
  ahead[sweepRuns.operationId] = 15 * DAY;
  await stack.improvement.sweep();
  expect((await runs.progress(run)).run.state).toBe('failed');
}

/** What a function on a schedule runs on, with its own role. */
function runtimeOf(row: BackgroundFunction): Runtime {
  const { urls, rehearsal } = stack;
  const { awsUrl: endpoint } = urls;
  const credentials = { ...localCredentials, accessKeyId: accessKeyOf(row) };
  return {
    ...own,
    write: () => undefined,
    environment: variablesOf(row, {
      awsUrl: endpoint,
      gatewayUrl: new URL(urls.reportsUrl).origin,
      releaseKey: rehearsal.releaseKey,
    }),
    aws: createAwsClients(() => ({ endpoint, region: localRegion, credentials })),
  };
}

/** A look at a stage whose stacks, APIs and topics exist. The local stage has an expected traffic, so that its quotas are read. */
async function watch(): Promise<void> {
  const { stacks, subscriptions, restApis } = stack.awsAccount ?? emptyAccount(undefined);
  for (const id of stackIds) {
    const topic = `arn:aws:sns:${localRegion}:${localAccount}:${stackName(localStage, id)}-Alarms`;
    const hasTopics = id === 'operations' || id === 'documentation';
    stacks.set(stackName(localStage, id), {
      ...{ status: 'CREATE_COMPLETE', terminationProtection: true },
      outputs: hasTopics
        ? Object.fromEntries(Object.values(alarmTopicOutputs).map((name) => [name, topic]))
        : {},
    });
    subscriptions.set(topic, [{ endpoint: 'operators@school.org', confirmed: true }]);
  }
  restApis.set(apiName(localStage, 'reports'), { hasFirewall: true });
  const runtime = runtimeOf(watchStage);
  const settings: unknown = JSON.parse(runtime.environment['STAGE_SETTINGS'] ?? '');
  const expected = { runsPerMonth: 1, reportsPerMonth: 1 };
  const lines: string[] = [];
  const call = bindWatcher({
    ...runtime,
    environment: {
      ...runtime.environment,
      STAGE_SETTINGS: JSON.stringify({ ...(settings as object), expected }),
    },
    write: (line) => lines.push(line),
  });
  await call({}, { awsRequestId: 'f-1', getRemainingTimeInMillis: () => MINUTE });
  expect(lines.join('')).not.toContain('not-checked');
}

/** A whole rotation: begun, ended, and the old keys retired. */
async function rotate(): Promise<void> {
  let now = Date.now();
  const call = bindRotation({ ...runtimeOf(rotateKeys), now: () => now });
  for (const passed of [31 * DAY, PROMOTE_AFTER_MS, RETIRE_AFTER_MS]) {
    now += passed;
    await call({}, { awsRequestId: 'f-1', getRemainingTimeInMillis: () => MINUTE });
  }
}

/** A run of the canary, whose token is its only store. */
async function runTheCanary(): Promise<void> {
  const { urls, rehearsal } = stack;
  const { awsUrl: endpoint } = urls;
  const { ssm } = clientsOf(stack);
  const parameter = { Name: canaryCredential(localStage), Type: 'SecureString', Value: 'a token' } as const;
  await ssm.send(new PutParameterCommand(parameter));
  const credentials = { ...localCredentials, accessKeyId: accessKeyOf(runCanary) };
  const ids = openAdaptiveRuns(stack).startBody({ mode: 'owner_conformance' });
  const call = bindCanary({
    ...own,
    write: () => undefined,
    environment: {
      ...variablesOf(runCanary, {
        awsUrl: endpoint,
        gatewayUrl: new URL(urls.reportsUrl).origin,
        releaseKey: rehearsal.releaseKey,
      }),
      CANARY_TENANT: 'tenant-canary',
      CANARY_RUN: JSON.stringify(ids),
    },
    aws: createAwsClients(() => ({ endpoint, region: localRegion, credentials })),
  });
  await call({}, { awsRequestId: 'f-1', getRemainingTimeInMillis: () => MINUTE });
}

beforeAll(async () => {
  await runTheCanary();
  await analyze();
  await serveEveryRoute();
  await sweep();
  await rotate();
  await watch();
}, 300_000);

it.each(deployedFunctions.map(({ operationId }) => operationId))(
  '%s has used every permission of its role',
  (operationId) => {
    const { used, granted } = stack.access.of(operationId);
    expect(used).toStrictEqual(granted);
  },
);

it('a stack fails at its end if a function was denied a call, even if no answer shows it', async () => {
  const other = await startTestStack();
  const credentials = { ...localCredentials, accessKeyId: accessKeyOf(rotateKeys) };
  const { dynamo } = clientsOf(other, credentials);
  const read = new GetItemCommand({
    TableName: localTableName('records'),
    Key: { pk: { S: 'a' }, sk: { S: 'b' } },
  });
  await expect(dynamo.send(read)).rejects.toMatchObject({ name: 'AccessDeniedException' });
  await expect(other.close()).rejects.toThrow('rotateKeys is not authorized to perform: dynamodb:GetItem');
});
