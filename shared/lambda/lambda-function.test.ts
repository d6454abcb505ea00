import { describe, expect, it, vi } from 'vitest';
import { awsLambda, isStreaming } from '#local/gateway/response-stream.ts';
import { ok } from '#shared/kernel/result.ts';
import { readProbe, streamedProbe } from '#test/support/probe-routes.ts';
import { processRuntime } from './process-runtime.ts';
import { createReadLambda } from './read-lambda.ts';

describe('the function of a route', () => {
  it('streams exactly where the row says so', () => {
    vi.stubGlobal('awslambda', awsLambda);
    const operation = () => () => Promise.resolve(ok({ body: { seen: {} } }));
    expect(isStreaming(createReadLambda(streamedProbe(), operation)(processRuntime()))).toBe(true);
    expect(isStreaming(createReadLambda(readProbe('reports'), operation)(processRuntime()))).toBe(false);
    vi.unstubAllGlobals();
  });
});
