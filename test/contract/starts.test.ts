import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { variablesOf } from '#local/stack/function-variables.ts';
import { isGated } from '#shared/contract/grants.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { routes } from '#shared/contract/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import { createAwsClients, processRuntime } from '#shared/lambda/process-runtime.ts';
import { startFunction } from '#shared/lambda/start-function.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import { openAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { sourceOf } from '#test/support/in-process.ts';
import { proxyEvent } from '#test/support/lambda.ts';
import { useTestStack } from '#test/support/stack.ts';

const stack = useTestStack();
afterEach(() => {
  stack.awsFaults.reset();
});

type Calls = Readonly<Record<string, number>>;
const counted = [
  ['dynamodb', 'GetItem'],
  ['dynamodb', 'Query'],
  ['kms', 'Decrypt'],
] as const;

/** A function that starts as in Lambda or, for comparison, as in a test that only binds it; and what each step asked. */
function open(inLambda: boolean, row: Route = startAdaptiveRun) {
  const environment: Record<string, string> = {
    ...variablesOf(row, {
      awsUrl: stack.urls.awsUrl,
      gatewayUrl: new URL(stack.urls.masteryUrl).origin,
      releaseKey: stack.rehearsal.releaseKey,
    }),
    ...(inLambda ? { AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand' } : {}),
  };
  const own = processRuntime();
  let keySets = 0;
  const runtime: Runtime = {
    ...own,
    environment,
    aws: createAwsClients(() => ({
      endpoint: environment['AWS_ENDPOINT_URL']!,
      region: environment['AWS_REGION']!,
      credentials: {
        accessKeyId: environment['AWS_ACCESS_KEY_ID']!,
        secretAccessKey: environment['AWS_SECRET_ACCESS_KEY']!,
      },
    })),
    fetch: (url, request) => {
      if (url === environment['TOKEN_JWKS_URL']) keySets += 1;
      return own.fetch(url, request);
    },
    write: () => true,
  };
  const calls = (): Calls => ({
    keySets,
    ...Object.fromEntries(
      counted.map(([service, operation]) => [operation, stack.awsCalls(service, operation)]),
    ),
  });
  const step = async <T>(work: () => Promise<T>): Promise<readonly [T, Calls]> => {
    const before = calls();
    const result = await work();
    const made = Object.entries(calls()).map(([name, count]) => [name, count - (before[name] ?? 0)] as const);
    return [result, Object.fromEntries(made)];
  };
  type Handler = (event: APIGatewayProxyEvent, context: object) => Promise<APIGatewayProxyResult>;
  return {
    start: async () => {
      // SAFETY: what every handler file exports; the routes that a test calls are not streamed.
      const { bind } = (await import(/* @vite-ignore */ sourceOf(row))) as {
        bind: (given: Runtime) => Handler;
      };
      return step(() => startFunction(bind, runtime));
    },
    send: async (handler: Handler) => {
      const token = await stack.tokenFor('tenant-aurora', [row.scope]);
      const headers = { Authorization: `Bearer ${token}`, 'Idempotency-Key': crypto.randomUUID() };
      const event = proxyEvent(row, { body: openAdaptiveRuns(stack).startBody() }, headers);
      const context = { awsRequestId: crypto.randomUUID(), getRemainingTimeInMillis: () => 29_000 };
      return step(async () => (await handler(event, context)).statusCode);
    },
  };
}

const added = (one: Calls, other: Calls): Calls =>
  Object.fromEntries(Object.entries(one).map(([name, count]) => [name, count + (other[name] ?? 0)]));

describe('a function that Lambda starts', () => {
  it('has read the keys of issuer and stage when its first request comes, which asks for nothing again', async () => {
    const plain = open(false);
    const [bound, none] = await plain.start();
    expect(none).toEqual({ keySets: 0, GetItem: 0, Query: 0, Decrypt: 0 });
    const [status, whole] = await plain.send(bound);

    const prepared = open(true);
    const [handler, early] = await prepared.start();
    expect(early).toMatchObject({ keySets: 1, Query: whole['Query'] });
    expect(early['Decrypt']).toBeGreaterThan(0);
    const [firstStatus, first] = await prepared.send(handler);
    expect([status, firstStatus]).toEqual([201, 201]);
    expect(first).toMatchObject({ keySets: 0, Query: 0 });
    expect(added(early, first)).toEqual(whole);
  });

  it.each(routes)(
    'has read what every request of $operationId needs, and nothing of a tenant',
    async (row) => {
      const source = await readFile(sourceOf(row), 'utf8');
      expect(source).toMatch(/^export const handler = await startFunction\(bind, processRuntime\(\)\);$/m);
      const purposes = row.lambda.grants.filter((grant) => grant.startsWith('keys:')).length;
      const [, { keySets, GetItem, Query, Decrypt = 0 }] = await open(true, row).start();
      expect([keySets, GetItem, Query]).toEqual([1, isGated(row) ? 1 : 0, purposes]);
      expect(Decrypt > 0).toBe(purposes > 0);
    },
  );

  it('starts while a store is out, keeps nothing of the failure, and serves once the store is back', async () => {
    for (const store of ['settings', 'kms'] as const) {
      const { start, send } = open(true);
      stack.awsFaults.break(store, 'is down');
      const [handler] = await start();
      stack.awsFaults.reset();
      expect((await send(handler))[0], store).toBe(201);
    }
  });
});
