import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { err, ok } from '#shared/kernel/result.ts';
import type { Attempt, DeliverySession } from '#shared/platform/owners/qti.ts';
import { exampleOutcome, exampleState } from '#test/support/example-run.ts';
import { digestOutcomes, nameSessions, readOutcomes } from './outcomes.ts';
import type { NamedRuntime, ScoredOutcome } from './outcomes.ts';
import type { Offer } from '../continuation/run-state.ts';

const AT = exampleOutcome.scoredAt;
const NOW = Date.parse(AT);
const conflict = err({ problem: { status: 409, code: 'stream-conflict' } });
const behind = err({ problem: { status: 424, retryable: true, upstream: { service: 'qti' } } });
/** What QTI holds is no evidence, as the problem says it. */
const refused = (detail: string, retryable = false) =>
  err({
    status: 424,
    detail: expect.stringContaining(detail) as string,
    retryable,
    upstream: { service: 'qti' },
  });

/** An outstanding answer that cannot count as it is: a step that waits for it says so. */
const defective = (detail: string, retryable = false) =>
  ok({ news: undefined, pending: { defect: refused(detail, retryable).error } });

function attempt(
  attemptId: string,
  attemptNumber: number,
  score: number | null,
  change: object = {},
): Attempt {
  const open = { attemptId, attemptNumber, status: 'in_progress' };
  if (score === null) return { ...open, ...change };
  const processingTrace = { traceRef: `trace-${attemptId}`, status: 'completed' };
  return { ...open, status: 'scored', outcomes: { SCORE: score }, scoredAt: AT, processingTrace, ...change };
}

const offers = (count: number): Offer[] =>
  Array.from({ length: count }, (_, index) => ({
    deliverySessionId: `session-${index + 1}`,
    artifactVersionId: `version-${index + 1}`,
  }));
/** The session of an offer, by its sequence. */
const session = (
  sequence: number,
  attempts: readonly Attempt[] = [],
  change: object = {},
): DeliverySession => ({
  deliverySessionId: `session-${sequence}`,
  rootArtifactVersionId: `version-${sequence}`,
  status: 'open',
  createdAt: AT,
  attempts: [...attempts],
  ...change,
});
const tagged = (deliverySessionId: string, runTag: string | null) =>
  session(1, [], { deliverySessionId, deliverySnapshot: { runTag } });

function name(list: readonly Offer[], sessions: readonly DeliverySession[], runTag?: string) {
  const data = { tenantId: 't', candidateRef: 'c', sessions: sessions.toReversed() };
  return nameSessions({ offers: [...list], runTag }, data);
}
function named(...given: Parameters<typeof name>): NamedRuntime {
  const result = name(...given);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

describe('nameSessions', () => {
  it('keeps the sessions that the continuation names in its order and sets all others apart [MA-028]', () => {
    const foreign = session(1, [attempt('x', 1, 1)], { deliverySessionId: 'foreign' });
    const result = named(offers(2), [session(2), foreign, session(1, [attempt('a', 1, 1)])]);
    expect(result.sessions.map(({ deliverySessionId }) => deliverySessionId)).toEqual([
      'session-1',
      'session-2',
    ]);
    expect(result.unnamed).toEqual([foreign]);
  });

  it('tells the run’s own sessions from those of the learner’s other runs by the tag [MA-028]', () => {
    const sessions = [
      session(1),
      ...[tagged('a', 'tag-1'), tagged('b', 'tag-2'), session(1, [], { deliverySessionId: 'c' })],
      ...[tagged('d', null), tagged('b', 'tag-2')],
    ];
    const parts = (runTag?: string) => {
      // Without its own session, which has no tag, a run of today names none.
      const { unnamed, others } = named(runTag === undefined ? offers(1) : [], sessions, runTag);
      return [unnamed, others].map((list) => list.map(({ deliverySessionId }) => deliverySessionId).sort());
    };
    expect(parts('tag-1')).toEqual([['a'], ['b', 'b', 'c', 'd', 'session-1']]);
    // A run whose token was sealed before there were tags.
    expect(parts()).toEqual([
      ['c', 'd'],
      ['a', 'b', 'b'],
    ]);
  });

  it('orders attempts by number, then by id, however QTI lists them [MA-092]', () => {
    const all = [attempt('a', 1, null), attempt('b', 1, null), attempt('c', 2, 1), attempt('d', 10, 0)];
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: 4 }), (list) => {
        expect(named(offers(1), [session(1, list)]).sessions[0]?.attempts).toEqual(all);
      }),
    );
  });

  it('refuses two attempts of a run with one id', () => {
    const sessions = [session(1, [attempt('a', 1, 1)]), session(2, [attempt('a', 1, 1)])];
    expect(name(offers(2), sessions)).toMatchObject(refused('one id'));
  });

  it('is a stream-conflict when a named session has the tag of another run [MA-215]', () => {
    const sessions = [tagged('session-1', 'tag-2')];
    expect(name(offers(1), sessions, 'tag-2').ok).toBe(true);
    for (const runTag of ['tag-1', undefined])
      expect(name(offers(1), sessions, runTag)).toMatchObject(conflict);
  });

  it.each<[string, readonly DeliverySession[]]>([
    ['is of another artifact', [session(1), session(2, [], { rootArtifactVersionId: 'other' })]],
    ['appears twice', [session(1), session(2), session(2)]],
  ])('is a stream-conflict when a named session %s [MA-215]', (_, sessions) => {
    expect(name(offers(2), [session(1), session(2)]).ok).toBe(true);
    expect(name(offers(2), sessions)).toMatchObject(conflict);
  });

  it('is the same reading in any order and with any further member [MA-215]', () => {
    const wrong = session(2, [attempt('b', 1, 1)], { rootArtifactVersionId: 'other' });
    const readings = [
      [session(1), wrong],
      [wrong, session(1)],
      [session(1, [], { servedAt: AT }), wrong],
    ].map((sessions) => name(offers(2), sessions));
    for (const reading of readings) expect(reading).toEqual(readings[0]);
    expect(name(offers(2), [session(1, [attempt('a', 1, 1)]), wrong])).not.toEqual(readings[0]);
  });

  it('waits for QTI when a named session is missing: a replica that lags looks just like it', () => {
    expect(name(offers(2), [session(1)])).toMatchObject(behind);
  });
});

describe('readOutcomes', () => {
  /** The outcomes of a run with one offer, of which none has been consumed. */
  const read = (...list: readonly Attempt[]) =>
    readOutcomes({ ...exampleState, offers: offers(1) }, named(offers(1), [session(1, list)]), NOW);
  /** The same of a run that has consumed an outcome and has a second offer. */
  const reread = (outcome: ScoredOutcome, ...list: readonly Attempt[]) => {
    const consumed = { count: 1, digest: digestOutcomes([outcome]) };
    const [first, second] = offers(2);
    const own = [{ ...first!, consumedAttemptId: outcome.attemptId }, second!];
    return readOutcomes({ offers: own, consumed }, named(own, [session(1, list), session(2)]), NOW);
  };
  const processing = { processingTrace: { traceRef: 'trace', status: 'running' } };

  it('takes the first scored attempt of a session in canonical order as its outcome [MA-092]', () => {
    expect(read(attempt('c', 3, 0), attempt('a', 1, null), attempt('b', 2, 1))).toMatchObject(
      ok({ consumed: [], news: { attemptId: 'b', correct: true, sequence: 1 } }),
    );
    expect(read(attempt('a', 1, null))).toEqual(ok({ consumed: [], news: undefined }));
  });

  it('is a stream-conflict when two attempts claim one number with different outcomes [MA-215]', () => {
    expect(read(attempt('a', 1, 1), attempt('b', 1, 0))).toMatchObject(conflict);
    expect(read(attempt('a', 1, 1), attempt('b', 1, 1)).ok).toBe(true);
  });

  it('is a stream-conflict when anything changes about an outcome that was consumed [MA-142, MA-215]', () => {
    const first = read(attempt('a', 1, 1));
    if (!first.ok || first.value.news === undefined) throw new Error('no outcome');
    const outcome = first.value.news;
    const consumed = ok({ consumed: [{ attemptId: 'a', correct: true }] });
    expect(reread(outcome, attempt('a', 1, 1))).toMatchObject(consumed);
    for (const changed of [
      [attempt('a', 1, 0)],
      [attempt('a', 1, 1, { scoredAt: '2026-03-01T08:00:01Z' })],
      [attempt('a', 1, null)],
    ])
      expect(reread(outcome, ...changed)).toMatchObject(conflict);
    for (const missing of [[attempt('z', 1, 1)], []])
      expect(reread(outcome, ...missing)).toMatchObject(behind);
    // One that is scored after it changes nothing, though it is an earlier attempt.
    const second = { ...outcome, attemptNumber: 2 };
    expect(reread(second, attempt('late', 1, 0), attempt('a', 2, 1))).toMatchObject(consumed);
  });

  it('is a stream-conflict when a consumed outcome cannot be read any more', () => {
    const first = read(attempt('a', 1, 1));
    if (!first.ok || first.value.news === undefined) throw new Error('no outcome');
    const unreadable = attempt('a', 1, 1, { outcomes: { SCORE: 0.5 } });
    expect(reread(first.value.news, unreadable)).toMatchObject(conflict);
  });

  it('waits while an earlier attempt is handed in and not scored yet', () => {
    expect(read(attempt('a', 1, null, { status: 'submitted' }), attempt('b', 2, 1))).toEqual(
      ok({ consumed: [], news: undefined, pending: { hasFailed: false } }),
    );
  });

  it('does not judge attempts that do not count, nor outcome variables and statuses that it does not read', () => {
    const counts = attempt('a', 1, 1, { outcomes: { SCORE: 1, completionStatus: 'completed' } });
    const suspended = attempt('c', 3, null, { status: 'suspended' });
    expect(read(suspended, attempt('b', 2, 0.5), counts)).toMatchObject(ok({ news: { attemptId: 'a' } }));
  });

  it.each([
    ['a partial score', { outcomes: { SCORE: 0.5 } }],
    ['no SCORE', { outcomes: { OTHER: 1 } }],
    ['no outcomes', { outcomes: null }],
    ['no time', { scoredAt: undefined }],
  ])('refuses a scored attempt with %s: it is no outcome of this model', (_, broken) => {
    expect(read(attempt('a', 1, 1, broken))).toMatchObject(defective('not a 0 or 1 score'));
    const unprocessed = defective('not completed the processing', true);
    expect(read(attempt('a', 1, 1, { ...broken, ...processing }))).toMatchObject(unprocessed);
  });

  it('refuses a time more than seven days ahead, until it is consumed', () => {
    const days = (count: number, milliseconds = 0) =>
      new Date(NOW + count * 24 * 60 * 60 * 1000 + milliseconds).toISOString();
    const ahead = defective('more than seven days ahead', true);
    for (const far of [
      attempt('a', 1, 1, { scoredAt: days(7, 1) }),
      attempt('a', 1, 1, { submittedAt: days(7, 1) }),
      attempt('a', 1, 1, { scoredAt: '9999-12-31T23:59:59Z', ...processing }),
      attempt('a', 1, null, { status: 'submitted', submittedAt: days(8) }),
    ])
      expect(read(far)).toMatchObject(ahead);
    // When it was handed in counts for the time budget only if that time itself is possible.
    for (const [submittedAt, handedInMs] of [
      [AT, NOW],
      [days(8), undefined],
    ])
      expect(read(attempt('a', 1, 1, { submittedAt, scoredAt: days(9) }))).toMatchObject(
        ok({ pending: { handedInMs } }),
      );
    const near = attempt('a', 1, 1, { scoredAt: days(7), submittedAt: days(7) });
    expect(read(near)).toMatchObject(ok({ news: { scoredAt: days(7) } }));
    expect(read(attempt('a', 1, 1), attempt('b', 2, 1, { scoredAt: days(8) })).ok).toBe(true);
    const first = read(near);
    if (!first.ok || first.value.news === undefined) throw new Error('no outcome');
    const far = { ...first.value.news, scoredAt: days(8) };
    expect(reread(far, attempt('a', 1, 1, { scoredAt: days(8) }))).toMatchObject(
      ok({ consumed: [{ attemptId: 'a', scoredAt: days(8) }] }),
    );
  });

  it.each([
    ['keeps it', { submittedAt: '2026-03-01T07:00:00Z' }, Date.parse('2026-03-01T07:00:00Z')],
    ['does not: the time of scoring', {}, NOW],
  ])('takes for when an answer was handed in what QTI says, if it %s [MA-111]', (_, change, handedInMs) => {
    expect(read(attempt('a', 1, 1, change))).toMatchObject(ok({ news: { handedInMs } }));
    expect(read(attempt('a', 1, 1, { ...change, ...processing }))).toMatchObject(
      ok({ pending: { handedInMs } }),
    );
  });

  const submitted = { status: 'submitted', submittedAt: AT };
  const failed = { processingTrace: { traceRef: 'trace', status: 'failed' } };
  it.each([
    ['a trace that has failed', attempt('a', 1, 1, failed), true],
    [
      'a score that cannot be read, with a trace that has failed',
      attempt('a', 1, 1, { outcomes: null, ...failed }),
      true,
    ],
    ['a trace that has failed before a score', attempt('a', 1, null, { ...submitted, ...failed }), true],
    ['no trace', attempt('a', 1, 1, { processingTrace: undefined }), false],
    ['no score', attempt('a', 1, null, submitted), false],
  ])('waits for QTI with %s, even if a second attempt is scored [MA-030, MA-092]', (_, first, hasFailed) => {
    expect(read(first, attempt('b', 2, 1))).toEqual(
      ok({ consumed: [], news: undefined, pending: { handedInMs: NOW, sinceMs: NOW, hasFailed } }),
    );
  });

  it('has no news in a score that QTI still processes, and no contradiction [MA-030]', () => {
    const open = attempt('a', 1, 1, processing);
    for (const list of [[open], [open, attempt('b', 1, 0)]])
      expect(read(...list)).toEqual(
        ok({
          consumed: [],
          news: undefined,
          pending: { handedInMs: Date.parse(AT), sinceMs: Date.parse(AT), hasFailed: false },
        }),
      );
    expect(read(attempt('a', 1, 1), attempt('b', 1, 0, processing))).toMatchObject(
      ok({ news: { attemptId: 'a' } }),
    );
  });
});
