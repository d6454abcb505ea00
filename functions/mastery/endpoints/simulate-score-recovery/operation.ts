import { emitAndReadBack, envelopeOf } from '#functions/mastery/evidence/caliper-event.ts';
import type { EventDoubt } from '#functions/mastery/evidence/caliper-event.ts';
import { loadNamed } from '#functions/mastery/records/load.ts';
import type { PinnedRecords } from '#functions/mastery/records/load.ts';
import { readBasis, readNamedPool } from '#functions/mastery/run/basis.ts';
import { stoppingRulesOf } from '#functions/mastery/records/engine-rules.ts';
import type { PoolDependencies } from '#functions/mastery/run/dependencies.ts';
import { recordReceipt, withRunPlatform } from '#functions/mastery/run/receipt.ts';
import type { OpenedRun } from '#functions/mastery/run/receipt.ts';
import { invalidOwnerData, upstreamProblem } from '#functions/mastery/upstream/problems.ts';
import type { simulateScoreRecovery } from '#shared/contract/mastery/routes.ts';
import type { Control, Operation, OperationAnswer, OperationRequest } from '#shared/http/operation.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import {
  judgeRecovery,
  readProfiles,
  recoveryError,
  replicationsOf,
  simulateSitting,
} from '#functions/mastery/simulation/recovery.ts';
import type {
  KnownProfile,
  SimulatedSitting,
  SimulatedTest,
} from '#functions/mastery/simulation/recovery.ts';
import { simulationEvent } from './simulation-event.ts';
import { mapWithinTime } from './within-time.ts';
import type { TimeLimit } from './within-time.ts';

type Simulation = typeof simulateScoreRecovery;

/** What is kept of the request's time for the event and its read-back. */
const PUBLICATION_MS = 2_000;

/**
 * Simulates the test on simulated learners: proves the pool as a run's start does, lets every profile take the test, emits the matrix's event
 * and answers once Caliper shows it [MA-178]. The matrix follows from the request and from what owners and records say, the event also from
 * the time of the key's control record: a repetition composes the same and names the same event. Results is never spoken to [MA-199].
 */
export function simulateRecovery(dependencies: PoolDependencies): Operation<Simulation> {
  return (request) =>
    withRunPlatform(dependencies, request, async (opened) => {
      const { principal, body, receivedAt } = request;
      const records = await loadNamed(dependencies.store, principal.tenantId, body, receivedAt);
      if (!records.ok) return records;
      return request.idempotent((control) => simulate(dependencies, request, opened, records.value, control));
    });
}

async function simulate(
  dependencies: PoolDependencies,
  { principal, body, deadline, log }: OperationRequest<Simulation>,
  opened: OpenedRun,
  records: PinnedRecords,
  control: Control,
): Promise<Result<OperationAnswer<Simulation>, Problem>> {
  const { platform } = opened;
  const { policy, calibration } = records;
  const { model, document } = calibration;
  const reading = readNamedPool(platform, body, policy);
  const basis = await readBasis(platform, records, reading, ['unavailable', 'absent', 'unusable']);
  if (!basis.ok) return basis;
  const { bound, pins } = basis.value;
  const { numericPrecision, recoveryTolerance } = document;
  const profiles = readProfiles(body.profiles, model, { scope: bound.scope, numericPrecision });
  if (!profiles.ok) return profiles;

  const test = {
    selection: bound.selection(),
    rules: { ...policy, ...stoppingRulesOf(policy, document) },
    pinsHash: hashCanonical([pins, policy.checksum, document.checksum]),
  };
  const { now } = dependencies;
  const began = now();
  const { sittings, replications } = await sitAll(test, profiles.value, {
    now,
    until: deadline - PUBLICATION_MS,
  });
  const figures = {
    profiles: profiles.value.length,
    replications,
    simulated: sittings.length,
    administeredItems: sittings.reduce((sum, { administeredItems }) => sum + administeredItems, 0),
    durationMs: now() - began,
  };
  if (sittings.length < profiles.value.length * replications) {
    log('SIMULATION_OUT_OF_TIME', figures);
    return err(outOfTime());
  }
  log('SIMULATION_COMPUTED', figures);

  const errors = profiles.value.map((profile, at) => {
    const own = sittings.filter((_, n) => n % profiles.value.length === at);
    return recoveryError(
      test,
      profile,
      own.map(({ scaleScore }) => scaleScore),
    );
  });
  const matrix = { ...judgeRecovery(errors, recoveryTolerance), replications };
  const event = simulationEvent({
    tenantId: principal.tenantId,
    basis: basis.value,
    profiles: body.profiles,
    matrix,
    at: control.createdAt,
  });
  const acknowledged = await emitAndReadBack(platform, event);
  if (!acknowledged.ok) return err(unacknowledged(acknowledged.error));
  return ok({
    body: {
      ...matrix,
      executionPins: pins,
      receiptId: recordReceipt(log, 'SIMULATION_RECEIPT', opened, basis.value, {
        runMode: 'owner_conformance',
        offers: [],
      }),
      eventIri: event.id,
      envelopeHash: hashCanonical(envelopeOf(event)),
    },
  });
}

/**
 * Lets all profiles take the test once, then as often again as that one replication says can be afforded.
 * @returns sittings by replication, then by profile; fewer than there should be when time ran out
 */
async function sitAll(
  test: SimulatedTest,
  profiles: readonly KnownProfile[],
  limit: TimeLimit,
): Promise<{ readonly sittings: readonly SimulatedSitting[]; readonly replications: number }> {
  const first = await mapWithinTime(profiles, (profile) => simulateSitting(test, profile, 0), limit);
  if (first.length < profiles.length) return { sittings: first, replications: 1 };
  const { scope, maxItems } = test.selection.constraints;
  const replications = replicationsOf(
    { profiles: profiles.length, kcs: scope.length, maxItems },
    first.reduce((sum, { work }) => sum + work, 0),
  );
  const further = Array.from({ length: replications - 1 }, (_, n) =>
    profiles.map((profile) => ({ profile, replication: n + 1 })),
  ).flat();
  const others = await mapWithinTime(
    further,
    ({ profile, replication }) => simulateSitting(test, profile, replication),
    limit,
  );
  return { sittings: [...first, ...others], replications };
}

/** The profiles take longer than a request may: 500, retryable, since a warm container is faster. */
function outOfTime(): Problem {
  return problem('mastery', 'internal-error', 500, {
    detail:
      'The simulation was not finished in the time of its request, and no event was emitted. Split the profiles over several requests, or repeat it.',
    retryable: true,
  });
}

/** Evidence that is not acknowledged: 424; retryable when Caliper only does not answer, or not show, for the moment [MA-184]. */
function unacknowledged(doubt: EventDoubt): Problem {
  switch (doubt.kind) {
    case 'fault':
      return upstreamProblem(doubt.fault);
    case 'not-shown':
      return invalidOwnerData(
        operations.readEvidenceAck,
        doubt.fault.upstreamRequestId,
        'Caliper does not show the event of the simulation yet.',
        true,
      );
    case 'another':
      return invalidOwnerData(
        operations.readEvidenceAck,
        doubt.upstreamRequestId,
        'Caliper shows another event under the id of the simulation’s.',
      );
  }
}
