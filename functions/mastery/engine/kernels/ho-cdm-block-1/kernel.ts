import type { Kernel, KernelModel, KnownMastery, ModelParameters } from '../../types.ts';
import { binaryEntropy } from '../ho-cdm-grid-1/arithmetic.ts';
import { at } from '../ho-cdm-grid-1/arrays.ts';
import { MAXIMUM_COMPONENT_KCS } from '../ho-cdm-grid-1/model.ts';
import { successProbability } from '../ho-cdm-grid-1/posterior.ts';
import { informationGains, informationScratch } from './information.ts';
import { estimatePosterior, scaleOf } from './posterior.ts';
import { compileBlocks } from './prior.ts';
import { drawPattern, profileOf, type Profiles } from './profile.ts';

/** Model `ho-cdm-block/1`: `ho-cdm-grid/1` with KCs in blocks that have a prior of their own (docs/engine.md). Frozen once released. */
export const hoCdmBlock1: Kernel = {
  runtimeVersion: 'ho-cdm-block-1',
  maximumComponentKcs: MAXIMUM_COMPONENT_KCS,
  takesBlocks: true,
  binaryEntropy,
  compile,
};

function compile(parameters: ModelParameters): KernelModel {
  const model = compileBlocks(parameters);
  const scratch = informationScratch(model);
  const profiles: Profiles = new WeakMap();
  const thetaOf = (mastery: readonly KnownMastery[]): Float64Array =>
    profileOf(model, profiles, mastery).theta;
  return {
    usable:
      model.prior.every((weight) => Number.isFinite(weight)) &&
      model.mastery.every((p) => Number.isFinite(p)),
    estimate: (outcomes) => estimatePosterior(model, outcomes),
    informationGains: (estimate, eligible, gains, keep) =>
      informationGains(model, scratch, estimate, eligible, gains, keep),
    knownTheta: (mastery) => thetaOf(mastery).slice(),
    knownScale: (mastery) => scaleOf(model, thetaOf(mastery)).scaleScore,
    masteryAt: (kc, node) => at(model.mastery, kc * model.nodes + node),
    successProbability: (item, mastered) => successProbability(model, item, mastered),
    admits: (mastery) => thetaOf(mastery).every((weight) => Number.isFinite(weight)),
    drawPattern: (mastery, node, chance) =>
      drawPattern(model, profileOf(model, profiles, mastery), node, chance),
  };
}
