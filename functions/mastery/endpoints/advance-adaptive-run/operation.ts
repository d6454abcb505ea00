import { sealContinuation } from '#functions/mastery/continuation/continuation.ts';
import type { Continuation } from '#functions/mastery/continuation/continuation.ts';
import type { advanceAdaptiveRun } from '#shared/contract/mastery/routes.ts';
import type { Control, Operation, OperationAnswer, OperationRequest } from '#shared/http/operation.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Platform } from '#shared/platform/platform.ts';
import { problem } from '#shared/problems/registry.ts';
import type { OpenedPlatform } from '#shared/platform/open-platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { RunBasis } from '#functions/mastery/run/basis.ts';
import { composeRun } from '#functions/mastery/run/compose.ts';
import type { RunDependencies } from '#functions/mastery/run/dependencies.ts';
import { assess, diagnose } from '#functions/mastery/run/diagnosis.ts';
import type { Diagnosis } from '#functions/mastery/run/diagnosis.ts';
import { runEntityTag } from '#functions/mastery/run/entity-tag.ts';
import { offerItem } from '#functions/mastery/run/offer-item.ts';
import { openRunPlatform } from '#functions/mastery/run/open-platform.ts';
import type { NamedRuntime, ScoredOutcome } from '#functions/mastery/run/outcomes.ts';
import { findingsOf } from '#functions/mastery/run/publication/findings.ts';
import { publish } from '#functions/mastery/run/publication/publish.ts';
import { recordReceipt } from '#functions/mastery/run/receipt.ts';
import { openForCaller, reopenBasis } from '#functions/mastery/run/reopen.ts';
import { readRunRuntime } from '#functions/mastery/run/runtime.ts';
import type { RunRuntime } from '#functions/mastery/run/runtime.ts';
import { statusOf } from '#functions/mastery/continuation/run-state.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { addOffer } from '#functions/mastery/run/transitions/add-offer.ts';
import { beginFinalizing } from '#functions/mastery/run/transitions/begin-finalizing.ts';
import { consumeOutcome } from '#functions/mastery/run/transitions/consume-outcome.ts';

type Advance = typeof advanceAdaptiveRun;

/** Where one advance has led. */
interface Step {
  readonly state: AdaptiveRunState;
  readonly diagnosis: Diagnosis;
  readonly runtime: NamedRuntime;
  /** Whether the token is renewed. Without news, and once completed, it is echoed with its expiry. */
  readonly renews: boolean;
}

/**
 * Consumes the scored attempt of the outstanding item and offers the next one, or stops and publishes [MA-136 … MA-139]. Everything that
 * it does is derived from the token and from what QTI holds, so that a predecessor token leads to the same successor. The precondition is
 * judged by QTI's runtime alone, before anything else is read: a stale tag is the usual case and costs one call.
 */
export function advanceRun(dependencies: RunDependencies): Operation<Advance> {
  return async (request) => {
    const continuation = await openForCaller(dependencies, request, request.body.continuationToken);
    if (!continuation.ok) return continuation;
    if (request.ifMatch === undefined) return err(problem('mastery', 'precondition-required', 428));
    const opened = await openRunPlatform(dependencies, request);
    if (!opened.ok) return opened;
    const { state } = continuation.value;
    const runtime = await readRunRuntime(opened.value.platform, state);
    if (!runtime.ok) return runtime;
    const currentEtag = runEntityTag(state, runtime.value.named);
    if (request.ifMatch !== currentEtag)
      return err(problem('mastery', 'stream-conflict', 412, { currentEtag }));
    return request.idempotent((control) =>
      advance(dependencies, request, continuation.value, opened.value, runtime.value, control),
    );
  };
}

async function advance(
  dependencies: RunDependencies,
  request: OperationRequest<Advance>,
  continuation: Continuation,
  opened: OpenedPlatform,
  readBefore: RunRuntime,
  control: Control,
): Promise<Result<OperationAnswer<Advance>, Problem>> {
  const { platform } = opened;
  const [basis, runtime] = await Promise.all([
    reopenBasis(dependencies, request, platform, continuation.state),
    // A repeated request may have waited for its twin: what that one wrote is not in the first reading.
    control.replayed ? readRunRuntime(platform, continuation.state) : ok(readBefore),
  ]);
  if (!runtime.ok) return runtime;
  if (!basis.ok) return basis;
  const step = await takeStep(platform, basis.value, continuation.state, runtime.value);
  if (!step.ok) return step;
  const { state, diagnosis } = step.value;
  const successor = step.value.renews
    ? await sealContinuation(dependencies.keys, state, control.createdAt)
    : continuation;
  return ok({
    body: composeRun(successor, diagnosis, recordReceipt(request.log, opened, basis.value, state)),
    headers: { ETag: runEntityTag(state, step.value.runtime) },
  });
}

/** One step of the run, by the status that its token says. */
async function takeStep(
  platform: Platform,
  basis: RunBasis,
  state: AdaptiveRunState,
  { consumed, news, named: runtime }: RunRuntime,
): Promise<Result<Step, Problem>> {
  switch (statusOf(state)) {
    case 'completed':
      return ok({ state, runtime, diagnosis: diagnose(basis, consumed), renews: false });
    case 'finalizing':
      return finish(platform, state, runtime, diagnose(basis, consumed), consumed);
    case 'in_progress': {
      if (news === undefined)
        return ok({ state, runtime, diagnosis: diagnose(basis, consumed), renews: false });
      const evidence = consumeOutcome(state, consumed, news);
      const { diagnosis, next } = assess(basis, evidence.state, evidence.outcomes);
      if (next.kind === 'stop') {
        const stopped = beginFinalizing(evidence.state, next.reason);
        return finish(platform, stopped, runtime, diagnosis, evidence.outcomes);
      }
      const placed = await offerItem(platform, evidence.state, runtime.unnamed, next.item);
      if (!placed.ok) return placed;
      return ok({
        state: addOffer(evidence.state, placed.value.offer),
        diagnosis,
        runtime: { ...runtime, sessions: [...runtime.sessions, placed.value] },
        renews: true,
      });
    }
  }
}

/** Publishes a stopped run as far as its owners let it. Without findings (the anchor is not verified) it waits in `finalizing`. */
async function finish(
  platform: Platform,
  state: AdaptiveRunState,
  runtime: NamedRuntime,
  diagnosis: Diagnosis,
  outcomes: readonly ScoredOutcome[],
): Promise<Result<Step, Problem>> {
  const findings = findingsOf(state, diagnosis, outcomes);
  const published = findings === undefined ? ok(state) : await publish(platform, state, findings);
  return published.ok ? ok({ state: published.value, runtime, diagnosis, renews: true }) : published;
}
