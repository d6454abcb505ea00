import * as z from 'zod';
import { executionPins, runMode } from '#shared/contract/mastery/adaptive-run.ts';
import { stopReason } from '#shared/contract/stop-reason.ts';
import { identifier, sha256 } from '#shared/contract/mastery/primitives.ts';

/** One item that QTI has been asked to deliver; its sequence is its place in the list, from 1. */
export const offer = z.strictObject({
  deliverySessionId: identifier,
  artifactVersionId: identifier,
  /** The attempt whose outcome was consumed; absent while the item is outstanding. */
  consumedAttemptId: identifier.optional(),
  /** QTI's processing trace of that outcome. Sealed, so that a retried result record has the same bytes; tokens of version 0.1.0 lack it. */
  consumedTraceRef: identifier.optional(),
});
export type Offer = z.infer<typeof offer>;

/** What the owners have acknowledged so far. A member exists only after the owner's own answer proved it. */
export const acknowledgements = z.strictObject({
  resultRecordId: identifier.optional(),
  componentsAcknowledged: z.literal(true).optional(),
  caliperEventIri: identifier.optional(),
});
export type Acknowledgements = z.infer<typeof acknowledgements>;

/**
 * The actual cause of a run's end. Where it is not the stop reason itself, the reason is `max_items`: because of this rule no further item could be
 * offered (docs/engine.md, "Selection").
 */
export const stopCause = z.enum([
  ...stopReason.options,
  'pool_exhausted',
  'content_maxima',
  'component_limit',
  'no_informative_item',
  // A release that does not know a cause refuses the policy whose key leads to it (`minimumDecisionGain`), so it never sees a token that has it.
  'no_deciding_item',
]);
export type StopCause = z.infer<typeof stopCause>;

/**
 * Everything that the service keeps of a run between two requests. It exists only sealed inside the continuation [MA-003]: answers stay with QTI, and
 * the posterior is rebuilt from them on every request.
 */
export const adaptiveRunState = z.strictObject({
  version: z.literal(1),
  tenantId: identifier,
  runMode,
  selectionPolicyId: identifier,
  selectionPolicyChecksum: sha256,
  scaleCalibrationId: identifier,
  scaleCalibrationChecksum: sha256,
  pins: executionPins,
  candidateRef: identifier,
  runSeed: sha256,
  /** The tag by which QTI distinguishes the run's sessions from those of the learner's other runs; absent in a run started before tags existed. */
  runTag: sha256.optional(),
  /** Epoch milliseconds at which the start's idempotency record was created. */
  startedAt: z.int().min(0),
  /** Epoch milliseconds at which the time budget began to run; tokens of version 0.1.0 lack it, and `startedAt` applies. */
  clockStart: z.int().min(0).optional(),
  /** How the run names things in Caliper's events (`eventNamesOf`); tokens of earlier versions lack it. */
  eventNames: z.literal('uuid').optional(),
  /** How a learner's run judges its answers when it stops (engine/person-fit.ts); tokens of earlier versions lack it, and nothing is judged. */
  personFit: z.literal('prequential/1').optional(),
  resultsStudentId: identifier.optional(),
  offers: z.array(offer),
  /** How many of the offers have been consumed, and a digest of the outcomes that counted. */
  consumed: z.strictObject({ count: z.int().min(0), digest: sha256 }),
  stopReason: stopReason.nullable(),
  /** From the stop on; tokens of version 0.1.0 lack it. */
  stopCause: stopCause.optional(),
  acknowledgements,
});
export type AdaptiveRunState = z.infer<typeof adaptiveRunState>;

export type RunStatus = 'in_progress' | 'finalizing' | 'completed';

/**
 * Returns the run's status. A run without a stop reason is in progress; it is completed once Results (learner mode only) and Caliper have
 * acknowledged everything [MA-138, MA-139].
 */
export function statusOf(state: AdaptiveRunState): RunStatus {
  if (state.stopReason === null) return 'in_progress';
  const isAcknowledged = resultsAcknowledged(state) && state.acknowledgements.caliperEventIri !== undefined;
  return isAcknowledged ? 'completed' : 'finalizing';
}

/** Returns whether Results has acknowledged everything; a conformance run never writes there [MA-013]. */
export function resultsAcknowledged(state: AdaptiveRunState): boolean {
  return (
    state.runMode === 'owner_conformance' ||
    (state.acknowledgements.resultRecordId !== undefined &&
      state.acknowledgements.componentsAcknowledged === true)
  );
}

/** Returns the offer that waits for its outcome; undefined if all offers are consumed. */
export function outstandingOffer(
  state: AdaptiveRunState,
): (Offer & { readonly sequence: number }) | undefined {
  const waiting = state.offers[state.consumed.count];
  return waiting === undefined ? undefined : { ...waiting, sequence: state.consumed.count + 1 };
}
