import type { CompiledModel } from '#functions/mastery/engine/index.ts';
import { invalidCalibration } from '#functions/mastery/records/load.ts';
import type { RunCalibration } from '#functions/mastery/records/load.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { PoolDependencies, RunDependencies } from './dependencies.ts';
import type { AdaptiveRunState } from '../continuation/run-state.ts';

/** The released records that a run is pinned to. */
export interface PinnedRecords {
  readonly policy: SelectionPolicy;
  readonly calibration: RunCalibration<CompiledModel>;
}

/**
 * Loads policy and calibration by their exact ids: hidden 404, or 422 for a calibration that cannot be used.
 * @param validAt epoch milliseconds at which the calibration must be valid
 */
export async function loadRecords(
  dependencies: Pick<PoolDependencies, 'records'>,
  tenantId: string,
  ids: { readonly selectionPolicyId: string; readonly scaleCalibrationId: string },
  validAt: number,
): Promise<Result<PinnedRecords, Problem>> {
  const [policy, calibration] = await Promise.all([
    dependencies.records.loadPolicy(tenantId, ids.selectionPolicyId),
    dependencies.records.loadCalibration(tenantId, ids.scaleCalibrationId, validAt),
  ]);
  if (!policy.ok) return policy;
  if (!calibration.ok) return calibration;
  return ok({ policy: policy.value, calibration: calibration.value });
}

/**
 * The records that a continuation pins. While items are offered the calibration must be valid now; once the test has ended, it is what it
 * was at the start: a result is not lost because an owner was slow. Checksums are sealed with the token: an id that has come to mean
 * something else, such as a tenant's own record of a system record's id, is refused.
 */
export async function loadPinnedRecords(
  dependencies: RunDependencies,
  state: AdaptiveRunState,
  now: number,
): Promise<Result<PinnedRecords, Problem>> {
  const validAt = state.stopReason === null ? now : state.startedAt;
  const records = await loadRecords(dependencies, state.tenantId, state, validAt);
  if (!records.ok) return records;
  const { policy, calibration } = records.value;
  return policy.checksum === state.selectionPolicyChecksum &&
    calibration.document.checksum === state.scaleCalibrationChecksum
    ? records
    : err(invalidCalibration('The released records are not the ones that this run is pinned to.'));
}
