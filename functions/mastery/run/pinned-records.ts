import type { CompiledModel } from '#functions/mastery/engine/index.ts';
import { invalidCalibration } from '#functions/mastery/records/load.ts';
import type { RunCalibration, RunPolicy } from '#functions/mastery/records/load.ts';
import {
  frameworkGuidDefects,
  parameterGuidDefects,
  policyGuidDefects,
} from '#shared/records/record-guids.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { PoolDependencies, RunDependencies } from './dependencies.ts';
import type { AdaptiveRunState } from '../continuation/run-state.ts';

/** The released records that a run is pinned to. */
export interface PinnedRecords extends RunPolicy {
  readonly calibration: RunCalibration;
}

interface RecordIds {
  readonly selectionPolicyId: string;
  readonly scaleCalibrationId: string;
}

/**
 * Loads policy and calibration of a start or a simulation by their exact ids: hidden 404, or 422 for a calibration that cannot be used, and
 * for GUIDs that are not in their one form: they may have been released before the release refused them [MA-026, MA-195].
 * @param now epoch milliseconds at which the calibration must be valid
 */
export async function loadRecords(
  dependencies: Pick<PoolDependencies, 'records'>,
  tenantId: string,
  ids: RecordIds,
  now: number,
): Promise<Result<PinnedRecords, Problem>> {
  const records = await load(dependencies, tenantId, ids, now);
  if (!records.ok) return records;
  const { policy, calibration } = records.value;
  const defects = [
    ...policyGuidDefects(policy),
    ...frameworkGuidDefects(calibration.document.caseFrameworkGuid),
  ];
  return defects.length === 0 && hasCanonicalParameters(calibration)
    ? records
    : err(invalidCalibration('GUIDs of the released records are not lower-case UUIDs in ascending order.'));
}

/** By the model that a container has compiled of the parameters: those of a large bank take ten milliseconds to look through. */
const canonicalParameters = new WeakMap<CompiledModel, boolean>();

function hasCanonicalParameters({ model, parameters }: RunCalibration): boolean {
  const isCanonical = canonicalParameters.get(model) ?? parameterGuidDefects(parameters).length === 0;
  canonicalParameters.set(model, isCanonical);
  return isCanonical;
}

async function load(
  dependencies: Pick<PoolDependencies, 'records'>,
  tenantId: string,
  ids: RecordIds,
  validAt: number,
): Promise<Result<PinnedRecords, Problem>> {
  const [policy, calibration] = await Promise.all([
    dependencies.records.loadPolicy(tenantId, ids.selectionPolicyId),
    dependencies.records.loadCalibration(tenantId, ids.scaleCalibrationId, validAt),
  ]);
  if (!policy.ok) return policy;
  if (!calibration.ok) return calibration;
  return ok({ ...policy.value, calibration: calibration.value });
}

/**
 * The records that a continuation pins. While items are offered the calibration must be valid now; once the test has ended, it is what it
 * was at the start: a result is not lost because an owner was slow. Checksums are sealed with the token: an id that has come to mean
 * something else, such as a tenant's own record of a system record's id, is refused. A run under way goes on with the GUIDs that it began with.
 */
export async function loadPinnedRecords(
  dependencies: RunDependencies,
  state: AdaptiveRunState,
  now: number,
): Promise<Result<PinnedRecords, Problem>> {
  const validAt = state.stopReason === null ? now : state.startedAt;
  const records = await load(dependencies, state.tenantId, state, validAt);
  if (!records.ok) return records;
  const { policy, calibration } = records.value;
  return policy.checksum === state.selectionPolicyChecksum &&
    calibration.document.checksum === state.scaleCalibrationChecksum
    ? records
    : err(invalidCalibration('The released records are not the ones that this run is pinned to.'));
}
