import { compileModel } from '#functions/mastery/engine/index.ts';
import type { ModelCheck } from '#shared/records/check-calibration.ts';
import { modelParameters, parametersPointer } from './model-parameters.ts';

/** What a released calibration must satisfy beside its form: the engine takes its parameters. */
export const checkModel: ModelCheck = (parameters) => {
  const compiled = compileModel(modelParameters(parameters));
  if (compiled.ok) return [];
  return compiled.error.map((defect) => ({ ...defect, pointer: parametersPointer(defect.pointer) }));
};
