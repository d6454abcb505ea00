import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { operations } from '#shared/platform/operations.ts';
import type { Attempt, DeliverySession } from '#shared/platform/owners/qti.ts';
import type { Platform } from '#shared/platform/platform.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { invalidPool, upstreamProblem } from '#functions/mastery/upstream/problems.ts';
import { canonicalAttempts } from './outcomes.ts';
import { offerKey } from './publication/names.ts';
import type { Offer, RunState } from './state.ts';

/** An offer with the attempts that QTI already holds for it: none, unless the session was found. */
export interface PlacedOffer {
  readonly offer: Offer;
  readonly attempts: readonly Attempt[];
}

/** The item to deliver: a member of the reconciled pool. */
export interface SelectedItem {
  readonly artifactVersionId: string;
  readonly qtiIdentifier: string;
}

/**
 * Has QTI deliver one item to the run's pseudonymous candidate [MA-029]. A session that an earlier, interrupted request left behind is taken
 * up; an open one with another item is a conflict that no write may deepen [MA-215].
 * `unnamed`: the candidate's sessions that the continuation does not name.
 */
export async function offerItem(
  platform: Platform,
  state: RunState,
  unnamed: readonly DeliverySession[],
  item: SelectedItem,
): Promise<Result<PlacedOffer, Problem>> {
  const left = unnamed
    .filter((session) => session.rootArtifactVersionId === item.artifactVersionId)
    .toSorted((a, b) => (a.deliverySessionId < b.deliverySessionId ? -1 : 1))[0];
  if (unnamed.some((session) => session !== left && isOpen(session)))
    return err(problem('mastery', 'stream-conflict', 409));
  if (left !== undefined)
    return ok({
      offer: { deliverySessionId: left.deliverySessionId, artifactVersionId: item.artifactVersionId },
      attempts: canonicalAttempts(left),
    });
  return createSession(platform, state, item);
}

async function createSession(
  platform: Platform,
  state: RunState,
  item: SelectedItem,
): Promise<Result<PlacedOffer, Problem>> {
  const sequence = state.offers.length + 1;
  const answer = await platform.call(operations.offerSelectedItem, {
    path: { tenantId: state.tenantId },
    idempotencyKey: offerKey(state, sequence),
    body: {
      candidateRef: state.candidateRef,
      rootArtifactVersionId: item.artifactVersionId,
      deliverySnapshot: {
        poolArtifactVersionId: state.pins.qtiPoolArtifactVersionId,
        packageId: state.pins.qtiPoolPackageId,
        packageHash: state.pins.qtiPoolPackageHash,
        qtiIdentifier: item.qtiIdentifier,
        sequence,
      },
    },
  });
  if (!answer.ok) return err(upstreamProblem(answer.error));
  const session = answer.value.value;
  if (session.candidateRef !== state.candidateRef || session.rootArtifactVersionId !== item.artifactVersionId)
    return err(invalidPool(operations.offerSelectedItem, answer.value.upstreamRequestId));
  return ok({
    offer: {
      deliverySessionId: session.deliverySessionId,
      artifactVersionId: session.rootArtifactVersionId,
    },
    attempts: [],
  });
}

/** A session waits for its learner until one of its attempts is scored; QTI's closing of sessions plays no part [MA-144]. */
function isOpen(session: DeliverySession): boolean {
  return !session.attempts.some((attempt) => attempt.status === 'scored');
}
