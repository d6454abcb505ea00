import { compileModel } from '#functions/mastery/engine/index.ts';
import type { ModelParameters } from '#functions/mastery/engine/index.ts';
import type { ModelCheck } from '#shared/records/check-calibration.ts';
import type { CalibrationParameters } from '#shared/records/records.ts';

/** Released parameters in the engine's vocabulary: an item's id is its immutable artifact version. */
export function modelParameters(parameters: CalibrationParameters): ModelParameters {
  return {
    theta: parameters.theta,
    kcs: parameters.kcs.map(({ guid, slope, location }) => ({ guid, slope, location })),
    items: parameters.items.map(({ artifactVersionId, kcs, probabilities }) => ({
      id: artifactVersionId,
      kcs,
      probabilities,
    })),
    scale: parameters.scale,
  };
}

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
