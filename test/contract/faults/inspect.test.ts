import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '#shared/platform/all-operations.ts';
import { openAdaptiveRuns, sentenceOf } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns, RunGiven } from '#test/support/adaptive-run.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { casesOf, expectComplete, expectNames } from './fault-table.ts';
import type { CallName, FaultTable, RulesByStatus } from './fault-table.ts';
import { expectNothingInvented, rereadRuntime, rereads } from './rereads.ts';

let stack: TestStack;
let runs: AdaptiveRuns;
/** One answer consumed, the second item played and not yet consumed. No inspection changes it. */
let played: RunGiven;
beforeAll(async () => {
  stack = await startTestStack();
  runs = openAdaptiveRuns(stack);
  const first = await runs.start().sendForRun();
  const { etag } = await runs.playAndInspect(first.body);
  const second = await runs.advance(first.body.continuationToken, etag).sendForRun();
  played = await runs.playAndInspect(second.body, 0);
});
afterEach(async () => {
  await stack.control('DELETE', 'faults');
});
afterAll(async () => {
  runs.close();
  await stack.close();
});

const table: FaultTable = {
  ...rereads,
  // Without the last attempt, which the token has not consumed, it is the same run under the earlier tag.
  readCandidateRuntime: { ...rereadRuntime, stale: '200 in_progress reportable' },
};

const rules: RulesByStatus = {
  409: 'MA-142, MA-160',
  422: 'MA-161',
  424: 'MA-162, MA-196, MA-218',
  502: 'MA-163, MA-223',
};

describe('inspect, one upstream operation at a time', () => {
  it('has a row for every operation that it uses, every distortion, and writes nothing [MA-140, MA-157]', async () => {
    await runs.takeCalls();
    await runs.inspect(played.body.continuationToken).sendForRun();
    const calls = await runs.takeCalls();
    expectComplete(table, new Set(calls.map(({ operation }) => operation)));
    expect(calls.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('goes on after one malformed answer to every read [MA-162, MA-163]', async () => {
    const inspect = runs.inspect(played.body.continuationToken);
    for (const name of Object.keys(table) as CallName[])
      await stack.fault({ operation: operations[name].id, kind: 'malformed' });
    expect(sentenceOf(await inspect.send())).toBe('200 in_progress reportable');
    await stack.faultsStruck();
  });

  for (const { call, title, arm, expected } of casesOf(table, rules)) {
    it(title, async () => {
      const inspect = runs.inspect(played.body.continuationToken);
      await stack.fault(arm);
      const reply = await inspect.send();
      expect(sentenceOf(reply)).toBe(expected);
      if (reply.kind === 'run') {
        expectNothingInvented(reply, played);
        return;
      }
      expectNames(reply, call);
      await stack.control('DELETE', 'faults');
      const again = await inspect.sendForRun();
      expect([again.etag, again.body.continuationToken]).toEqual([
        played.etag,
        played.body.continuationToken,
      ]);
    });
  }
});
