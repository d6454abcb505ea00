import type { inspectAdaptiveRun } from '#shared/contract/mastery/routes.ts';
import type { Operation } from '#shared/http/operation.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Continuation } from '#functions/mastery/continuation/continuation.ts';
import { composeRun } from './compose.ts';
import type { RunDependencies } from './dependencies.ts';
import { diagnose } from './diagnosis.ts';
import type { Diagnosis } from './diagnosis.ts';
import { runEntityTag } from './entity-tag.ts';
import { readOutcomes } from './outcomes.ts';
import type { ScoredOutcome } from './outcomes.ts';
import { runtimeProblem } from './owners.ts';
import { completionEventIri } from './publication/names.ts';
import { completionIsProven } from './publication/publish.ts';
import { recordReceipt } from './receipt.ts';
import { openForCaller, reopenRun } from './reopen.ts';
import type { ReopenedRun } from './reopen.ts';
import { resultsAcknowledged, statusOf } from './state.ts';
import { acknowledge } from './transitions/acknowledge.ts';

/**
 * Rereads a run and shows it as it stands: the same token, the current ETag, no write and no new semantic operation [MA-140, MA-156]. An
 * outcome that QTI has scored since is in the ETag and not yet in the diagnosis: only advance consumes.
 */
export function inspectRun(dependencies: RunDependencies): Operation<typeof inspectAdaptiveRun> {
  return async (request) => {
    const opened = await openForCaller(dependencies, request, request.body.continuationToken);
    if (!opened.ok) return opened;
    const continuation = opened.value;
    return request.idempotent(async () => {
      const reopened = await reopenRun(dependencies, request, continuation);
      if (!reopened.ok) return reopened;
      const { basis, platform, profile, runtime } = reopened.value;
      if (!basis.ok) return basis;
      const outcomes = readOutcomes(continuation.state, runtime);
      if (!outcomes.ok) return err(runtimeProblem(outcomes.error));
      const diagnosis = diagnose(basis.value, outcomes.value.consumed);
      const shown = await withProof(continuation, reopened.value, diagnosis, outcomes.value.consumed);
      const receiptId = recordReceipt(request.log, profile, platform, basis.value, shown.state);
      return ok({
        body: composeRun(shown, diagnosis, receiptId),
        headers: { ETag: runEntityTag(continuation.state, runtime) },
      });
    });
  };
}

/** A finalizing run shows as completed once Results is done with and Caliper proves the event: an acknowledgement that was lost on its way. */
async function withProof(
  continuation: Continuation,
  { platform }: ReopenedRun,
  diagnosis: Diagnosis,
  outcomes: readonly ScoredOutcome[],
): Promise<Continuation> {
  const { state } = continuation;
  const { scale, classifications } = diagnosis;
  if (statusOf(state) !== 'finalizing' || !resultsAcknowledged(state) || scale === null) return continuation;
  const proven = await completionIsProven(platform, state, { scale, classifications, outcomes });
  if (!proven) return continuation;
  return { ...continuation, state: acknowledge(state, { caliperEventIri: completionEventIri(state) }) };
}
