import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '#shared/platform/all-operations.ts';
import { openAdaptiveRuns, sentenceOf } from '#test/support/adaptive-run.ts';
import type { AdaptiveRuns, RunGiven, RunRequest } from '#test/support/adaptive-run.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import {
  casesOf,
  expectComplete,
  expectNames,
  invalid,
  refused,
  silent,
  unauthorized,
} from './fault-table.ts';
import type { CallName, FaultTable, RulesByStatus } from './fault-table.ts';
import { expectNothingInvented, rereadRuntime, rereads } from './rereads.ts';

let stack: TestStack;
let runs: AdaptiveRuns;
/** The second item has been offered, has been played, and was advanced from: an advance from there gives this successor, every time. */
let offered: RunGiven;
let played: RunGiven;
let successor: RunGiven;
beforeAll(async () => {
  stack = await startTestStack();
  runs = openAdaptiveRuns(stack);
  const first = await runs.start().sendForRun();
  const { etag } = await runs.playAndInspect(first.body);
  offered = await runs.advance(first.body.continuationToken, etag).sendForRun();
  played = await runs.playAndInspect(offered.body, 0);
  successor = await advance().sendForRun();
});
afterEach(async () => {
  await stack.control('DELETE', 'faults');
});
afterAll(async () => {
  runs.close();
  await stack.close();
});

function advance(): RunRequest {
  return runs.advance(offered.body.continuationToken, played.etag);
}

const reading: FaultTable = {
  ...rereads,
  // A view without the successor's session: QTI knows the offer by its key.
  readCandidateRuntime: { ...rereadRuntime, stale: '200 in_progress reportable' },
};
const offering: FaultTable = {
  offerSelectedItem: {
    silent: silent('qti'),
    malformed: invalid('qti'),
    wrong_tenant: invalid('qti'),
    other_entity: invalid('qti'),
    401: unauthorized,
    404: refused('qti'),
    409: refused('qti'),
    422: refused('qti'),
  },
};

const rules: RulesByStatus = {
  409: 'MA-165',
  422: 'MA-167',
  424: 'MA-168, MA-196, MA-218',
  502: 'MA-171, MA-222, MA-223',
};

describe('advance, one upstream operation at a time', () => {
  it('has a row for every operation that it uses, and every distortion', async () => {
    const fresh = await runs.start().sendForRun();
    const { etag } = await runs.playAndInspect(fresh.body);
    await runs.takeCalls();
    await runs.advance(fresh.body.continuationToken, etag).sendForRun();
    const calls = await runs.takeCalls();
    expectComplete({ ...reading, ...offering }, new Set(calls.map(({ operation }) => operation)));
  });

  for (const { call, title, arm, expected } of casesOf(reading, rules)) {
    it(title, async () => {
      const faulted = advance();
      await runs.takeCalls();
      await stack.fault(arm);
      const reply = await faulted.send();
      expect(sentenceOf(reply)).toBe(expected);
      if (reply.kind === 'run') {
        expectNothingInvented(reply, successor);
        return;
      }
      expectNames(reply, call);
      expect(await runs.takeCalls()).not.toContainEqual(expect.objectContaining({ method: 'POST' }));
      await stack.control('DELETE', 'faults');
      expect((await faulted.sendForRun()).body.offeredItem).toStrictEqual(successor.body.offeredItem);
    });
  }

  for (const { call, title, arm, expected } of casesOf(offering, rules)) {
    it(title, async () => {
      const fresh = await runs.start().sendForRun();
      const { etag } = await runs.playAndInspect(fresh.body);
      const sessions = (await runs.state()).counts['qti.session']!;
      const faulted = runs.advance(fresh.body.continuationToken, etag);
      await stack.fault(arm);
      const reply = await faulted.send();
      expect(sentenceOf(reply)).toBe(expected);
      if (reply.kind === 'problem') expectNames(reply, call);
      await stack.control('DELETE', 'faults');
      const { body } = await faulted.sendForRun();
      expect(body.offeredItem).toMatchObject({ sequence: 2 });
      expect((await runs.state()).counts['qti.session']).toBe(sessions + 1);
    });
  }

  it('goes on after one failed try of every read and write [MA-218]', async () => {
    const fresh = await runs.start().sendForRun();
    const { etag } = await runs.playAndInspect(fresh.body);
    for (const name of Object.keys({ ...reading, ...offering }) as CallName[]) {
      const { id: operation, method } = operations[name];
      await stack.fault({ operation, method, kind: 'status', status: 503 });
    }
    const reply = await runs.advance(fresh.body.continuationToken, etag).send();
    expect(sentenceOf(reply)).toBe('200 in_progress reportable');
    await stack.faultsStruck();
  });

  it('does not consume an attempt that QTI does not show just now [MA-166]', async () => {
    const fresh = await runs.start().sendForRun();
    const { etag } = await runs.playAndInspect(fresh.body);
    const advancing = runs.advance(fresh.body.continuationToken, etag);
    await stack.fault({ operation: 'qti.read_candidate_runtime', kind: 'stale' });
    const behind = await advancing.send();
    expect(sentenceOf(behind)).toBe('412 stream-conflict retryable');
    expect(behind.body).toMatchObject({ currentEtag: fresh.etag });
    expect((await advancing.sendForRun()).body.offeredItem).toMatchObject({ sequence: 2 });
  });
});
