import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { compileModel, type CompiledModel } from '#functions/mastery/engine/index.ts';
import { refuseCalibration } from '#functions/mastery/upstream/problems.ts';
import type { StartAdaptiveRunRequest } from '#shared/contract/mastery/adaptive-run.ts';
import type { ScaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { PermanentDefect } from '#shared/http/refusal.ts';
import { createRecent } from '#shared/kernel/recent.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import { supportsModel } from '#shared/records/models.ts';
import {
  frameworkGuidDefects,
  parameterGuidDefects,
  policyGuidDefects,
} from '#shared/records/record-guids.ts';
import type { CalibrationParameters, ExposureTable } from '#shared/records/records.ts';
import type { CalibrationEntry, RecordStore } from '#shared/records/store.ts';

/** Compiled parameters, which a process caches: compiling and checking those of a large bank takes tens of milliseconds. */
interface Compiled {
  readonly model: CompiledModel;
  /** Whether their GUIDs are in canonical form. */
  readonly isCanonical: boolean;
}

/** The cache, by runtime version and hash of the parameters; everything else is read on each request. */
const kept = createRecent<Compiled>(4);

/** A calibration that a run may compute with. */
export interface RunCalibration extends Compiled {
  readonly document: ScaleCalibration;
  readonly parametersHash: string;
  readonly parameters: CalibrationParameters;
}

/** The released records that a run is pinned to. */
export interface PinnedRecords {
  readonly policy: SelectionPolicy;
  /** The table that the policy's exposure rule names: the probability of passing per QTI identifier. Undefined if it names none. */
  readonly exposureTable: ExposureTable | undefined;
  readonly calibration: RunCalibration;
}

/** Whether the caller decides something by the records, such as the next item or a result, or only shows what was decided. */
export type RecordUse = 'decide' | 'show';

type RecordIds = Pick<StartAdaptiveRunRequest, 'selectionPolicyId' | 'scaleCalibrationId'>;

/**
 * Loads policy and calibration by their exact ids, for a start or a simulation. The calibration must be valid now (epoch milliseconds), and GUIDs
 * must be in canonical form, since the release did not always reject other forms [MA-026, MA-195]. Returns 404 `resource-not-found` or 422
 * `calibration-invalid`; rejects with a PermanentDefect if a stored policy or its table is damaged.
 */
export async function loadNamed(
  store: RecordStore,
  tenantId: string,
  ids: RecordIds,
  now: number,
): Promise<Result<PinnedRecords, Problem>> {
  const records = await load(store, tenantId, ids, { validAt: now, use: 'decide' });
  if (!records.ok) return records;
  const { policy, calibration } = records.value;
  const defects = [
    ...policyGuidDefects(policy),
    ...frameworkGuidDefects(calibration.document.caseFrameworkGuid),
  ];
  return defects.length === 0 && calibration.isCanonical
    ? records
    : refuseCalibration('GUIDs of the released records are not lower-case UUIDs in ascending order.');
}

/**
 * Loads as `loadNamed` does, for a run under way. While items are offered the calibration must be valid now; once the test has ended, it is used as
 * it was at the start: a result is not lost because an owner was slow. The token seals checksums: an id that now refers to other content, such as a
 * tenant's own record with a system record's id, is refused. The run keeps the GUIDs that it began with.
 * @param use a blocked record is only for a run that is shown
 */
export async function loadPinned(
  store: RecordStore,
  state: AdaptiveRunState,
  now: number,
  use: RecordUse,
): Promise<Result<PinnedRecords, Problem>> {
  const validAt = state.stopReason === null ? now : state.startedAt;
  const records = await load(store, state.tenantId, state, { validAt, use, pins: state });
  if (!records.ok) return records;
  const { policy, calibration } = records.value;
  return policy.checksum === state.selectionPolicyChecksum &&
    calibration.document.checksum === state.scaleCalibrationChecksum
    ? records
    : refuseCalibration('The released records are not the ones that this run is pinned to.');
}

interface LoadOptions {
  /** Epoch milliseconds at which the calibration must be valid. */
  readonly validAt: number;
  readonly use: RecordUse;
  /** The checksums that a run is pinned to. */
  readonly pins?: Pick<AdaptiveRunState, 'selectionPolicyChecksum' | 'scaleCalibrationChecksum'>;
}

async function load(
  store: RecordStore,
  tenantId: string,
  { selectionPolicyId, scaleCalibrationId }: RecordIds,
  { validAt, use, pins }: LoadOptions,
): Promise<Result<PinnedRecords, Problem>> {
  const [policy, entry] = await Promise.all([
    store.policy(tenantId, selectionPolicyId, pins?.selectionPolicyChecksum),
    store.calibration(tenantId, scaleCalibrationId, pins?.scaleCalibrationChecksum),
  ]);
  if (!policy.ok) throw new PermanentDefect(`a stored selection policy cannot be used: ${policy.error.kind}`);
  if (policy.value === undefined) return err(problem('mastery', 'resource-not-found', 404));
  if (!entry.ok) return damagedCalibration;
  if (entry.value === undefined) return err(problem('mastery', 'resource-not-found', 404));
  if (
    use === 'decide' &&
    [policy.value, entry.value].some(({ lifecycle }) => lifecycle.blockedAt !== undefined)
  )
    return refuseCalibration('The release of the policy or of the calibration was withdrawn.');
  const calibration = await loadCalibration(entry.value, validAt);
  if (!calibration.ok) return calibration;
  const { document, exposureTable } = policy.value;
  return ok({ policy: document, exposureTable, calibration: calibration.value });
}

async function loadCalibration(
  { document, parametersHash, parameters: readParameters }: CalibrationEntry,
  validAt: number,
): Promise<Result<RunCalibration, Problem>> {
  // The interval contains `validFrom`, but not `validUntil` [MA-042, MA-101].
  const isValid = Date.parse(document.validFrom) <= validAt && validAt < Date.parse(document.validUntil);
  if (!isValid) return refuseCalibration('The calibration is not valid at this time.');
  if (!supportsModel(document))
    return refuseCalibration('The calibration pins a model or a runtime that this service does not have.');
  const parameters = await readParameters();
  if (!parameters.ok) return damagedCalibration;
  const key = `${document.runtimeVersion} ${parametersHash}`;
  let compiled = kept.get(key);
  if (compiled === undefined) {
    const model = compileModel(parameters.value, document.runtimeVersion);
    if (!model.ok) return refuseCalibration('The model cannot use the parameters of the calibration.');
    const isCanonical = parameterGuidDefects(parameters.value).length === 0;
    compiled = { model: model.value, isCanonical };
  }
  kept.set(key, compiled);
  return ok({ document, parametersHash, parameters: parameters.value, ...compiled });
}

const damagedCalibration = refuseCalibration('The stored calibration does not match its checksum.');
