import type { Kernel, KernelModel, ModelParameters } from '../../types.ts';
import { binaryEntropy } from './arithmetic.ts';
import { at } from './arrays.ts';
import { informationGains, informationScratch } from './information.ts';
import { MAXIMUM_COMPONENT_KCS, compileParameters } from './model.ts';
import { estimatePosterior, knownScale, knownTheta, successProbability } from './posterior.ts';

/** Model `ho-cdm-grid/1`: a higher-order cognitive diagnosis model on a theta grid (docs/engine.md). Frozen once released. */
export const hoCdmGrid1: Kernel = {
  runtimeVersion: 'ho-cdm-grid-1',
  maximumComponentKcs: MAXIMUM_COMPONENT_KCS,
  binaryEntropy,
  compile,
};

function compile(parameters: ModelParameters): KernelModel {
  const model = compileParameters(parameters);
  const scratch = informationScratch(model);
  return {
    usable:
      model.prior.every((weight) => Number.isFinite(weight)) &&
      model.mastery.every((p) => Number.isFinite(p)),
    estimate: (outcomes) => estimatePosterior(model, outcomes),
    informationGains: (estimate, eligible, gains, keep) =>
      informationGains(model, scratch, estimate, eligible, gains, keep),
    knownTheta: (mastery) => knownTheta(model, mastery),
    knownScale: (mastery) => knownScale(model, mastery),
    masteryAt: (kc, node) => at(model.mastery, kc * model.nodes + node),
    successProbability: (item, mastered) => successProbability(model, item, mastered),
  };
}
