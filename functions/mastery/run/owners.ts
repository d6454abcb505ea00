import type { ExecutionPins } from '#shared/contract/mastery/adaptive-run.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { operations } from '#shared/platform/operations.ts';
import type { RuntimeData } from '#shared/platform/owners/qti.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { ServiceProfile } from '#shared/platform/service-profiles.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { CompiledModel } from '#functions/mastery/engine/index.ts';
import { verifyAnchor } from '#functions/mastery/pool/anchor.ts';
import type { AnchorStatus } from '#functions/mastery/pool/anchor.ts';
import { verifyCaseMappings } from '#functions/mastery/pool/case-mappings.ts';
import type { ReadPool } from '#functions/mastery/pool/read-pool.ts';
import { bindModel } from '#functions/mastery/records/bind-model.ts';
import type { BoundModel } from '#functions/mastery/records/bind-model.ts';
import { invalidCalibration } from '#functions/mastery/records/load.ts';
import type { RunCalibration } from '#functions/mastery/records/load.ts';
import { invalidPool, profileProblem, upstreamProblem } from '#functions/mastery/upstream/problems.ts';
import type { RunDependencies } from './dependencies.ts';
import type { RuntimeFault } from './outcomes.ts';
import type { RunState } from './state.ts';

/** The pinned records of a run. */
export interface RunRecordsPair {
  readonly policy: SelectionPolicy;
  readonly calibration: RunCalibration<CompiledModel>;
}

/** What records and owners say now: all that a diagnosis stands on beside the answers. */
export interface RunBasis extends RunRecordsPair {
  readonly bound: BoundModel;
  readonly pins: ExecutionPins;
  readonly anchor: AnchorStatus;
}

/** Loads policy and calibration by their exact ids: hidden 404, or 422 for a calibration that cannot be used now. */
export async function loadRecords(
  dependencies: RunDependencies,
  tenantId: string,
  ids: { readonly selectionPolicyId: string; readonly scaleCalibrationId: string },
  now: number,
): Promise<Result<RunRecordsPair, Problem>> {
  const [policy, calibration] = await Promise.all([
    dependencies.records.loadPolicy(tenantId, ids.selectionPolicyId),
    dependencies.records.loadCalibration(tenantId, ids.scaleCalibrationId, now),
  ]);
  if (!policy.ok) return policy;
  if (!calibration.ok) return calibration;
  return ok({ policy: policy.value, calibration: calibration.value });
}

/** The records that a continuation pins. Their checksums are sealed with it: an id that means something else by now is refused. */
export async function loadPinnedRecords(
  dependencies: RunDependencies,
  state: RunState,
  now: number,
): Promise<Result<RunRecordsPair, Problem>> {
  const records = await loadRecords(dependencies, state.tenantId, state, now);
  if (!records.ok) return records;
  const { policy, calibration } = records.value;
  if (policy.checksum !== state.selectionPolicyChecksum)
    throw new Error('a released selection policy has changed under a pinned id');
  if (calibration.document.checksum !== state.scaleCalibrationChecksum)
    return err(invalidCalibration('The calibration is not the one that this run is pinned to.'));
  return records;
}

/** The platform for the verified tenant, with a profile of exactly that tenant [MA-009]; no call is made before. */
export async function openPlatform(
  dependencies: RunDependencies,
  tenantId: string,
  request: { readonly receivedAt: number; readonly deadline: number },
): Promise<Result<{ readonly platform: Platform; readonly profile: ServiceProfile }, Problem>> {
  const profile = await dependencies.profiles.resolve(tenantId);
  if (!profile.ok) return err(profileProblem(profile.error));
  return ok({ profile: profile.value, platform: dependencies.openPlatform(profile.value, request) });
}

/** All that QTI holds on the run's candidate. */
export async function readRuntime(
  platform: Platform,
  candidateRef: string,
): Promise<Result<RuntimeData, Problem>> {
  const answer = await platform.call(operations.readCandidateRuntime, {
    path: { tenantId: platform.tenantId, candidateRef },
  });
  if (!answer.ok) return err(upstreamProblem(answer.error));
  if (answer.value.value.candidateRef !== candidateRef)
    return err(invalidPool(operations.readCandidateRuntime, answer.value.upstreamRequestId));
  return ok(answer.value.value);
}

/** What contradictory or unusable runtime data means for the caller. */
export function runtimeProblem(fault: RuntimeFault): Problem {
  return fault === 'stream-conflict'
    ? problem('mastery', 'stream-conflict', 409)
    : invalidPool(
        operations.readCandidateRuntime,
        undefined,
        'A scored attempt is not a 0 or 1 score with its time.',
      );
}

/**
 * Puts the basis of a run together: the pool that was read, bound to the calibration; every in-scope KC resolved in CASE; the anchor.
 * Takes the reads as promises, so that they are already under way side by side.
 */
export async function readBasis(
  platform: Platform,
  records: RunRecordsPair,
  reading: Promise<Result<ReadPool, Problem>>,
): Promise<Result<RunBasis, Problem>> {
  const { policy, calibration } = records;
  const anchoring = verifyAnchor(platform, calibration.document.anchor);
  const [pool, anchor] = await Promise.all([reading, anchoring]);
  if (!pool.ok) return pool;
  const { blueprint, pins } = pool.value;
  const bound = bindModel(calibration, policy, blueprint, pool.value.pool.members);
  if (!bound.ok) return bound;
  if (!anchor.ok) return anchor;
  const mapped = await verifyCaseMappings(
    platform,
    calibration.document.caseFrameworkGuid,
    bound.value.scope,
  );
  if (!mapped.ok) return mapped;
  return ok({ policy, calibration, bound: bound.value, pins, anchor: anchor.value });
}

/** Whether Results takes KC components: without it no learner result could be published, so no learner run starts [MA-035]. */
export async function requireKcComponents(platform: Platform): Promise<Result<undefined, Problem>> {
  const answer = await platform.call(operations.readCapabilities, {});
  if (!answer.ok) return err(upstreamProblem(answer.error));
  if (answer.value.value.capabilities.includes('kc_components')) return ok(undefined);
  return err(
    problem('mastery', 'upstream-unavailable', 424, {
      detail: 'Results does not take knowledge-component results, so a learner run could not be published.',
      retryable: false,
      upstream: {
        service: 'results',
        operation: operations.writeKcComponents.id,
        ...(answer.value.upstreamRequestId === undefined
          ? {}
          : { requestId: answer.value.upstreamRequestId }),
      },
    }),
  );
}
