import { confirmed } from '#functions/mastery/upstream/confirmed.ts';
import { found, refuseCalibration } from '#functions/mastery/upstream/problems.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { sealContinuation } from '#functions/mastery/continuation/continuation.ts';
import type { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import type { Operation } from '#shared/http/operation.ts';
import { compareInstants } from '#shared/kernel/instant.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { writeKcComponents } from '#shared/platform/operations.ts';
import { readBasis, type RunBasis } from '#functions/mastery/run/basis.ts';
import { composeAdaptiveRun, runEntityTag } from '#functions/mastery/run/compose.ts';
import type { RunDependencies } from '#functions/mastery/run/dependencies.ts';
import { assess, excludesTooMuch, type Assessment } from '#functions/mastery/run/diagnosis.ts';
import { deriveIdentity } from '#functions/mastery/run/identity.ts';
import { offerItem } from '#functions/mastery/run/offer-item.ts';
import { readPool } from '#functions/mastery/pool/read-pool.ts';
import { loadNamed } from '#functions/mastery/records/load.ts';
import type { NamedRuntime } from '#functions/mastery/run/outcomes.ts';
import { priorUsesOfStart } from '#functions/mastery/run/prior-use.ts';
import { withRunPlatform } from '#functions/mastery/run/receipt.ts';
import { readSessions } from '#functions/mastery/run/runtime.ts';
import { clockStartAt } from '#functions/mastery/run/time-budget.ts';
import { addOffer, startState } from '#functions/mastery/run/transitions.ts';

/**
 * Starts a run: pins records and pool, offers the first item, and returns the token that is the run's only handle [MA-135]. Repeated with the same
 * key, it derives the same identity from the idempotency record, finds its offer in QTI, and returns 201 again.
 */
export function startRun(dependencies: RunDependencies): Operation<typeof startAdaptiveRun> {
  const { store, keys, now } = dependencies;
  return (request) =>
    withRunPlatform(dependencies, request, async (opened) => {
      const { principal, body, receivedAt, log } = request;
      const { platform } = opened;
      const records = await loadNamed(store, principal.tenantId, body, receivedAt);
      if (!records.ok) return records;
      if (body.runMode === 'production_learner' && opened.profile.takesKcComponents !== true)
        return err(componentsUnsupported);
      return request.idempotent(async (control) => {
        const identity = await deriveIdentity(keys, principal.tenantId, control, body, records.value.policy);
        const [basis, runtime] = await Promise.all([
          readBasis(platform, records.value, readPool(platform, body, 'run'), 'start'),
          confirmed(platform, () => readSessions(platform, { ...identity, offers: [] })),
        ]);
        if (!basis.ok) return basis;
        if (!runtime.ok) return runtime;

        const blank = startState(principal.tenantId, body, identity, basis.value);
        if (excludesTooMuch(basis.value, runtime.value))
          return refuseCalibration('Too few items that the learner has not met are left for the policy.');
        const { diagnosis, next } = firstStep(basis.value, blank, runtime.value);
        if (next.kind === 'refused') return err(next.problem);
        if (next.kind === 'stop')
          return refuseCalibration('No item of the pool is eligible under the policy and the calibration.');
        const session = await offerItem(platform, blank, runtime.value, next.item);
        if (!session.ok) return session;

        const clockStart = clockStartAt(session.value.createdAt, identity.startedAt, now());
        const state = { ...addOffer(blank, session.value), clockStart };
        const continuation = await sealContinuation(keys, state, control.createdAt);
        return ok({
          body: composeAdaptiveRun(log, opened, basis.value, continuation, diagnosis),
          headers: { ETag: runEntityTag(state, { sessions: [session.value] }) },
        });
      });
    });
}

/** Decides the first step. A repeated start must find its own offer again, although other runs may have offered items since. */
function firstStep(basis: RunBasis, blank: AdaptiveRunState, runtime: NamedRuntime): Assessment {
  const offered = runtime.unnamed.toSorted((a, b) => compareInstants(a.createdAt, b.createdAt))[0];
  let step: Assessment | undefined;
  for (const met of priorUsesOfStart(runtime)) {
    const possible = assess(basis, blank, [], { elapsedMilliseconds: 0, met });
    step ??= possible;
    const item = possible.next.kind === 'offer' ? possible.next.item.artifactVersionId : undefined;
    if (offered === undefined || item === offered.rootArtifactVersionId) return possible;
  }
  if (step === undefined) throw new Error('a start has something to decide by');
  return step;
}

/** Results does not take KC components (the service profile states it), so no learner result could be published: no learner sits the test [MA-035]. */
const componentsUnsupported = found(
  'broken',
  writeKcComponents,
  undefined,
  'Results does not accept knowledge-component results, so a learner run could not be published.',
);
