import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { parseInstant } from '#shared/kernel/instant.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Attempt, DeliverySession, RuntimeData } from '#shared/platform/owners/qti.ts';
import type { Offer, RunState } from './state.ts';

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
}

/** What QTI holds now for the sessions that the continuation names, in canonical order [MA-028, MA-092]. */
export interface NamedRuntime {
  readonly sessions: readonly { readonly offer: Offer; readonly attempts: readonly Attempt[] }[];
  /** The candidate's sessions that the continuation does not name: a lost acknowledgement, or a conflicting offer. */
  readonly unnamed: readonly DeliverySession[];
}

/** `stream-conflict`: the runtime contradicts the continuation. `malformed`: an outcome is not a 0/1 score with a time. */
export type RuntimeFault = 'stream-conflict' | 'malformed';

/** Picks the named sessions out of a candidate's runtime data and orders their attempts by number, then id. */
export function nameSessions(
  offers: readonly Offer[],
  runtime: RuntimeData,
): Result<NamedRuntime, RuntimeFault> {
  const byId = new Map(runtime.sessions.map((session) => [session.deliverySessionId, session]));
  if (byId.size !== runtime.sessions.length) return err('stream-conflict');
  const sessions = [];
  for (const offer of offers) {
    const session = byId.get(offer.deliverySessionId);
    if (session === undefined || session.rootArtifactVersionId !== offer.artifactVersionId)
      return err('stream-conflict');
    byId.delete(offer.deliverySessionId);
    sessions.push({ offer, attempts: canonicalAttempts(session) });
  }
  return ok({ sessions, unnamed: [...byId.values()] });
}

/** The scored outcomes of a run: one for each consumed offer, then the outstanding offer's own if QTI has scored it by now. */
export function readOutcomes(
  state: RunState,
  runtime: NamedRuntime,
): Result<
  { readonly consumed: readonly ScoredOutcome[]; readonly news: ScoredOutcome | undefined },
  RuntimeFault
> {
  const scored: (ScoredOutcome | undefined)[] = [];
  for (const [index, session] of runtime.sessions.entries()) {
    const outcome = firstScored(index + 1, session.offer, session.attempts);
    if (!outcome.ok) return outcome;
    scored.push(outcome.value);
  }
  const consumed = scored.slice(0, state.consumed.count).filter((outcome) => outcome !== undefined);
  if (digestOutcomes(consumed) !== state.consumed.digest) return err('stream-conflict');
  return ok({ consumed, news: scored[state.consumed.count] });
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

function firstScored(
  sequence: number,
  offer: Offer,
  attempts: readonly Attempt[],
): Result<ScoredOutcome | undefined, RuntimeFault> {
  const outcomes: ScoredOutcome[] = [];
  for (const attempt of attempts) {
    if (attempt.status !== 'scored') continue;
    const score = attempt.outcomes?.['SCORE'];
    const scoredAtMs = attempt.scoredAt === undefined ? undefined : parseInstant(attempt.scoredAt);
    if ((score !== 0 && score !== 1) || attempt.scoredAt === undefined || scoredAtMs === undefined)
      return err('malformed');
    outcomes.push({
      sequence,
      artifactVersionId: offer.artifactVersionId,
      attemptId: attempt.attemptId,
      attemptNumber: attempt.attemptNumber,
      correct: score === 1,
      scoredAt: attempt.scoredAt,
      scoredAtMs,
    });
  }
  for (const [index, outcome] of outcomes.entries()) {
    const previous = outcomes[index - 1];
    if (previous?.attemptNumber === outcome.attemptNumber && previous.correct !== outcome.correct)
      return err('stream-conflict');
  }
  return ok(outcomes[0]);
}

/** A session's attempts by number, then id [MA-092]. */
export function canonicalAttempts(session: DeliverySession): readonly Attempt[] {
  return session.attempts.toSorted(canonicalOrder);
}

function canonicalOrder(left: Attempt, right: Attempt): number {
  if (left.attemptNumber !== right.attemptNumber) return left.attemptNumber - right.attemptNumber;
  return left.attemptId < right.attemptId ? -1 : left.attemptId > right.attemptId ? 1 : 0;
}
