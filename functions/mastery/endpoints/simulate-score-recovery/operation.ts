import { emitAndReadBack, envelopeOf, uuidNames } from '#functions/mastery/evidence/caliper-event.ts';
import { readPool } from '#functions/mastery/pool/read-pool.ts';
import { loadNamed } from '#functions/mastery/records/load.ts';
import { readBasis } from '#functions/mastery/run/basis.ts';
import { runRulesOf } from '#functions/mastery/records/engine-rules.ts';
import type { PoolDependencies } from '#functions/mastery/run/dependencies.ts';
import { recordReceipt, withRunPlatform } from '#functions/mastery/run/receipt.ts';
import { answerProblem } from '#functions/mastery/upstream/problems.ts';
import type { simulateScoreRecovery } from '#shared/contract/mastery/routes/simulate-score-recovery.ts';
import type { Operation } from '#shared/http/operation.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { problem } from '#shared/problems/registry.ts';
import {
  evaluateRecovery,
  readProfiles,
  recoveryError,
  sitAll,
} from '#functions/mastery/simulation/recovery.ts';
import { simulationEvent } from './simulation-event.ts';

/** Milliseconds of the request's time reserved for the event and its read-back. */
const PUBLICATION_MS = 2_000;

/**
 * Simulates the test on simulated learners: proves the pool as the start of a run does, lets every profile take the test, emits the matrix's event
 * and returns once Caliper shows it [MA-178]. The matrix depends on the request, the owners and the records; the event also on the time of the
 * idempotency record. So a repetition composes the same matrix and names the same event. Results is never called [MA-199].
 */
export function simulateRecovery(dependencies: PoolDependencies): Operation<typeof simulateScoreRecovery> {
  const { store, now } = dependencies;
  return (request) =>
    withRunPlatform(dependencies, request, async (opened) => {
      const { principal, body, receivedAt, deadline, log } = request;
      const { platform } = opened;
      const records = await loadNamed(store, principal.tenantId, body, receivedAt);
      if (!records.ok) return records;
      return request.idempotent(async (control) => {
        const reading = readPool(platform, body, 'simulation');
        const basis = await readBasis(platform, records.value, reading, 'simulation');
        if (!basis.ok) return basis;
        const { policy, calibration, bound, pins } = basis.value;
        const { model, document } = calibration;
        const { numericPrecision, recoveryTolerance } = document;
        const profiles = readProfiles(body.profiles, model, { scope: bound.scope, numericPrecision });
        if (!profiles.ok) return profiles;

        const test = {
          selection: bound.selection(),
          rules: runRulesOf(policy, document),
          pinsHash: hashCanonical([pins, policy.checksum, document.checksum]),
        };
        const began = now();
        const until = deadline - PUBLICATION_MS;
        const { scores, ...counts } = await sitAll(test, profiles.value, { now, until });
        const { simulated, replications } = counts;
        const figures = { profiles: scores.length, ...counts, durationMs: now() - began };
        if (simulated < scores.length * replications) {
          log('SIMULATION_OUT_OF_TIME', figures);
          return err(outOfTime);
        }
        log('SIMULATION_COMPUTED', figures);

        const errors = profiles.value.map((profile, at) => recoveryError(test, profile, scores[at] ?? []));
        const matrix = { ...evaluateRecovery(errors, recoveryTolerance), replications };
        const event = simulationEvent({
          tenantId: principal.tenantId,
          basis: basis.value,
          profiles: body.profiles,
          matrix,
          at: control.createdAt,
        });
        const acknowledged = await emitAndReadBack(platform, event, uuidNames);
        if (!acknowledged.ok) {
          const { operation, fault } = acknowledged.error;
          return err(answerProblem(operation, 'start', fault));
        }
        const conformance = { runMode: 'owner_conformance' as const, offers: [] };
        return ok({
          body: {
            ...matrix,
            executionPins: pins,
            receiptId: recordReceipt(log, 'SIMULATION_RECEIPT', opened, basis.value, conformance),
            eventIri: event.id,
            envelopeHash: hashCanonical(envelopeOf(event, uuidNames)),
          },
        });
      });
    });
}

/** The 424 of profiles that take longer than a request may: the service's own error, retryable, since a warm container is faster [MA-184]. */
const outOfTime = problem('mastery', 'upstream-unavailable', 424, {
  detail:
    'The simulation was not finished in the time of its request, and no event was emitted. Split the profiles over several requests, or repeat it.',
  retryable: true,
  upstream: { service: 'platform_auth', operation: 'platform_auth.own_computation' },
});
