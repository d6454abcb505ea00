import { openContinuation, sealContinuation } from '#functions/mastery/continuation/continuation.ts';
import type { advanceAdaptiveRun } from '#shared/contract/mastery/routes/advance-adaptive-run.ts';
import type { Operation } from '#shared/http/operation.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { readCandidateRuntime } from '#shared/platform/operations.ts';
import type { Platform } from '#shared/platform/platform.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { rereadBasis, type RunBasis } from '#functions/mastery/run/basis.ts';
import { composeAdaptiveRun, runEntityTag } from '#functions/mastery/run/compose.ts';
import type { RunDependencies } from '#functions/mastery/run/dependencies.ts';
import { assess, diagnose, findingsOf, type Diagnosis } from '#functions/mastery/run/diagnosis.ts';
import { findSession, offerItem } from '#functions/mastery/run/offer-item.ts';
import { found } from '#functions/mastery/upstream/problems.ts';
import { firstHandedIn } from '#functions/mastery/run/outcomes.ts';
import type { NamedRuntime, Pending, RunSession, ScoredOutcome } from '#functions/mastery/run/outcomes.ts';
import { logUnusualAnswers } from '#functions/mastery/run/person-fit.ts';
import { priorUse } from '#functions/mastery/run/prior-use.ts';
import { publish } from '#functions/mastery/run/publication/publish.ts';
import { withRunPlatform } from '#functions/mastery/run/receipt.ts';
import { readRunRuntime, type RunRuntime } from '#functions/mastery/run/runtime.ts';
import { checkTimeBudget, type TimeVerdict } from '#functions/mastery/run/time-budget.ts';
import { REPAIR_SECONDS, waitOf } from '#functions/mastery/run/waiting.ts';
import { statusOf, type AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { addOffer, beginFinalizing, consumeOutcome } from '#functions/mastery/run/transitions.ts';

/** The state after one advance. */
interface Step {
  readonly state: AdaptiveRunState;
  readonly diagnosis: Diagnosis;
  readonly runtime: NamedRuntime;
  /** Whether the token is renewed. It is echoed with its old expiry if nothing has changed, and once the run is completed. */
  readonly renews: boolean;
  /** The missing answer because of which no step was made. */
  readonly pending?: Pending | undefined;
}

/**
 * Consumes the scored attempt of the outstanding item and offers the next one, or stops and publishes [MA-136 … MA-139]. Each effect is derived from
 * the token and from what QTI holds, so that a predecessor token leads to the same successor. Only QTI's runtime decides the precondition, before
 * anything else is read: a stale tag is the usual case and costs one call.
 */
export function advanceRun(dependencies: RunDependencies): Operation<typeof advanceAdaptiveRun> {
  const { store, keys } = dependencies;
  return async (request) => {
    const { principal, body, receivedAt, ifMatch, log } = request;
    const continuation = await openContinuation(keys, body.continuationToken, principal.tenantId, receivedAt);
    if (!continuation.ok) return continuation;
    if (ifMatch === undefined) return err(problem('mastery', 'precondition-required', 428));
    const before = continuation.value.state;
    return withRunPlatform(dependencies, request, async (opened) => {
      const { platform } = opened;
      const readBefore = await readRunRuntime(platform, before, request);
      if (!readBefore.ok) return readBefore;
      const currentEtag = runEntityTag(before, readBefore.value.named);
      if (ifMatch !== currentEtag) return err(problem('mastery', 'stream-conflict', 412, { currentEtag }));
      return request.idempotent(async (control) => {
        const [basis, runtime] = await Promise.all([
          rereadBasis(platform, store, before, receivedAt, {
            readsContent: before.stopReason === null,
            use: control.completed || statusOf(before) === 'completed' ? 'show' : 'decide',
          }),
          // A repeated request may have waited for the first one, whose writes came after this request's read: read again.
          control.replayed ? readRunRuntime(platform, before, request) : readBefore,
        ]);
        if (!runtime.ok) return runtime;
        if (!basis.ok) return basis;
        const step = await takeStep(platform, basis.value, before, runtime.value, control.createdAt);
        if (!step.ok) {
          const { code, retryAfterSeconds, upstream: { operation, requestId } = {} } = step.error;
          // The finalization has failed permanently, unless an operator corrects the cause.
          if (code === 'finalization-incomplete' && retryAfterSeconds === undefined)
            log('FINALIZATION_REFUSED', { upstreamOperation: operation, upstreamRequestId: requestId });
          return step;
        }
        const { state, diagnosis, renews, pending } = step.value;
        if (!control.completed) logUnusualAnswers(log, before, state, diagnosis.scale);
        const wait = waitOf(log, state, diagnosis, pending);
        if (pending?.hasFailed === true) {
          // Only QTI can start the processing again, so the caller retries later.
          const detail = 'QTI has failed to process an attempt.';
          const failed = found('pending', readCandidateRuntime, step.value.runtime.requestId, detail);
          return err({ ...failed, retryAfterSeconds: REPAIR_SECONDS });
        }
        const successor = renews
          ? await sealContinuation(keys, state, control.createdAt)
          : continuation.value;
        return ok({
          body: composeAdaptiveRun(log, opened, basis.value, successor, diagnosis, wait),
          headers: { ETag: runEntityTag(state, step.value.runtime), ...wait?.headers },
        });
      });
    });
  };
}

/** Takes one step of the run, depending on the status in its token. */
async function takeStep(
  platform: Platform,
  basis: RunBasis,
  state: AdaptiveRunState,
  runtime: RunRuntime,
  advancedAt: number,
): Promise<Result<Step, Problem>> {
  const { consumed, named } = runtime;
  const unchanged = (): Step => ({
    state,
    runtime: named,
    diagnosis: diagnose(basis, state, consumed),
    renews: false,
  });
  switch (statusOf(state)) {
    case 'completed':
      return ok(unchanged());
    case 'finalizing':
      return finish(platform, state, named, diagnose(basis, state, consumed), consumed);
    case 'in_progress': {
      const verdict = checkTimeBudget(state, runtime, basis.policy.timeBudgetSeconds, advancedAt);
      if (verdict === 'wait') {
        const { pending } = runtime;
        return pending?.defect === undefined ? ok({ ...unchanged(), pending }) : err(pending.defect);
      }
      if (verdict !== 'stop') return consume(platform, basis, state, runtime, verdict);
      const stopped = beginFinalizing(state, { reason: 'time_budget', cause: 'time_budget' });
      return finish(platform, stopped, named, diagnose(basis, stopped, consumed), consumed);
    }
  }
}

/** Consumes the outstanding item's answer, then stops the run or offers its next item. */
async function consume(
  platform: Platform,
  basis: RunBasis,
  state: AdaptiveRunState,
  { consumed, named }: RunRuntime,
  { news, elapsedMilliseconds }: Exclude<TimeVerdict, string>,
): Promise<Result<Step, Problem>> {
  const evidence = consumeOutcome(state, consumed, news);
  const met = priorUse(named);
  const { diagnosis, next } = assess(basis, evidence.state, evidence.outcomes, { elapsedMilliseconds, met });
  const offered = (session: RunSession, underWay: Diagnosis): Step => ({
    state: addOffer(evidence.state, session),
    diagnosis: underWay,
    runtime: { ...named, sessions: [...named.sessions, session] },
    renews: true,
  });
  if (next.kind === 'refused') return err(next.problem);
  if (next.kind === 'offer') {
    const placed = await offerItem(platform, evidence.state, named, next.item);
    return placed.ok ? ok(offered(placed.value, diagnosis)) : placed;
  }
  const answered = next.reason === 'time_budget' ? answeredBefore(basis, evidence, named, met) : undefined;
  if (answered?.ok === false) return answered;
  if (answered !== undefined) return ok(offered(answered.value.session, answered.value.diagnosis));
  const stopped = beginFinalizing(evidence.state, next);
  return finish(platform, stopped, named, diagnosis, evidence.outcomes);
}

/**
 * Returns the next item's session if an earlier request of this run offered it in time and the learner has answered it since. A predecessor token
 * that is advanced again after the time budget then leads to the same state as before, and no answer is lost [MA-073].
 */
function answeredBefore(
  basis: RunBasis,
  { state, outcomes }: ReturnType<typeof consumeOutcome>,
  { unnamed }: NamedRuntime,
  met: ReadonlySet<string>,
): Result<{ readonly session: RunSession; readonly diagnosis: Diagnosis }, Problem> | undefined {
  if (!unnamed.some(({ attempts }) => firstHandedIn(attempts) !== undefined)) return undefined;
  const { diagnosis, next } = assess(basis, state, outcomes, { elapsedMilliseconds: 0, met });
  if (next.kind === 'refused') return err(next.problem);
  const session = next.kind === 'offer' ? findSession(unnamed, next.item) : undefined;
  return session !== undefined && firstHandedIn(session.attempts) !== undefined
    ? ok({ session, diagnosis })
    : undefined;
}

/** Publishes a stopped run as far as its owners allow. Without findings (the anchor is not verified) it waits in `finalizing`. */
async function finish(
  platform: Platform,
  state: AdaptiveRunState,
  runtime: NamedRuntime,
  diagnosis: Diagnosis,
  outcomes: readonly ScoredOutcome[],
): Promise<Result<Step, Problem>> {
  const findings = findingsOf(state, diagnosis, outcomes);
  const published = findings === undefined ? ok(state) : await publish(platform, state, findings);
  if (!published.ok) return published;
  // The run's tag no longer covers a session that has left the run.
  const sessions = runtime.sessions.slice(0, state.offers.length);
  return ok({ state: published.value, runtime: { ...runtime, sessions }, diagnosis, renews: true });
}
