import { compileModel } from '#functions/mastery/engine/index.ts';
import type { ModelCheck } from '#shared/records/check-calibration.ts';
import { modelParameters } from './model-parameters.ts';

/** What a released calibration must satisfy beside its form: the engine takes its parameters. */
export const checkModel: ModelCheck = (parameters) => {
  const compiled = compileModel(modelParameters(parameters));
  if (compiled.ok) return [];
  // An item's id is its artifact version.
  return compiled.error.map(({ pointer, message }) => ({
    pointer: pointer.replace(/^(\/items\/\d+)\/id$/, '$1/artifactVersionId'),
    message,
  }));
};
