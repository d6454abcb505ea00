import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { parseUtcInstant } from '#shared/kernel/instant.ts';
import { err, ok, type Err, type Result } from '#shared/kernel/result.ts';
import { readCandidateRuntime } from '#shared/platform/operations.ts';
import type { Attempt, DeliverySession, RuntimeData } from '#shared/platform/owners/qti.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { AdaptiveRunState } from '../continuation/run-state.ts';
import { unconfirmed, differing, type UnconfirmedProblem } from '../upstream/confirmed.ts';
import { found } from '../upstream/problems.ts';

/** The outcome that counts for one offer. */
export interface ScoredOutcome {
  readonly sequence: number;
  readonly artifactVersionId: string;
  readonly attemptId: string;
  readonly attemptNumber: number;
  readonly correct: boolean;
  /** QTI's time of scoring, as QTI wrote it and as epoch milliseconds. */
  readonly scoredAt: string;
  readonly scoredAtMs: number;
  /** QTI's reference of the processing that made the outcome durable; not part of the digest. */
  readonly traceRef: string | undefined;
  /** When the learner handed it in, as epoch milliseconds of QTI's clock; the time of scoring if QTI does not keep that time. */
  readonly handedInMs: number;
}

/** How far QTI's clock may be ahead of ours. A later time is no error of a clock, and would be published with the result. */
const AHEAD_MS = 7 * 24 * 60 * 60 * 1000;

/** The members of a delivery session that a run uses; its attempts are in canonical order: by number, then by id [MA-092]. */
export type RunSession = Pick<
  DeliverySession,
  'deliverySessionId' | 'rootArtifactVersionId' | 'createdAt' | 'attempts'
>;

/** QTI's present sessions of a run's candidate, by run [MA-028]. */
export interface NamedRuntime {
  /** The sessions of the continuation's offers, in their order. */
  readonly sessions: readonly RunSession[];
  /** The run's own sessions that the continuation does not name: a lost acknowledgement, or a conflicting offer. */
  readonly unnamed: readonly RunSession[];
  /** The sessions of the learner's other runs over the bank. They narrow the pool and touch nothing else. */
  readonly others: readonly RunSession[];
  /** QTI's id of the reading. */
  readonly requestId?: string | undefined;
}

/** Returns the 409 of sessions that contradict the continuation. */
export function conflict(sessions: readonly RunSession[]): Err<UnconfirmedProblem> {
  const byId = sessions.toSorted((a, b) => (a.deliverySessionId < b.deliverySessionId ? -1 : 1));
  return differing(readCandidateRuntime, hashCanonical(byId.map(factsOf)));
}

/** Returns what a run reads of a session: QTI may add members, and change them at every reading. */
export function factsOf({ deliverySessionId, rootArtifactVersionId, attempts }: RunSession): object {
  return {
    deliverySessionId,
    artifactVersionId: rootArtifactVersionId,
    attempts: attempts.map((attempt) => ({
      attemptId: attempt.attemptId,
      attemptNumber: attempt.attemptNumber,
      status: attempt.status,
      outcomes: attempt.outcomes ?? null,
      scoredAt: attempt.scoredAt ?? null,
      processed: isProcessed(attempt),
    })),
  };
}

/** The runtime lacks a part of the run that it had, as of a replica that lags: 424, retryable. */
export function older(requestId: string | undefined): Err<UnconfirmedProblem> {
  return unconfirmed(found('older', readCandidateRuntime, requestId), readCandidateRuntime, '');
}

/** Returns the 424 of a scored attempt that is no evidence, retryable only while QTI may still correct it. */
function unreadable(requestId: string | undefined, attempt: Attempt): Problem {
  const [kind, detail] = isProcessed(attempt)
    ? (['broken', 'A scored attempt is not a 0 or 1 score with its time.'] as const)
    : (['pending', 'QTI has not completed the processing of an attempt.'] as const);
  return found(kind, readCandidateRuntime, requestId, detail);
}

/**
 * Sorts the sessions of a candidate's runtime data by run. The run's own are those that it names and those with its tag; a run without a tag, which is
 * older than tags, owns the sessions without one. 409 `stream-conflict` if they are not those of the continuation, 424 while one is missing.
 */
export function nameSessions(
  { offers, runTag }: Pick<AdaptiveRunState, 'offers' | 'runTag'>,
  runtime: RuntimeData,
  requestId?: string,
): Result<NamedRuntime, Problem | UnconfirmedProblem> {
  const all = runtime.sessions.map((session) => ({
    ...session,
    attempts: session.attempts.toSorted(
      (a, b) => a.attemptNumber - b.attemptNumber || (a.attemptId < b.attemptId ? -1 : 1),
    ),
  }));
  const named = new Set(offers.map(({ deliverySessionId }) => deliverySessionId));
  const { own = [], others = [] } = Object.groupBy(all, (session) =>
    named.has(session.deliverySessionId) || tagOf(session) === runTag ? 'own' : 'others',
  );
  const byId = new Map(own.map((session) => [session.deliverySessionId, session]));
  if (byId.size !== own.length) return conflict(own);
  const sessions: DeliverySession[] = [];
  for (const { deliverySessionId, artifactVersionId } of offers) {
    const session = byId.get(deliverySessionId);
    if (session === undefined) return older(requestId);
    if (session.rootArtifactVersionId !== artifactVersionId) return conflict(own);
    const tag = tagOf(session);
    if (tag !== undefined && tag !== runTag) return conflict(own);
    byId.delete(deliverySessionId);
    sessions.push(session);
  }
  const attemptIds = sessions.flatMap(({ attempts }) => attempts.map(({ attemptId }) => attemptId));
  return new Set(attemptIds).size === attemptIds.length
    ? ok({ sessions, unnamed: [...byId.values()], others, requestId })
    : err(found('broken', readCandidateRuntime, requestId, 'Two attempts of the run have one id.'));
}

function tagOf({ deliverySnapshot }: DeliverySession): string | undefined {
  return deliverySnapshot?.runTag ?? undefined;
}

/** A run's present evidence: an outcome for each consumed offer, and the outstanding offer's own once it is durable. */
export interface Evidence {
  readonly consumed: readonly ScoredOutcome[];
  readonly news: ScoredOutcome | undefined;
  /** The outstanding offer's answer while it does not count yet. */
  readonly pending: Pending | undefined;
}

/** An answer that QTI has yet to score, or to process. A time is undefined if QTI does not keep it. */
export interface Pending {
  readonly handedInMs: number | undefined;
  /** Since when QTI owes its next step, in epoch milliseconds. */
  readonly sinceMs: number | undefined;
  /** Whether QTI has given up processing it, and has to begin anew. */
  readonly hasFailed: boolean;
  /** Why it can never count as it is: the problem of a step that waits for it. */
  readonly defect?: Problem;
}

/**
 * Reads the evidence of a run for a request received at a time, in epoch milliseconds. A consumed offer keeps the consumed attempt, even if another one of
 * its session is scored later. If that attempt has changed, the stream is not the one that the continuation describes; while it is missing, QTI is behind.
 */
export function readOutcomes(
  { offers, consumed: pinned }: Pick<AdaptiveRunState, 'offers' | 'consumed'>,
  { sessions, requestId }: NamedRuntime,
  receivedAt: number,
): Result<Evidence, Problem | UnconfirmedProblem> {
  const consumed: ScoredOutcome[] = [];
  let news: ScoredOutcome | undefined;
  let pending: Evidence['pending'];
  for (const [index, { rootArtifactVersionId, attempts }] of sessions.entries()) {
    const sequence = index + 1;
    const isConsumed = sequence <= pinned.count;
    const counting = isConsumed
      ? attempts.find(({ attemptId }) => attemptId === offers[index]?.consumedAttemptId)
      : firstHandedIn(attempts);
    if (counting === undefined) {
      if (isConsumed) return older(requestId);
      continue;
    }
    const outcome = outcomeOf(sequence, rootArtifactVersionId, counting);
    if (isConsumed) {
      if (counting.status !== 'scored' || outcome === undefined) return conflict(sessions);
      consumed.push(outcome);
    } else {
      pending = pendingOf(counting, outcome, receivedAt, requestId);
      if (pending !== undefined) continue;
      news ??= outcome;
    }
    if (isContradicted(counting, attempts)) return conflict(sessions);
  }
  return digestOutcomes(consumed) === pinned.digest ? ok({ consumed, news, pending }) : conflict(sessions);
}

/** Returns the digest of the consumed outcomes, which the continuation keeps to notice any later change of them. */
export function digestOutcomes(outcomes: readonly ScoredOutcome[]): string {
  return hashCanonical(
    outcomes.map(({ sequence, artifactVersionId, attemptId, attemptNumber, correct, scoredAt }) => ({
      sequence,
      artifactVersionId,
      attemptId,
      attemptNumber,
      correct,
      scoredAt,
    })),
  );
}

/** Returns the first attempt in canonical order that is handed in: it counts once it is scored, even if another one is scored before it. */
export function firstHandedIn(attempts: readonly Attempt[]): Attempt | undefined {
  return attempts.find(({ status }) => status === 'scored' || status === 'submitted');
}

/** Returns why the outstanding answer does not count yet, for a request received at a time; undefined if it does. */
function pendingOf(
  attempt: Attempt,
  outcome: ScoredOutcome | undefined,
  receivedAt: number,
  requestId: string | undefined,
): Pending | undefined {
  const [submitted, scored] = [timeOf(attempt.submittedAt), timeOf(attempt.scoredAt)];
  const hasFailed = attempt.processingTrace?.status === 'failed';
  const waiting = {
    handedInMs: attempt.submittedAt === undefined ? scored : submitted,
    sinceMs: attempt.scoredAt === undefined ? submitted : scored,
    hasFailed,
  };
  const latest = receivedAt + AHEAD_MS;
  if (Math.max(submitted ?? 0, scored ?? 0) > latest) {
    const detail = 'A time of an attempt is more than seven days ahead.';
    // If it is unknown when it was handed in, the run waits, even after its time budget.
    return {
      ...waiting,
      handedInMs: submitted !== undefined && submitted <= latest ? submitted : undefined,
      defect: found('pending', readCandidateRuntime, requestId, detail),
    };
  }
  if (attempt.status === 'submitted' || hasFailed) return waiting;
  if (outcome === undefined) return { ...waiting, defect: unreadable(requestId, attempt) };
  return isProcessed(attempt) ? undefined : waiting;
}

/** Returns whether QTI has completed the processing of an attempt, which makes its outcome durable [MA-030]. */
function isProcessed({ processingTrace }: Attempt): boolean {
  return processingTrace?.status === 'completed';
}

/** Returns a time of QTI's in epoch milliseconds; undefined if QTI gives none that can be read. */
function timeOf(text: unknown): number | undefined {
  return typeof text === 'string' ? parseUtcInstant(text) : undefined;
}

function scoreOf({ outcomes }: Attempt): unknown {
  return typeof outcomes === 'object' && outcomes !== null && 'SCORE' in outcomes
    ? outcomes.SCORE
    : undefined;
}

function outcomeOf(sequence: number, artifactVersionId: string, attempt: Attempt): ScoredOutcome | undefined {
  const score = scoreOf(attempt);
  const { attemptId, attemptNumber, scoredAt, submittedAt } = attempt;
  const scoredAtMs = timeOf(scoredAt);
  const handedInMs = submittedAt === undefined ? scoredAtMs : timeOf(submittedAt);
  if ((score !== 0 && score !== 1) || typeof scoredAt !== 'string') return undefined;
  if (scoredAtMs === undefined || handedInMs === undefined) return undefined;
  return {
    sequence,
    artifactVersionId,
    attemptId,
    attemptNumber,
    correct: score === 1,
    scoredAt,
    scoredAtMs,
    traceRef: attempt.processingTrace?.traceRef,
    handedInMs,
  };
}

/** Returns whether another durable attempt has the same number with another outcome. */
function isContradicted(counting: Attempt, attempts: readonly Attempt[]): boolean {
  return attempts.some(
    (other) =>
      other.attemptNumber === counting.attemptNumber &&
      other.status === 'scored' &&
      isProcessed(other) &&
      scoreOf(other) !== scoreOf(counting),
  );
}
