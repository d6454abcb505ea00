import type { advanceAdaptiveRun } from '#shared/contract/mastery/routes.ts';
import type { Control, Operation, OperationAnswer, OperationRequest } from '#shared/http/operation.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { sealContinuation } from '#functions/mastery/continuation/continuation.ts';
import type { Continuation } from '#functions/mastery/continuation/continuation.ts';
import { composeRun } from './compose.ts';
import type { RunDependencies } from './dependencies.ts';
import { assess, diagnose } from './diagnosis.ts';
import type { Diagnosis } from './diagnosis.ts';
import { runEntityTag } from './entity-tag.ts';
import { offerItem } from './offer-item.ts';
import { readOutcomes } from './outcomes.ts';
import type { NamedRuntime, ScoredOutcome } from './outcomes.ts';
import { runtimeProblem } from './owners.ts';
import type { RunBasis } from './owners.ts';
import { publish } from './publication/publish.ts';
import { recordReceipt } from './receipt.ts';
import { openForCaller, reopenRun } from './reopen.ts';
import type { ReopenedRun } from './reopen.ts';
import { statusOf } from './state.ts';
import type { RunState } from './state.ts';
import { addOffer } from './transitions/add-offer.ts';
import { beginFinalizing } from './transitions/begin-finalizing.ts';
import { consumeOutcome } from './transitions/consume-outcome.ts';

type Advance = typeof advanceAdaptiveRun;

/** Where one advance has led. */
interface Step {
  readonly state: RunState;
  readonly diagnosis: Diagnosis;
  readonly runtime: NamedRuntime;
  /** Whether the token is renewed. Without news, and once completed, it is echoed with its expiry. */
  readonly renews: boolean;
}

/**
 * Consumes the scored attempt of the outstanding item and offers the next one, or stops and publishes [MA-136 … MA-139]. Everything that
 * it does is derived from the token and from what QTI holds, so that a predecessor token leads to the same successor.
 */
export function advanceRun(dependencies: RunDependencies): Operation<Advance> {
  return async (request) => {
    const opened = await openForCaller(dependencies, request, request.body.continuationToken);
    if (!opened.ok) return opened;
    if (request.ifMatch === undefined) return err(problem('mastery', 'precondition-required', 428));
    const reopened = await reopenRun(dependencies, request, opened.value);
    if (!reopened.ok) return reopened;
    const currentEtag = runEntityTag(opened.value.state, reopened.value.runtime);
    if (request.ifMatch !== currentEtag)
      return err(problem('mastery', 'stream-conflict', 412, { currentEtag }));
    return request.idempotent((control) =>
      advance(dependencies, request, opened.value, reopened.value, control),
    );
  };
}

async function advance(
  dependencies: RunDependencies,
  request: OperationRequest<Advance>,
  continuation: Continuation,
  { basis, platform, profile, runtime }: ReopenedRun,
  control: Control,
): Promise<Result<OperationAnswer<Advance>, Problem>> {
  if (!basis.ok) return basis;
  const outcomes = readOutcomes(continuation.state, runtime);
  if (!outcomes.ok) return err(runtimeProblem(outcomes.error));
  const step = await takeStep(platform, basis.value, continuation.state, runtime, outcomes.value);
  if (!step.ok) return step;
  const { state, diagnosis } = step.value;
  const successor = step.value.renews
    ? await sealContinuation(dependencies.keys, state, control.createdAt)
    : continuation;
  const receiptId = recordReceipt(request.log, profile, platform, basis.value, state);
  return ok({
    body: composeRun(successor, diagnosis, receiptId),
    headers: { ETag: runEntityTag(state, step.value.runtime) },
  });
}

/** One step of the run, by the status that its token says. */
async function takeStep(
  platform: ReopenedRun['platform'],
  basis: RunBasis,
  state: RunState,
  runtime: NamedRuntime,
  {
    consumed,
    news,
  }: { readonly consumed: readonly ScoredOutcome[]; readonly news: ScoredOutcome | undefined },
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

/** Publishes a stopped run. From an anchor that is not verified nothing is published: the run waits in `finalizing` [MA-081]. */
async function finish(
  platform: ReopenedRun['platform'],
  state: RunState,
  runtime: NamedRuntime,
  diagnosis: Diagnosis,
  outcomes: readonly ScoredOutcome[],
): Promise<Result<Step, Problem>> {
  const { scale, classifications } = diagnosis;
  if (scale === null) return ok({ state, runtime, diagnosis, renews: true });
  const published = await publish(platform, state, { scale, classifications, outcomes });
  return published.ok ? ok({ state: published.value, runtime, diagnosis, renews: true }) : published;
}
