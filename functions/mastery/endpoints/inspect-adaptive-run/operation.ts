import { openContinuation, type Continuation } from '#functions/mastery/continuation/continuation.ts';
import { readBack } from '#functions/mastery/evidence/caliper-event.ts';
import type { inspectAdaptiveRun } from '#shared/contract/mastery/routes/inspect-adaptive-run.ts';
import type { Operation } from '#shared/http/operation.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { rereadBasis, type RunBasis } from '#functions/mastery/run/basis.ts';
import { composeAdaptiveRun, runEntityTag } from '#functions/mastery/run/compose.ts';
import type { RunDependencies } from '#functions/mastery/run/dependencies.ts';
import { assess, diagnose, findingsOf, type Findings } from '#functions/mastery/run/diagnosis.ts';
import { namesOf } from '#functions/mastery/run/names.ts';
import { findOffer, isOpen } from '#functions/mastery/run/offer-item.ts';
import { priorUse } from '#functions/mastery/run/prior-use.ts';
import { completionEvent } from '#functions/mastery/run/publication/writings.ts';
import { withRunPlatform } from '#functions/mastery/run/receipt.ts';
import { readRunRuntime, type RunRuntime } from '#functions/mastery/run/runtime.ts';
import { resultsAcknowledged, statusOf } from '#functions/mastery/continuation/run-state.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { checkTimeBudget, type TimeVerdict } from '#functions/mastery/run/time-budget.ts';
import { acknowledge, consumeOutcome } from '#functions/mastery/run/transitions.ts';
import { waitOf } from '#functions/mastery/run/waiting.ts';

/**
 * Rereads a run and shows its current state: the same token, the current ETag, no write and no new semantic operation [MA-140, MA-156]. An outcome
 * that QTI has scored since changes the ETag but not yet the diagnosis: only advance consumes outcomes.
 */
export function inspectRun(dependencies: RunDependencies): Operation<typeof inspectAdaptiveRun> {
  return async (request) => {
    const { principal, body, receivedAt } = request;
    const { keys } = dependencies;
    const continuation = await openContinuation(keys, body.continuationToken, principal.tenantId, receivedAt);
    if (!continuation.ok) return continuation;
    return request.idempotent(() =>
      withRunPlatform(dependencies, request, async (opened) => {
        const { state } = continuation.value;
        const { platform } = opened;
        const [runtime, basis] = await Promise.all([
          readRunRuntime(platform, state, request),
          rereadBasis(platform, dependencies.store, state, receivedAt, { readsContent: true, use: 'show' }),
        ]);
        if (!runtime.ok) return runtime;
        if (!basis.ok) return basis;
        const verdict =
          statusOf(state) === 'in_progress'
            ? checkTimeBudget(state, runtime.value, basis.value.policy.timeBudgetSeconds, receivedAt)
            : undefined;
        const { pending } = runtime.value;
        if (verdict === 'wait' && pending?.defect !== undefined) return err(pending.defect);
        const conflict = await conflictOf(platform, basis.value, state, runtime.value, verdict);
        if (conflict !== undefined) return err(conflict);
        const diagnosis = diagnose(basis.value, state, runtime.value.consumed);
        const findings = findingsOf(state, diagnosis, runtime.value.consumed);
        const shown = await withProof(platform, continuation.value, findings);
        const awaited = verdict === 'wait' ? pending : undefined;
        const wait = waitOf(request.log, shown.state, diagnosis, awaited);
        return ok({
          body: composeAdaptiveRun(request.log, opened, basis.value, shown, diagnosis, wait),
          headers: { ETag: runEntityTag(state, runtime.value.named), ...wait?.headers },
        });
      }),
    );
  };
}

/**
 * Returns the 409 that an advance from here would end with: Content is not as pinned, or an item other than the next one is already offered. Inspect
 * reports it too, so that a client does not advance again and again [MA-142]. A changed Content does not end a run that has stopped, nor one that the
 * answer under way may stop. An unreadable Content is a problem of its own.
 */
async function conflictOf(
  platform: Platform,
  basis: RunBasis,
  state: AdaptiveRunState,
  runtime: RunRuntime,
  verdict: TimeVerdict | undefined,
): Promise<Problem | undefined> {
  const { unnamed } = runtime.named;
  const difference = basis.content?.ok === false ? basis.content.error : undefined;
  if (difference !== undefined && difference.status !== 409) return difference;
  if (verdict === undefined) return undefined;
  const hasOpen = unnamed.some(isOpen);
  if (difference === undefined && !hasOpen) return undefined;
  if (verdict === 'wait' && runtime.pending === undefined) return difference;
  if (typeof verdict === 'string') return undefined;
  const evidence = consumeOutcome(state, runtime.consumed, verdict.news);
  const { next } = assess(basis, evidence.state, evidence.outcomes, {
    elapsedMilliseconds: verdict.elapsedMilliseconds,
    met: priorUse(runtime.named),
  });
  if (next.kind === 'refused') return next.problem;
  if (next.kind === 'stop' || !hasOpen) return undefined;
  const found = await findOffer(platform, evidence.state, unnamed, next.item);
  return found.ok ? undefined : found.error;
}

/**
 * Shows a finalizing run as completed if Results has everything and Caliper proves the event: its acknowledgement was lost. Any other answer of Caliper,
 * even a failed call, proves nothing: the next advance returns the problem.
 */
async function withProof(
  platform: Platform,
  continuation: Continuation,
  findings: Findings | undefined,
): Promise<Continuation> {
  const { state } = continuation;
  if (findings === undefined || statusOf(state) !== 'finalizing' || !resultsAcknowledged(state))
    return continuation;
  const proof = await readBack(platform, completionEvent(state, findings));
  if (!proof.ok) return continuation;
  const { completionEventIri: caliperEventIri } = namesOf(state);
  return { ...continuation, state: acknowledge(state, { caliperEventIri }) };
}
