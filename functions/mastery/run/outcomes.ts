import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { parseUtcInstant } from '#shared/kernel/instant.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Attempt, DeliverySession, RuntimeData } from '#shared/platform/owners/qti.ts';
import type { Offer, AdaptiveRunState } from '../continuation/run-state.ts';

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
  /** QTI's reference of the processing that made the outcome durable; no part of the digest. */
  readonly traceRef: string | undefined;
  /** When the learner handed it in, as epoch milliseconds of QTI's clock; the time of scoring where QTI does not keep that time. */
  readonly handedInMs: number;
}

/** The two of QTI's attempt statuses that a run tells from the rest, and the one of its processing traces. */
const SCORED = 'scored';
const SUBMITTED = 'submitted';
const COMPLETED = 'completed';

/** A session that the continuation names. */
export interface NamedSession {
  readonly offer: Offer;
  /** By QTI's clock. */
  readonly createdAt: string;
  /** In canonical order [MA-092]. */
  readonly attempts: readonly Attempt[];
}

/** What QTI holds now of a run's candidate, run by run [MA-028]. */
export interface NamedRuntime {
  /** The sessions that the continuation names, in its order. */
  readonly sessions: readonly NamedSession[];
  /** The run's own sessions that the continuation does not name: a lost acknowledgement, or a conflicting offer. */
  readonly unnamed: readonly DeliverySession[];
  /** The sessions of the learner's other runs over the bank. They narrow the pool and touch nothing else. */
  readonly others: readonly DeliverySession[];
}

/**
 * `stream-conflict`: the runtime contradicts the continuation. `unprocessed`: an outcome is not a score of 0 or 1 with a time, and QTI has not
 * completed its processing. `unreadable`: the same, and it has. `same-id`: two attempts have one id.
 */
export type RuntimeFault = 'stream-conflict' | 'unprocessed' | 'unreadable' | 'same-id';

/**
 * Tells the sessions of a candidate's runtime data apart and orders the attempts of the named ones by number, then id. The run's own are
 * those that it names and those with its tag; a run without a tag, which is older than tags, owns the sessions without one.
 */
export function nameSessions(
  { offers, runTag }: Pick<AdaptiveRunState, 'offers' | 'runTag'>,
  runtime: RuntimeData,
): Result<NamedRuntime, RuntimeFault> {
  const named = new Set(offers.map(({ deliverySessionId }) => deliverySessionId));
  const isOwn = (session: DeliverySession): boolean =>
    named.has(session.deliverySessionId) || tagOf(session) === runTag;
  const own = runtime.sessions.filter(isOwn);
  const byId = new Map(own.map((session) => [session.deliverySessionId, session]));
  if (byId.size !== own.length) return err('stream-conflict');
  const sessions: NamedSession[] = [];
  for (const offer of offers) {
    const session = byId.get(offer.deliverySessionId);
    if (session === undefined || session.rootArtifactVersionId !== offer.artifactVersionId)
      return err('stream-conflict');
    const tag = tagOf(session);
    if (tag !== undefined && tag !== runTag) return err('stream-conflict');
    byId.delete(offer.deliverySessionId);
    sessions.push({ ...namedSession(session), offer });
  }
  const attemptIds = sessions.flatMap(({ attempts }) => attempts.map(({ attemptId }) => attemptId));
  if (new Set(attemptIds).size !== attemptIds.length) return err('same-id');
  const others = runtime.sessions.filter((session) => !isOwn(session));
  return ok({ sessions, unnamed: [...byId.values()], others });
}

function tagOf({ deliverySnapshot }: DeliverySession): string | undefined {
  return deliverySnapshot?.runTag ?? undefined;
}

/** What a run's evidence is now: an outcome for each consumed offer, and the outstanding offer's own once it is durable. */
export interface Evidence {
  readonly consumed: readonly ScoredOutcome[];
  readonly news: ScoredOutcome | undefined;
  /** The outstanding offer's answer while it waits for its score; its time is undefined where QTI does not keep it. */
  readonly pending: { readonly handedInMs: number | undefined } | undefined;
}

/**
 * The evidence of a run. A consumed offer keeps the attempt that was consumed, whatever is scored in its session later; if that attempt has
 * changed or is gone, the stream is no longer the one that the continuation describes.
 */
export function readOutcomes(state: AdaptiveRunState, runtime: NamedRuntime): Result<Evidence, RuntimeFault> {
  const consumed: ScoredOutcome[] = [];
  let news: ScoredOutcome | undefined;
  let pending: Evidence['pending'];
  for (const [index, { offer, attempts }] of runtime.sessions.entries()) {
    const sequence = index + 1;
    const isConsumed = sequence <= state.consumed.count;
    const counting = isConsumed
      ? attempts.find(({ attemptId, status }) => attemptId === offer.consumedAttemptId && status === SCORED)
      : firstHandedIn(attempts);
    if (counting === undefined) {
      if (isConsumed) return err('stream-conflict');
      continue;
    }
    if (counting.status === SUBMITTED) {
      pending = { handedInMs: handInOf(counting) };
      continue;
    }
    const outcome = outcomeOf(sequence, offer, counting);
    if (outcome === undefined) return err(isProcessed(counting) ? 'unreadable' : 'unprocessed');
    // What QTI still works on is waited for. A consumed outcome was durable: only what the digest covers can take it back.
    if (!isConsumed && !isProcessed(counting)) {
      pending = { handedInMs: outcome.handedInMs };
      continue;
    }
    if (isContradicted(counting, attempts)) return err('stream-conflict');
    if (isConsumed) consumed.push(outcome);
    else news ??= outcome;
  }
  return digestOutcomes(consumed) === state.consumed.digest
    ? ok({ consumed, news, pending })
    : err('stream-conflict');
}

/** The digest that the continuation keeps of what it has consumed: a later change of any of it is seen. */
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

/** The first attempt in canonical order that is handed in: it counts once it is scored, whatever is scored before it. */
export function firstHandedIn(attempts: readonly Attempt[]): Attempt | undefined {
  return attempts.find(({ status }) => status === SCORED || status === SUBMITTED);
}

/** Whether QTI has completed the processing of an attempt, which makes its outcome durable [MA-030]. */
export function isProcessed({ processingTrace }: Attempt): boolean {
  return processingTrace?.status === COMPLETED;
}

/** When an attempt was handed in, in epoch milliseconds; undefined where QTI does not say so in a time that can be read. */
function handInOf({ submittedAt }: Attempt): number | undefined {
  return typeof submittedAt === 'string' ? parseUtcInstant(submittedAt) : undefined;
}

function scoreOf({ outcomes }: Attempt): unknown {
  return typeof outcomes === 'object' && outcomes !== null && 'SCORE' in outcomes
    ? outcomes.SCORE
    : undefined;
}

function outcomeOf(sequence: number, offer: Offer, attempt: Attempt): ScoredOutcome | undefined {
  const score = scoreOf(attempt);
  const { scoredAt, submittedAt } = attempt;
  const scoredAtMs = typeof scoredAt === 'string' ? parseUtcInstant(scoredAt) : undefined;
  const handedInMs = submittedAt === undefined ? scoredAtMs : handInOf(attempt);
  if ((score !== 0 && score !== 1) || typeof scoredAt !== 'string' || scoredAtMs === undefined)
    return undefined;
  if (handedInMs === undefined) return undefined;
  return {
    sequence,
    artifactVersionId: offer.artifactVersionId,
    attemptId: attempt.attemptId,
    attemptNumber: attempt.attemptNumber,
    correct: score === 1,
    scoredAt,
    scoredAtMs,
    traceRef: attempt.processingTrace?.traceRef,
    handedInMs,
  };
}

/** Whether another durable attempt claims the same number with another outcome. */
function isContradicted(counting: Attempt, attempts: readonly Attempt[]): boolean {
  return attempts.some(
    (other) =>
      other.attemptNumber === counting.attemptNumber &&
      other.status === SCORED &&
      isProcessed(other) &&
      scoreOf(other) !== scoreOf(counting),
  );
}

/** A session as the continuation names it once its item is offered: its attempts by number, then id [MA-092]. */
export function namedSession({
  deliverySessionId,
  rootArtifactVersionId: artifactVersionId,
  createdAt,
  attempts,
}: Pick<
  DeliverySession,
  'deliverySessionId' | 'rootArtifactVersionId' | 'createdAt' | 'attempts'
>): NamedSession {
  return {
    offer: { deliverySessionId, artifactVersionId },
    createdAt,
    attempts: attempts.toSorted(
      (a, b) => a.attemptNumber - b.attemptNumber || (a.attemptId < b.attemptId ? -1 : 1),
    ),
  };
}
