import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bundledFunctions } from '#shared/contract/functions.ts';
import { useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { useTestStack } from '#test/support/stack.ts';

const root = new URL('../../', import.meta.url);

const stack = useTestStack();
const runs = useAdaptiveRuns(stack);

describe('rows and handlers', () => {
  it('every row names a file, and every handler is named by one row', () => {
    for (const { handler } of bundledFunctions)
      expect([handler, existsSync(new URL(handler, root))]).toEqual([handler, true]);
    const handlers = readdirSync(new URL('functions', root), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('handler.ts'))
      .map((file) => `functions/${file}`);
    expect(handlers.sort()).toEqual(bundledFunctions.map(({ handler }) => handler as string).sort());
  });
});

describe('an owner that is missing for now', () => {
  it('closes no route for good: the same request is served once the owner is back [MA-017, MA-219]', async () => {
    const starting = runs.start();
    await stack.fault({ operation: 'bank.read_adaptive_pool_manifest', kind: 'down', times: 1_000 });
    const missing = await starting.send();
    expect(missing.body).toMatchObject({ status: 424, code: 'upstream-unavailable', retryable: true });
    await stack.control('DELETE', 'faults');
    expect((await starting.sendForRun()).status).toBe(201);
  });
});
