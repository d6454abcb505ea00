import { compileModel } from '#functions/mastery/engine/index.ts';
import type { CompiledModel } from '#functions/mastery/engine/index.ts';
import type { ScaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { PermanentDefect } from '#shared/http/refusal.ts';
import { parseInstant } from '#shared/kernel/instant.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import { supportsModel } from '#shared/records/models.ts';
import { createRecent } from '#shared/kernel/recent.ts';
import type { CalibrationParameters, ExposureTable } from '#shared/records/records.ts';
import type { CalibrationEntry, RecordStore } from '#shared/records/store.ts';
import { modelParameters } from './model-parameters.ts';

/** A calibration that a run may compute with. */
export interface RunCalibration {
  readonly document: ScaleCalibration;
  readonly parametersHash: string;
  readonly parameters: CalibrationParameters;
  readonly model: CompiledModel;
}

/** A policy that a run may be led by. */
export interface RunPolicy {
  readonly policy: SelectionPolicy;
  /** Of `sympson_hetter` alone: by QTI identifier the probability to pass. */
  readonly exposureTable: ExposureTable | undefined;
}

/** The records of a run, for start, inspect and advance alike. */
export interface RunRecords {
  /** 404 `resource-not-found`; throws a PermanentDefect for a stored policy that is damaged, or whose table is. */
  loadPolicy(tenantId: string, id: string): Promise<Result<RunPolicy, Problem>>;
  /** 404 `resource-not-found`, 422 `calibration-invalid`. `now`: epoch milliseconds at which the calibration must be valid. */
  loadCalibration(tenantId: string, id: string, now: number): Promise<Result<RunCalibration, Problem>>;
}

/** Loads what a run is pinned to. Compiled models are kept per container by runtime and parameters' hash; everything else is read anew. */
export function createRunRecords(store: RecordStore, compile = compileModel): RunRecords {
  /** As many as a container keeps. */
  const models = createRecent<CompiledModel>(4);

  function compiled(
    entry: CalibrationEntry,
    parameters: CalibrationParameters,
  ): Result<CompiledModel, Problem> {
    const { runtimeVersion } = entry.document;
    const key = `${runtimeVersion} ${entry.parametersHash}`;
    const known = models.get(key);
    if (known !== undefined) return ok(known);
    const model = compile(modelParameters(parameters), runtimeVersion);
    if (!model.ok) return err(invalidCalibration('The model cannot use the parameters of the calibration.'));
    models.set(key, model.value);
    return model;
  }

  return {
    async loadPolicy(tenantId, id) {
      const entry = await store.policy(tenantId, id);
      if (!entry.ok)
        throw new PermanentDefect(`a stored selection policy cannot be used: ${entry.error.kind}`);
      return entry.value === undefined
        ? err(problem('mastery', 'resource-not-found', 404))
        : ok({ policy: entry.value.document, exposureTable: entry.value.exposureTable });
    },

    async loadCalibration(tenantId, id, now) {
      const entry = await store.calibration(tenantId, id);
      if (!entry.ok) return err(damagedCalibration());
      if (entry.value === undefined) return err(problem('mastery', 'resource-not-found', 404));
      const { document, parametersHash } = entry.value;
      if (!isValidAt(document, now))
        return err(invalidCalibration('The calibration is not valid at this time.'));
      if (!supportsModel(document)) {
        return err(
          invalidCalibration('The calibration pins a model or a runtime that this service does not have.'),
        );
      }
      const parameters = await entry.value.parameters();
      if (!parameters.ok) return err(damagedCalibration());
      const model = compiled(entry.value, parameters.value);
      if (!model.ok) return model;
      return ok({ document, parametersHash, parameters: parameters.value, model: model.value });
    },
  };
}

/** `validFrom` is inside the interval, `validUntil` is not [MA-042, MA-101]. */
function isValidAt(document: ScaleCalibration, now: number): boolean {
  const from = parseInstant(document.validFrom);
  const until = parseInstant(document.validUntil);
  return from !== undefined && until !== undefined && from <= now && now < until;
}

/** 422 with a constant sentence: nothing of the record or of a request stands in it. */
export function invalidCalibration(detail: string): Problem {
  return problem('mastery', 'calibration-invalid', 422, { detail });
}

function damagedCalibration(): Problem {
  return invalidCalibration('The stored calibration does not match its checksum.');
}
