import type { ModelParameters } from '#functions/mastery/engine/types.ts';
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
