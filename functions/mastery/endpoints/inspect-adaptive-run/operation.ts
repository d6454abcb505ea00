import type { Continuation } from '#functions/mastery/continuation/continuation.ts';
import type { inspectAdaptiveRun } from '#shared/contract/mastery/routes.ts';
import type { Operation } from '#shared/http/operation.ts';
import { ok } from '#shared/kernel/result.ts';
import type { Platform } from '#shared/platform/platform.ts';
import { composeRun } from '#functions/mastery/run/compose.ts';
import type { RunDependencies } from '#functions/mastery/run/dependencies.ts';
import { diagnose } from '#functions/mastery/run/diagnosis.ts';
import { runEntityTag } from '#functions/mastery/run/entity-tag.ts';
import { completionEventIri } from '#functions/mastery/run/names.ts';
import { openRunPlatform } from '#functions/mastery/run/open-platform.ts';
import { findingsOf } from '#functions/mastery/run/publication/findings.ts';
import type { Findings } from '#functions/mastery/run/publication/findings.ts';
import { completionIsProven } from '#functions/mastery/run/publication/publish.ts';
import { recordReceipt } from '#functions/mastery/run/receipt.ts';
import { openForCaller, reopenBasis } from '#functions/mastery/run/reopen.ts';
import { readRunRuntime } from '#functions/mastery/run/runtime.ts';
import { resultsAcknowledged, statusOf } from '#functions/mastery/continuation/run-state.ts';
import { acknowledge } from '#functions/mastery/run/transitions/acknowledge.ts';

/**
 * Rereads a run and shows it as it stands: the same token, the current ETag, no write and no new semantic operation [MA-140, MA-156]. An
 * outcome that QTI has scored since is in the ETag and not yet in the diagnosis: only advance consumes.
 */
export function inspectRun(dependencies: RunDependencies): Operation<typeof inspectAdaptiveRun> {
  return async (request) => {
    const continuation = await openForCaller(dependencies, request, request.body.continuationToken);
    if (!continuation.ok) return continuation;
    return request.idempotent(async () => {
      const { state } = continuation.value;
      const opened = await openRunPlatform(dependencies, request);
      if (!opened.ok) return opened;
      const { platform } = opened.value;
      const [runtime, basis] = await Promise.all([
        readRunRuntime(platform, state),
        reopenBasis(dependencies, request, platform, state),
      ]);
      if (!runtime.ok) return runtime;
      if (!basis.ok) return basis;
      const diagnosis = diagnose(basis.value, runtime.value.consumed);
      const findings = findingsOf(state, diagnosis, runtime.value.consumed);
      const shown = await withProof(platform, continuation.value, findings);
      const receiptId = recordReceipt(request.log, opened.value, basis.value, state);
      return ok({
        body: composeRun(shown, basis.value.policy, diagnosis, receiptId),
        headers: { ETag: runEntityTag(state, runtime.value.named) },
      });
    });
  };
}

/** A finalizing run shows as completed once Results is done with and Caliper proves the event: an acknowledgement that was lost on its way. */
async function withProof(
  platform: Platform,
  continuation: Continuation,
  findings: Findings | undefined,
): Promise<Continuation> {
  const { state } = continuation;
  if (findings === undefined || statusOf(state) !== 'finalizing' || !resultsAcknowledged(state))
    return continuation;
  const proven = await completionIsProven(platform, state, findings);
  if (!proven) return continuation;
  return { ...continuation, state: acknowledge(state, { caliperEventIri: completionEventIri(state) }) };
}
