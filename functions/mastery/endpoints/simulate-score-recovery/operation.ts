import { emitAndReadBack } from '#functions/mastery/evidence/acknowledge-event.ts';
import type { EventDoubt } from '#functions/mastery/evidence/acknowledge-event.ts';
import { envelopeOf } from '#functions/mastery/evidence/caliper-event.ts';
import { requireAnchor } from '#functions/mastery/pool/anchor.ts';
import { readPool } from '#functions/mastery/pool/read-pool.ts';
import { readBoundPool } from '#functions/mastery/run/basis.ts';
import { stoppingRulesOf } from '#functions/mastery/records/engine-rules.ts';
import type { PoolDependencies } from '#functions/mastery/run/dependencies.ts';
import { openRunPlatform } from '#functions/mastery/run/open-platform.ts';
import { loadRecords } from '#functions/mastery/run/pinned-records.ts';
import type { PinnedRecords } from '#functions/mastery/run/pinned-records.ts';
import { recordSimulationReceipt } from '#functions/mastery/run/receipt.ts';
import { invalidOwnerData, reference, upstreamProblem } from '#functions/mastery/upstream/problems.ts';
import type { simulateScoreRecovery } from '#shared/contract/mastery/routes.ts';
import type { Operation, OperationAnswer, OperationRequest } from '#shared/http/operation.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { OpenedPlatform } from '#shared/platform/open-platform.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import { readProfiles } from '#functions/mastery/simulation/known-profile.ts';
import { judgeRecovery, simulateProfile } from '#functions/mastery/simulation/recovery.ts';
import { simulationEvent } from './simulation-event.ts';
import { mapWithinTime } from './within-time.ts';

type Simulation = typeof simulateScoreRecovery;

/** All that a simulation may touch. */
export interface SimulationDependencies extends PoolDependencies {
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** What is kept of the request's time for the event and its read-back. */
const PUBLICATION_MS = 2_000;

/**
 * Simulates the test on simulated learners: proves the pool as a run's start does, lets every profile take the test, emits the matrix's event
 * and answers once Caliper shows it [MA-178]. Everything but the receipt follows from the request and from what owners and records say, so
 * that a repetition, under whichever key, composes the same bytes and names the same event; Results is never spoken to [MA-199].
 */
export function simulateRecovery(dependencies: SimulationDependencies): Operation<Simulation> {
  return async (request) => {
    const opened = await openRunPlatform(dependencies, request);
    if (!opened.ok) return opened;
    const { principal, body, receivedAt } = request;
    const records = await loadRecords(dependencies, principal.tenantId, body, receivedAt);
    if (!records.ok) return records;
    return request.idempotent(() => simulate(dependencies, request, opened.value, records.value));
  };
}

async function simulate(
  dependencies: SimulationDependencies,
  { principal, body, deadline, log }: OperationRequest<Simulation>,
  opened: OpenedPlatform,
  records: PinnedRecords,
): Promise<Result<OperationAnswer<Simulation>, Problem>> {
  const { platform } = opened;
  const { policy, calibration } = records;
  const { model, document } = calibration;
  const [pool, anchor] = await Promise.all([
    readBoundPool(platform, records, readPool(platform, dependencies.pools, body)),
    requireAnchor(platform, document.anchor),
  ]);
  if (!pool.ok) return pool;
  if (!anchor.ok) return anchor;
  const basis = { policy, calibration, ...pool.value };
  const { bound, pins } = basis;
  const { numericPrecision, recoveryTolerance } = document;
  const profiles = readProfiles(body.profiles, { model, scope: bound.scope, numericPrecision });
  if (!profiles.ok) return profiles;

  const test = {
    selection: bound.selection(),
    rules: { ...policy, ...stoppingRulesOf(policy, document) },
  };
  const { now } = dependencies;
  const began = now();
  const simulated = await mapWithinTime(profiles.value, (profile) => simulateProfile(test, profile), {
    now,
    until: deadline - PUBLICATION_MS,
  });
  const figures = {
    profiles: profiles.value.length,
    simulated: simulated.length,
    administeredItems: simulated.reduce((sum, { administeredItems }) => sum + administeredItems, 0),
    durationMs: now() - began,
  };
  if (simulated.length < profiles.value.length) {
    log('SIMULATION_OUT_OF_TIME', figures);
    return err(outOfTime());
  }
  log('SIMULATION_COMPUTED', figures);

  const matrix = judgeRecovery(
    simulated.map(({ error }) => error),
    recoveryTolerance,
  );
  const event = simulationEvent({
    tenantId: principal.tenantId,
    basis,
    profiles: body.profiles,
    matrix,
  });
  const acknowledged = await emitAndReadBack(platform, event);
  if (!acknowledged.ok) return err(unacknowledged(acknowledged.error));
  return ok({
    body: {
      ...matrix,
      executionPins: pins,
      receiptId: recordSimulationReceipt(log, opened, basis),
      eventIri: event.id,
      envelopeHash: hashCanonical(envelopeOf(event)),
    },
  });
}

/** No time is left to have the evidence acknowledged: 424 of the call that could not be made, retryable, since a warm container is faster. */
function outOfTime(): Problem {
  const { service, id } = operations.emitEvent;
  return problem('mastery', 'upstream-unavailable', 424, {
    detail:
      'The simulation left no time to have its event acknowledged, and none was emitted. Repeat it, or split the profiles over several requests.',
    retryable: true,
    upstream: reference(service, id, undefined),
  });
}

/** Evidence that is not acknowledged: 424; retryable when Caliper only does not answer, or not show, for the moment [MA-184]. */
function unacknowledged(doubt: EventDoubt): Problem {
  switch (doubt.kind) {
    case 'fault':
      return upstreamProblem(doubt.fault);
    case 'not-shown': {
      const { service, operation, upstreamRequestId } = doubt.fault;
      return problem('mastery', 'upstream-unavailable', 424, {
        detail: 'Caliper does not show the event of the simulation yet.',
        retryable: true,
        upstream: reference(service, operation, upstreamRequestId),
      });
    }
    case 'another':
      return invalidOwnerData(
        operations.readEvidenceAck,
        doubt.upstreamRequestId,
        'Caliper shows another event under the id of the simulation’s.',
      );
  }
}
