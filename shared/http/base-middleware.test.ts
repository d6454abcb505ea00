import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { readProbe } from '#test/support/probe-routes.ts';
import { baseMiddleware, pipelineOf } from './base-middleware.ts';
import type { Pipeline } from './base-middleware.ts';
import { correlation } from './stages/correlation.ts';
import { responseCheck } from './stages/response-check.ts';
import type { Stage } from './stages/stage.ts';

/** What no stage may do, and no type can hold a package's middleware to. */
const unchecked = { statusCode: 200, headers: {}, body: '{"secret":true}', gzip: false };
const returning = (() => unchecked) as unknown as () => undefined;

function ladderWith(stage: Stage): Pipeline {
  const route = readProbe('reports');
  const { service, operationId } = route;
  const opened = correlation(
    { service, operationId, transfer: 'buffered' },
    { ...processRuntime(), write: () => undefined },
  );
  const ladder = baseMiddleware({ correlation: opened, service }, () =>
    Promise.resolve({ body: { seen: {} } }),
  );
  return pipelineOf(ladder.use(stage).use(responseCheck({ route, exchangeOf: opened.exchangeOf })));
}

// SAFETY: a ladder without a token reads no more than this of an event and a context.
const event = { headers: {}, multiValueHeaders: {} } as unknown as APIGatewayProxyEvent;
const context = { awsRequestId: 'r', getRemainingTimeInMillis: () => 5_000 } as unknown as Context;

describe('a pipeline', () => {
  it('lets out what has passed every stage', async () => {
    expect(await ladderWith({ before: () => undefined })(event, { ...context })).toMatchObject({
      statusCode: 200,
      body: '{"seen":{}}',
    });
  });

  it.each(['before', 'after'] as const)(
    'lets nothing out that a stage has returned from %s, past all others [MA-224]',
    async (hook) => {
      await expect(ladderWith({ [hook]: returning })(event, { ...context })).rejects.toThrow(
        'past all others',
      );
    },
  );
});
