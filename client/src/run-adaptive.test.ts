import { describe, expect, it } from 'vitest';
import type { MasteryClient } from './client.ts';
import { ProblemError } from './errors.ts';
import type { AdaptiveRun, StartAdaptiveRunInput } from './generated/mastery.ts';
import { runAdaptive, RunStalledError } from './run-adaptive.ts';
import type { RunAdaptiveOptions, RunState, SavedRun } from './run-adaptive.ts';

/** A state of a run: of its answer only what a client acts on. */
function state(status: string, session: string | null, more: Partial<AdaptiveRun> = {}): AdaptiveRun {
  const offeredItem =
    session === null
      ? null
      : { deliverySessionId: session, artifactVersionId: `item-${session}`, sequence: 1 };
  return { status, offeredItem, receiptId: 'receipt', ...more } as AdaptiveRun;
}

function problem(status: number, code: string, currentEtag?: string): ProblemError {
  const document = {
    ...{ type: `https://x/${code}`, title: 't', status, detail: 'd', instance: 'i' },
    ...{ requestId: 'q', retryable: true, code },
    ...(currentEtag === undefined ? {} : { currentEtag }),
  };
  return new ProblemError(
    { service: 'mastery', baseUrl: 'https://service.example', operation: 'o', idempotencyKey: 'k' },
    document,
    undefined,
  );
}

/** A service that gives these answers to the calls of each kind, and notes the calls. Tokens and tags count up. */
function scripted(answers: {
  start?: AdaptiveRun;
  inspect?: (AdaptiveRun | Error)[];
  advance?: (AdaptiveRun | Error)[];
}) {
  const calls: string[] = [];
  let count = 0;
  const reply = (data: AdaptiveRun | Error | undefined): Promise<RunState> => {
    if (data === undefined) throw new Error(`one call too many: ${calls.join(', ')}`);
    if (data instanceof Error) return Promise.reject(data);
    count += 1;
    return Promise.resolve({
      data: { ...{ continuationToken: `token-${count}` }, ...data },
      etag: `tag-${count}`,
      headers: new Headers(),
    } as RunState);
  };
  const mastery = {
    startAdaptiveRun: (_input, options) => {
      calls.push(`start ${options?.idempotencyKey === undefined ? 'without' : 'with'} key`);
      return reply(answers.start);
    },
    inspectAdaptiveRun: ({ continuationToken }) => {
      calls.push(`inspect ${continuationToken}`);
      return reply(answers.inspect?.shift());
    },
    advanceAdaptiveRun: ({ continuationToken, ifMatch }, options) => {
      calls.push(
        `advance ${continuationToken} ${ifMatch}${options?.idempotencyKey === undefined ? '' : ' !'}`,
      );
      return reply(answers.advance?.shift());
    },
  } as Partial<MasteryClient> as MasteryClient;
  const options = {
    start: {} as StartAdaptiveRunInput,
    play: ({ deliverySessionId }) => void calls.push(`play ${deliverySessionId}`),
    sleep: (milliseconds) => {
      calls.push(`wait ${milliseconds}`);
      return Promise.resolve();
    },
  } satisfies RunAdaptiveOptions;
  return {
    calls,
    take: (more: Partial<RunAdaptiveOptions> = {}) => runAdaptive(mastery, { ...options, ...more }),
  };
}

const open = (session: string): AdaptiveRun => state('in_progress', session);
const completed = state('completed', null);
/** A run that has begun with the offer s1. */
const begun = (inspect: (AdaptiveRun | Error)[], advance: (AdaptiveRun | Error)[]) =>
  scripted({ start: open('s1'), inspect, advance });
const stale = (tag?: string) => problem(412, 'stream-conflict', tag);

// Offer after offer, and after a restart: test/contract/client.test.ts.
describe('runAdaptive', () => {
  it('inspects again after a stale tag, and advances with the new tag and a key of its own [MA-193]', async () => {
    const { calls, take } = begun([open('s1'), open('s1')], [stale(), completed]);
    await take();
    expect(calls.slice(2)).toEqual([
      ...['inspect token-1', 'advance token-1 tag-2'],
      ...['inspect token-1', 'advance token-1 tag-3'],
    ]);
  });

  it('shows what an owner has to do, and neither advances nor plays again until QTI has scored the answer', async () => {
    const waitingFor = { service: 'qti', operation: 'qti.read_candidate_runtime' } as const;
    const owed = { ...open('s1'), waitingFor };
    const acknowledging = {
      ...state('finalizing', null),
      waitingFor: { service: 'caliper', operation: 'caliper.read_evidence_ack' } as const,
    };
    const waits: string[] = [];
    const { calls, take } = scripted({
      inspect: [owed, owed, open('s1'), acknowledging],
      advance: [acknowledging, completed],
    });
    // Resumed: the answer may have been handed in before the restart.
    await take({
      store: { load: () => ({ startKey: 'k', continuationToken: 'token-1' }), save: () => undefined },
      onWait: ({ operation }, { data }) => void waits.push(`${data.status} ${operation}`),
    });
    expect(waits).toEqual(['in_progress qti.read_candidate_runtime', 'finalizing caliper.read_evidence_ack']);
    expect(calls.map((call) => call.split(' ')[0])).toEqual([
      ...['inspect', 'inspect', 'wait', 'inspect', 'advance'],
      ...['wait', 'inspect', 'advance'],
    ]);
  });

  it('advances with the `currentEtag` of the last 412, if the inspection shows what the one before it did [MA-193]', async () => {
    const { calls, take } = begun(
      [open('s1'), open('s1'), open('s1')],
      [stale('"one"'), stale('"two"'), completed],
    );
    await take();
    expect(calls.slice(2)).toEqual([
      ...['inspect token-1', 'advance token-1 tag-2'],
      ...['inspect token-1', 'advance token-1 "one"'],
      ...['inspect token-1', 'advance token-1 "two"'],
    ]);
    for (const changed of [
      open('s2'),
      { ...open('s1'), stopReason: 'max_items' as const },
      { ...open('s1'), kcClassifications: [] },
    ]) {
      const other = begun([open('s1'), changed, changed], [stale('"one"'), stale('"two"'), completed]);
      await other.take();
      expect(other.calls.filter((call) => call.startsWith('advance'))).toEqual([
        ...['advance token-1 tag-2', 'advance token-1 tag-3', 'advance token-1 "two"'],
      ]);
    }
    const conflict = begun(
      [open('s1'), open('s1'), open('s1')],
      [stale('"one"'), problem(409, 'stream-conflict'), completed],
    );
    await conflict.take();
    expect(conflict.calls.at(-1)).toBe('advance token-1 tag-4');
  });

  it.each([
    ['a conflict [MA-216]', problem(409, 'stream-conflict')],
    ['a finalization that is not to be repeated [MA-220]', problem(424, 'finalization-incomplete')],
  ])('inspects once after %s, takes what that shows, and ends with a second one', async (_name, failure) => {
    const shown = begun([open('s1'), completed], [failure]);
    expect((await shown.take()).data.status).toBe('completed');
    const again = begun([open('s1'), open('s1')], [failure, failure]);
    await expect(again.take()).rejects.toBe(failure);
    const refused = begun([open('s1'), failure], [failure]);
    await expect(refused.take()).rejects.toBe(failure);
  });

  it('ends with any other problem at once, and with a tag that stays stale', async () => {
    const drift = problem(409, 'adaptive-pool-version-drift');
    const once = begun([open('s1')], [drift]);
    await expect(once.take()).rejects.toBe(drift);
    const last = stale();
    const forever = scripted({
      start: open('s1'),
      inspect: Array.from({ length: 9 }, () => open('s1')),
      advance: Array.from({ length: 9 }, () => last),
    });
    await expect(forever.take()).rejects.toBe(last);
  });

  it('advances a run that is finalizing until it is completed, with growing waits', async () => {
    const finalizing = state('finalizing', null);
    const { calls, take } = scripted({
      start: finalizing,
      inspect: [finalizing, finalizing, finalizing],
      advance: [finalizing, finalizing, completed],
    });
    const states: string[] = [];
    await take({ onState: ({ data }) => void states.push(data.status) });
    expect(states).toEqual(['finalizing', 'completed']);
    expect(calls.filter((call) => !call.startsWith('inspect') && !call.startsWith('advance'))).toEqual([
      ...['start with key', 'wait 500', 'wait 1000', 'wait 2000'],
    ]);
  });

  it('says that nothing happens, and keeps the state to go on from', async () => {
    const still = Array.from({ length: 40 }, () => open('s1'));
    const { calls, take } = begun([...still], [...still]);
    const stalled = await take({ patience: 20_000 }).catch((error: unknown) => error);
    expect(stalled).toBeInstanceOf(RunStalledError);
    expect(stalled).toMatchObject({ message: expect.stringContaining('session s1') as string });
    expect(calls.filter((call) => call.startsWith('play'))).toEqual(['play s1']);
  });

  it('ends with the failure of the player', async () => {
    const failure = new Error('the player is gone');
    const { take } = scripted({ start: open('s1') });
    await expect(take({ play: () => Promise.reject(failure) })).rejects.toBe(failure);
  });

  it('saves the key before the start, and each token before the item is played', async () => {
    const saved: SavedRun[] = [];
    const failing = scripted({});
    const store = { load: () => saved.at(-1), save: (run: SavedRun) => void saved.push(run) };
    await expect(failing.take({ store })).rejects.toThrow('one call too many');
    expect(saved).toEqual([{ startKey: expect.any(String) as string }]);
    const { calls, take } = begun([open('s1')], [completed]);
    await take({ store, play: () => void calls.push(`play after ${saved.at(-1)?.continuationToken}`) });
    expect(calls).toContain('play after token-1');
    expect(new Set(saved.map(({ startKey }) => startKey)).size).toBe(1);
    expect(saved.at(-1)?.continuationToken).toBe('token-3');
  });

  it('asks the service about the offer of a stored run before it plays it', async () => {
    const store = { load: () => ({ startKey: 'k', continuationToken: 'kept' }), save: () => undefined };
    const kept = { ...open('s1'), continuationToken: 'kept' };
    const answered = scripted({ inspect: [kept, kept, open('s2')], advance: [open('s2'), completed] });
    await answered.take({ store });
    expect(answered.calls.filter((call) => call.startsWith('play'))).toEqual(['play s2']);
    const unanswered = scripted({ inspect: [kept, kept, kept], advance: [kept, completed] });
    await unanswered.take({ store });
    expect(unanswered.calls).toEqual([
      ...['inspect kept', 'inspect kept', 'advance kept tag-2'],
      ...['play s1', 'inspect kept', 'advance kept tag-4'],
    ]);
  });

  it('advances when the time budget is over, while the learner still thinks', async () => {
    const late = { ...open('s1'), timeBudgetEndsAt: '2026-01-01T00:00:00Z' };
    const { calls, take } = scripted({ start: late, inspect: [late], advance: [completed] });
    let told: AbortSignal | undefined;
    await take({
      play: (_item, { signal }) => {
        told = signal;
        return new Promise(() => undefined);
      },
    });
    expect(calls.at(-1)).toMatch(/^advance/);
    expect(told?.aborted).toBe(true);
  });

  it('ends with the reason of an abort, also while an item is played', async () => {
    const ending = new AbortController();
    const reason = new Error('the user left');
    const { take } = scripted({ start: open('s1') });
    const taken = take({
      signal: ending.signal,
      play: () => {
        ending.abort(reason);
        return new Promise(() => undefined);
      },
    });
    await expect(taken).rejects.toBe(reason);
  });
});
