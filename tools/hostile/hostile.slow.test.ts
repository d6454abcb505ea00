import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Stack } from '#local/stack/stack.ts';
import { startProduct } from '../foreign/stack.ts';
import { builtIn } from './cases.ts';
import { localRequests } from './local-requests.ts';
import { tryCases } from './try-cases.ts';

// A sample of `npm run hostile`: a route that reads, one that writes, and one that takes a continuation.

let stack: Stack;
beforeAll(async () => {
  stack = await startProduct();
}, 120_000);
afterAll(() => stack.close());

it('every built-in case has one of its answers, and the sound request is served as before', async () => {
  const sampled = ['readReadiness', 'materializeAttemptReport', 'inspectAdaptiveRun'];
  const requests = (await localRequests(stack)).filter(({ base }) => sampled.includes(base.operationId));
  expect(requests).toHaveLength(sampled.length);
  for (const aim of requests) {
    const tried = await tryCases(aim, builtIn, { atOnce: 8, isServed: true });
    expect(tried.flatMap(({ differences }) => differences)).toEqual([]);
  }
}, 300_000);
