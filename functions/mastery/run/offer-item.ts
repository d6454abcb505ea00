import { confirmed, type UnconfirmedProblem } from '#functions/mastery/upstream/confirmed.ts';
import { answerProblem } from '#functions/mastery/upstream/problems.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { namesOf } from './names.ts';
import type { BoundItem } from './bound-pool.ts';
import { conflict, type NamedRuntime, type RunSession } from './outcomes.ts';
import { readSessions } from './runtime.ts';
import type { AdaptiveRunState } from '../continuation/run-state.ts';

/**
 * Has QTI deliver one item to the run's pseudonymous candidate [MA-029], unless `findOffer` finds it. If QTI itself reports a conflict, a twin request may
 * have been faster, so QTI is read once more. If it then shows no open session of this run, its refusal was wrong, which is no conflict of ours.
 */
export async function offerItem(
  platform: Platform,
  state: AdaptiveRunState,
  { unnamed, others }: Pick<NamedRuntime, 'unnamed' | 'others'>,
  item: BoundItem,
): Promise<Result<RunSession, Problem>> {
  const found = await findOffer(platform, state, unnamed, item);
  if (!found.ok) return found;
  if (found.value !== undefined) return ok(found.value);
  const sequence = state.offers.length + 1;
  const { qtiPoolArtifactVersionId, qtiPoolPackageId, qtiPoolPackageHash } = state.pins;
  const answer = await platform.call(operations.offerSelectedItem, {
    idempotencyKey: namesOf(state).offerKey(sequence),
    body: {
      candidateRef: state.candidateRef,
      rootArtifactVersionId: item.artifactVersionId,
      deliverySnapshot: {
        poolArtifactVersionId: qtiPoolArtifactVersionId,
        packageId: qtiPoolPackageId,
        packageHash: qtiPoolPackageHash,
        qtiIdentifier: item.qtiIdentifier,
        sequence,
        ...(state.runTag === undefined ? {} : { runTag: state.runTag }),
      },
    },
  });
  if (answer.ok) {
    const { value: session } = answer.value;
    // If QTI returns no run tags, an earlier session of this offer is among the others.
    const repeated = others.find(({ deliverySessionId }) => deliverySessionId === session.deliverySessionId);
    return ok({ ...session, attempts: repeated?.attempts ?? [] });
  }
  const refused = err(answerProblem(operations.offerSelectedItem, 'offer', answer.error));
  if (answer.error.kind !== 'conflict') return refused;
  await platform.pause();
  const twin = await confirmed(platform, () => findAgain(platform, state, item));
  if (!twin.ok) return twin;
  return twin.value === undefined ? refused : ok(twin.value);
}

/**
 * Finds the session that an earlier request of this run left for an item, at any progress of the run, so that a replay finds it again. If there is none, an
 * open session of this run with another item is a conflict that no write may deepen [MA-215]; QTI is read again before the service believes it.
 * @param unnamed the run's own sessions that the continuation does not name
 */
export async function findOffer(
  platform: Platform,
  state: AdaptiveRunState,
  unnamed: readonly RunSession[],
  item: BoundItem,
): Promise<Result<RunSession | undefined, Problem>> {
  return confirmed(platform, () => findAgain(platform, state, item), offerAmong(unnamed, item));
}

async function findAgain(
  platform: Platform,
  state: AdaptiveRunState,
  item: BoundItem,
): Promise<Result<RunSession | undefined, Problem | UnconfirmedProblem>> {
  const runtime = await readSessions(platform, state);
  return runtime.ok ? offerAmong(runtime.value.unnamed, item) : runtime;
}

function offerAmong(
  unnamed: readonly RunSession[],
  item: BoundItem,
): Result<RunSession | undefined, UnconfirmedProblem> {
  const found = findSession(unnamed, item);
  return found === undefined && unnamed.some(isOpen) ? conflict(unnamed) : ok(found);
}

/** Returns the session of an item among those that the continuation does not name: an earlier request of this run had it delivered. */
export function findSession(
  sessions: readonly RunSession[],
  { artifactVersionId }: BoundItem,
): RunSession | undefined {
  return sessions
    .filter(({ rootArtifactVersionId }) => rootArtifactVersionId === artifactVersionId)
    .toSorted((a, b) => (a.deliverySessionId < b.deliverySessionId ? -1 : 1))[0];
}

/** Returns whether a session waits for its learner: until one of its attempts is scored, even if QTI has closed it [MA-144]. */
export function isOpen(session: RunSession): boolean {
  return !session.attempts.some((attempt) => attempt.status === 'scored');
}
