import { describe, expect, it } from 'vitest';
import { err, ok } from '#shared/kernel/result.ts';
import type { RunAnswer } from './run-answers.ts';
import type { RunClient, RunFailure, RunSnapshot } from './run-client.ts';
import { takeRun } from './take-run.ts';

function state(status: string, session: string | null, etag: string): RunSnapshot {
  const run: RunAnswer = {
    continuationToken: `token-${etag}`,
    status,
    selectionPolicyId: 'policy-1',
    scaleCalibrationId: 'calibration-1',
    offeredItem:
      session === null
        ? null
        : { deliverySessionId: session, artifactVersionId: `item-${session}`, sequence: 1 },
    kcClassifications: [],
    scaleReportability: 'pending',
    scale: null,
    stopReason: null,
    remainingUncertainty: 1,
    receiptId: 'r',
  };
  return { run, etag };
}

const staleTag: RunFailure = {
  kind: 'problem',
  problem: { code: 'stream-conflict', status: 412, detail: 'd', requestId: 'q', retryable: true },
};

/** A client that answers from lists, and notes the calls. */
function scripted(
  start: RunSnapshot,
  inspects: RunSnapshot[],
  advances: (RunSnapshot | RunFailure)[],
): { client: RunClient; calls: string[] } {
  const calls: string[] = [];
  const client: RunClient = {
    start: () => {
      calls.push('start');
      return Promise.resolve(ok(start));
    },
    inspect: (token) => {
      calls.push(`inspect ${token}`);
      const next = inspects.shift();
      if (next === undefined) throw new Error('one inspect too many');
      return Promise.resolve(ok(next));
    },
    advance: (token, etag) => {
      calls.push(`advance ${token} ${etag}`);
      const next = advances.shift();
      if (next === undefined) throw new Error('one advance too many');
      return Promise.resolve('run' in next ? ok(next) : err(next));
    },
  };
  return { client, calls };
}

function options(client: RunClient, calls: string[]): Parameters<typeof takeRun>[1] {
  return {
    client,
    play: (item) => {
      calls.push(`play ${item.deliverySessionId}`);
      return Promise.resolve(ok(true));
    },
    sleep: () => {
      calls.push('sleep');
      return Promise.resolve();
    },
  };
}

describe('takeRun', () => {
  it('plays each offer once, looks, and advances with the tag that inspect gave', async () => {
    const { client, calls } = scripted(
      state('in_progress', 's1', '1'),
      [state('in_progress', 's1', '2'), state('in_progress', 's2', '4')],
      [state('in_progress', 's2', '3'), state('completed', null, '5')],
    );
    expect(await takeRun({}, options(client, calls))).toMatchObject({ ok: true, value: { etag: '5' } });
    expect(calls).toStrictEqual([
      'start',
      'play s1',
      'inspect token-1',
      'advance token-2 2',
      'play s2',
      'inspect token-3',
      'advance token-4 4',
    ]);
  });

  it('inspects again after a stale tag [MA-193]', async () => {
    const { client, calls } = scripted(
      state('in_progress', 's1', '1'),
      [state('in_progress', 's1', '2'), state('in_progress', 's1', '3')],
      [staleTag, state('completed', null, '4')],
    );
    expect(await takeRun({}, options(client, calls))).toMatchObject({ ok: true, value: { etag: '4' } });
    expect(calls.slice(2)).toStrictEqual([
      'inspect token-1',
      'advance token-2 2',
      'inspect token-1',
      'advance token-3 3',
    ]);
  });

  it('advances a run that is finalizing until it is completed, waiting in between', async () => {
    const { client, calls } = scripted(
      state('finalizing', null, '1'),
      [state('finalizing', null, '2'), state('finalizing', null, '4')],
      [state('finalizing', null, '3'), state('completed', null, '5')],
    );
    expect(await takeRun({}, options(client, calls))).toMatchObject({ ok: true, value: { etag: '5' } });
    expect(calls.filter((call) => call === 'sleep')).toHaveLength(1);
    expect(calls.filter((call) => call.startsWith('play'))).toHaveLength(0);
  });

  it('takes a completion that inspect shows', async () => {
    const { client, calls } = scripted(state('finalizing', null, '1'), [state('completed', null, '2')], []);
    expect(await takeRun({}, options(client, calls))).toMatchObject({ ok: true, value: { etag: '2' } });
  });

  it('never plays the same offer twice, and gives up when nothing moves', async () => {
    const still = Array.from({ length: 20 }, () => state('in_progress', 's1', '1'));
    const { client, calls } = scripted(state('in_progress', 's1', '1'), [...still], [...still]);
    expect(await takeRun({}, options(client, calls))).toMatchObject({
      ok: false,
      error: { kind: 'unexpected', message: expect.stringContaining('without any news') as string },
    });
    expect(calls.filter((call) => call.startsWith('play'))).toStrictEqual(['play s1']);
  });

  it('ends with the failure of a call, and of the player', async () => {
    const gone: RunFailure = { kind: 'unreachable', message: 'gone' };
    const advance = scripted(state('in_progress', 's1', '1'), [state('in_progress', 's1', '2')], [gone]);
    expect(await takeRun({}, options(advance.client, advance.calls))).toStrictEqual({
      ok: false,
      error: gone,
    });
    const player = scripted(state('in_progress', 's1', '1'), [], []);
    expect(
      await takeRun({}, { ...options(player.client, player.calls), play: () => Promise.resolve(err(gone)) }),
    ).toStrictEqual({ ok: false, error: gone });
  });

  it('shows every state with the answer that led to it', async () => {
    const shown: unknown[] = [];
    const { client, calls } = scripted(
      state('in_progress', 's1', '1'),
      [state('in_progress', 's1', '2')],
      [state('completed', null, '3')],
    );
    await takeRun(
      {},
      {
        ...options(client, calls),
        onState: ({ etag }, answered) =>
          shown.push([etag, answered?.item.deliverySessionId, answered?.correct]),
      },
    );
    expect(shown).toStrictEqual([
      ['1', undefined, undefined],
      ['3', 's1', true],
    ]);
  });
});
