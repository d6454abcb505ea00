import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Attempt, RuntimeData } from '#shared/platform/owners/qti.ts';
import { digestOutcomes, nameSessions, readOutcomes } from './outcomes.ts';
import type { NamedRuntime } from './outcomes.ts';
import type { Offer, AdaptiveRunState } from '../continuation/run-state.ts';

const AT = '2026-03-01T08:00:00Z';

function attempt(attemptId: string, attemptNumber: number, score: number | null, scoredAt = AT): Attempt {
  return score === null
    ? { attemptId, attemptNumber, status: 'in_progress' }
    : {
        attemptId,
        attemptNumber,
        status: 'scored',
        outcomes: { SCORE: score },
        scoredAt,
        processingTrace: { traceRef: `trace-${attemptId}`, status: 'completed' },
      };
}

function offers(count: number): Offer[] {
  return Array.from({ length: count }, (_, index) => ({
    deliverySessionId: `session-${index + 1}`,
    artifactVersionId: `version-${index + 1}`,
  }));
}

function runtime(
  attempts: readonly (readonly Attempt[])[],
  extra: RuntimeData['sessions'] = [],
): RuntimeData {
  const named = attempts.map((list, index) => ({
    deliverySessionId: `session-${index + 1}`,
    rootArtifactVersionId: `version-${index + 1}`,
    status: 'open',
    createdAt: AT,
    attempts: [...list],
  }));
  return { tenantId: 't', candidateRef: 'c', sessions: [...extra, ...named].reverse() };
}

function named(list: Offer[], data: RuntimeData, runTag?: string): NamedRuntime {
  const result = nameSessions({ offers: list, runTag }, data);
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

/** Only the members that reading outcomes depends on. */
function stateWith(count: number, digest: string): AdaptiveRunState {
  return { consumed: { count, digest } } as unknown as AdaptiveRunState;
}

/** The offers of a run that has consumed attempt `a` of the first one. */
function consumedOffers(): Offer[] {
  const [first, second] = offers(2);
  return [{ ...first!, consumedAttemptId: 'a' }, second!];
}

const EMPTY = digestOutcomes([]);

describe('nameSessions', () => {
  it('keeps the sessions that the continuation names in its order and sets all others apart [MA-028]', () => {
    const foreign = {
      deliverySessionId: 'foreign',
      rootArtifactVersionId: 'version-1',
      status: 'open',
      createdAt: AT,
      attempts: [attempt('x', 1, 1)],
    };
    const result = named(offers(2), runtime([[attempt('a', 1, 1)], []], [foreign]));
    expect(result.sessions.map((session) => session.offer.deliverySessionId)).toEqual([
      'session-1',
      'session-2',
    ]);
    expect(result.unnamed).toEqual([foreign]);
  });

  it('tells the run’s own sessions from those of the learner’s other runs by the tag [MA-028]', () => {
    const session = (deliverySessionId: string, runTag?: string | null) => ({
      ...runtime([[]]).sessions[0]!,
      deliverySessionId,
      ...(runTag === undefined ? {} : { deliverySnapshot: { runTag } }),
    });
    const sessions = [session('a', 'tag-1'), session('b', 'tag-2'), session('c'), session('d', null)];
    const data = runtime([[]], [...sessions, session('b', 'tag-2')]);
    const ids = (list: NamedRuntime['others']) =>
      list.map(({ deliverySessionId }) => deliverySessionId).toSorted();
    const tagged = named(offers(1), data, 'tag-1');
    expect([ids(tagged.unnamed), ids(tagged.others)]).toEqual([['a'], ['b', 'b', 'c', 'd']]);
    // A run whose token was sealed before there were tags.
    const untagged = named(offers(1), data);
    expect([ids(untagged.unnamed), ids(untagged.others)]).toEqual([
      ['c', 'd'],
      ['a', 'b', 'b'],
    ]);
  });

  it('says stream-conflict when a named session has another run’s tag [MA-215]', () => {
    const [session] = runtime([[]]).sessions;
    const data = { ...runtime([]), sessions: [{ ...session!, deliverySnapshot: { runTag: 'tag-2' } }] };
    expect(nameSessions({ offers: offers(1), runTag: 'tag-2' }, data).ok).toBe(true);
    for (const runTag of ['tag-1', undefined])
      expect(nameSessions({ offers: offers(1), runTag }, data)).toEqual({
        ok: false,
        error: 'stream-conflict',
      });
  });

  it('orders attempts by number, then by id, however QTI lists them [MA-092]', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(['a', 'b', 'c', 'd'], { minLength: 4 }), (order) => {
        const all = {
          a: attempt('a', 1, null),
          b: attempt('b', 1, null),
          c: attempt('c', 2, 1),
          d: attempt('d', 10, 0),
        };
        const list = order.map((id) => all[id as keyof typeof all]);
        const [session] = named(offers(1), runtime([list])).sessions;
        expect(session?.attempts.map((one) => one.attemptId)).toEqual(['a', 'b', 'c', 'd']);
      }),
    );
  });

  it('says stream-conflict when a named session is gone, names another artifact or appears twice [MA-215]', () => {
    const data = runtime([[], []]);
    const [first, second] = data.sessions;
    const conflict = { ok: false, error: 'stream-conflict' };
    expect(nameSessions({ offers: offers(2) }, { ...data, sessions: [second!] })).toEqual(conflict);
    expect(
      nameSessions(
        { offers: offers(2) },
        {
          ...data,
          sessions: [{ ...first!, rootArtifactVersionId: 'other' }, second!],
        },
      ),
    ).toEqual(conflict);
    expect(nameSessions({ offers: offers(2) }, { ...data, sessions: [first!, second!, second!] })).toEqual(
      conflict,
    );
  });
});

describe('readOutcomes', () => {
  it('takes the first scored attempt of a session in canonical order as its outcome [MA-092]', () => {
    const list = [attempt('c', 3, 0), attempt('a', 1, null), attempt('b', 2, 1)];
    const result = readOutcomes(stateWith(0, EMPTY), named(offers(1), runtime([list])));
    expect(result).toMatchObject({
      ok: true,
      value: { consumed: [], news: { attemptId: 'b', correct: true, sequence: 1 } },
    });
  });

  it('has no news while the outstanding item is not scored', () => {
    const result = readOutcomes(stateWith(0, EMPTY), named(offers(1), runtime([[attempt('a', 1, null)]])));
    expect(result).toEqual({ ok: true, value: { consumed: [], news: undefined } });
  });

  it('says stream-conflict when two attempts claim one number with different outcomes [MA-215]', () => {
    const clash = [attempt('a', 1, 1), attempt('b', 1, 0)];
    expect(readOutcomes(stateWith(0, EMPTY), named(offers(1), runtime([clash])))).toEqual({
      ok: false,
      error: 'stream-conflict',
    });
    const agreeing = [attempt('a', 1, 1), attempt('b', 1, 1)];
    expect(readOutcomes(stateWith(0, EMPTY), named(offers(1), runtime([agreeing])))).toMatchObject({
      ok: true,
    });
  });

  it('says stream-conflict when anything changes about an outcome that was consumed [MA-142, MA-215]', () => {
    const before = named(offers(2), runtime([[attempt('a', 1, 1)], []]));
    const first = readOutcomes(stateWith(0, EMPTY), before);
    if (!first.ok || first.value.news === undefined) throw new Error('no outcome');
    const state = stateWith(1, digestOutcomes([first.value.news]));
    const after = named(consumedOffers(), runtime([[attempt('a', 1, 1)], []]));
    expect(readOutcomes(state, after)).toMatchObject({ ok: true, value: { consumed: [{ attemptId: 'a' }] } });
    for (const changed of [
      [attempt('a', 1, 0)],
      [attempt('z', 1, 1)],
      [attempt('a', 1, 1, '2026-03-01T08:00:01Z')],
      [attempt('a', 1, null)],
      [],
    ])
      expect(readOutcomes(state, named(consumedOffers(), runtime([changed, []])))).toEqual({
        ok: false,
        error: 'stream-conflict',
      });
  });

  it('keeps the consumed attempt when an earlier one is scored after it', () => {
    const state = stateWith(
      1,
      digestOutcomes([
        {
          sequence: 1,
          artifactVersionId: 'version-1',
          attemptId: 'a',
          attemptNumber: 2,
          correct: true,
          scoredAt: AT,
          scoredAtMs: Date.parse(AT),
          traceRef: undefined,
          handedInMs: Date.parse(AT),
        },
      ]),
    );
    const late = [attempt('late', 1, 0), attempt('a', 2, 1)];
    expect(readOutcomes(state, named(consumedOffers(), runtime([late, []])))).toMatchObject({
      ok: true,
      value: { consumed: [{ attemptId: 'a', correct: true }] },
    });
  });

  it('waits while an earlier attempt is handed in and not scored yet', () => {
    const submitted: Attempt = { attemptId: 'a', attemptNumber: 1, status: 'submitted' };
    const result = readOutcomes(
      stateWith(0, EMPTY),
      named(offers(1), runtime([[submitted, attempt('b', 2, 1)]])),
    );
    expect(result).toEqual({
      ok: true,
      value: { consumed: [], news: undefined, pending: { handedInMs: undefined } },
    });
  });

  it('does not judge attempts that do not count, nor outcome variables and statuses that it does not read', () => {
    const odd: Attempt = { attemptId: 'b', attemptNumber: 2, status: 'scored', outcomes: { SCORE: 0.5 } };
    const suspended: Attempt = { attemptId: 'c', attemptNumber: 3, status: 'suspended' };
    const first: Attempt = { ...attempt('a', 1, 1), outcomes: { SCORE: 1, completionStatus: 'completed' } };
    const result = readOutcomes(stateWith(0, EMPTY), named(offers(1), runtime([[suspended, odd, first]])));
    expect(result).toMatchObject({ ok: true, value: { news: { attemptId: 'a' } } });
  });

  it.each([
    ['a partial score', { ...attempt('a', 1, 1), outcomes: { SCORE: 0.5 } }],
    ['no SCORE', { ...attempt('a', 1, 1), outcomes: { OTHER: 1 } }],
    ['no outcomes', { ...attempt('a', 1, 1), outcomes: null }],
    ['no time', { ...attempt('a', 1, 1), scoredAt: undefined }],
  ])('refuses a scored attempt with %s: it is no outcome of this model', (_, broken) => {
    const read = (one: Attempt) => readOutcomes(stateWith(0, EMPTY), named(offers(1), runtime([[one]])));
    expect(read(broken)).toEqual({ ok: false, error: 'unreadable' });
    const processingTrace = { traceRef: 'trace-a', status: 'running' };
    expect(read({ ...broken, processingTrace })).toEqual({ ok: false, error: 'unprocessed' });
  });

  it('has no news in a score that QTI still processes, and no contradiction [MA-030]', () => {
    const open = { ...attempt('a', 1, 1), processingTrace: { traceRef: 'trace-a', status: 'running' } };
    for (const list of [[open], [open, attempt('b', 1, 0)]])
      expect(readOutcomes(stateWith(0, EMPTY), named(offers(1), runtime([list])))).toEqual({
        ok: true,
        value: { consumed: [], news: undefined, pending: { handedInMs: Date.parse(AT) } },
      });
    expect(
      readOutcomes(
        stateWith(0, EMPTY),
        named(
          offers(1),
          runtime([[attempt('a', 1, 1), { ...open, attemptId: 'b', outcomes: { SCORE: 0 } }]]),
        ),
      ),
    ).toMatchObject({ ok: true, value: { news: { attemptId: 'a' } } });
  });
});
