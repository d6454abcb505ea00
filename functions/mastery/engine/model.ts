import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { CURRENT_RUNTIME_VERSION, findKernel } from './kernels/index.ts';
import type { Estimate, Kernel, KernelModel, ModelDefect, ModelParameters, Outcome } from './types.ts';

/** A calibration's parameters, checked and laid out for one kernel. It holds nothing of a run and may be kept and shared. */
export interface CompiledModel {
  readonly runtimeVersion: string;
  readonly kernelHash: string;
  readonly kernel: Kernel;
  readonly core: KernelModel;
  readonly kcGuids: readonly string[];
  readonly kcIndex: ReadonlyMap<string, number>;
  readonly itemIds: readonly string[];
  readonly itemIndex: ReadonlyMap<string, number>;
  /** KC indices of each item, in the item's own order. */
  readonly itemKcs: readonly (readonly number[])[];
}

/** The largest scale value in magnitude: squares of differences stay far inside the range of doubles. */
const MAXIMUM_SCALE_MAGNITUDE = 1e100;
const MINIMUM_NODES = 3;
const MAXIMUM_NODES = 401;

/**
 * Compiles parameters for a runtime version, or lists every defect in them (422 `calibration-invalid` for a caller). A runtime version
 * that this bundle does not hold is a defect of the whole, pointer ''.
 */
export function compileModel(
  parameters: ModelParameters,
  runtimeVersion: string = CURRENT_RUNTIME_VERSION,
): Result<CompiledModel, readonly ModelDefect[]> {
  const released = findKernel(runtimeVersion);
  if (released === undefined) {
    return err([{ pointer: '', message: `there is no runtime ${runtimeVersion} here` }]);
  }
  const defects = [
    ...thetaDefects(parameters),
    ...kcDefects(parameters),
    ...itemDefects(parameters, released.kernel.maximumComponentKcs),
    ...scaleDefects(parameters),
  ];
  if (defects.length > 0) return err(defects);
  const core = released.kernel.compile(parameters);
  if (!core.usable)
    return err([{ pointer: '/theta', message: 'the grid and its prior leave no finite weight' }]);
  const kcIndex = new Map(parameters.kcs.map(({ guid }, index) => [guid, index]));
  return ok({
    runtimeVersion,
    kernelHash: released.sourceHash,
    kernel: released.kernel,
    core,
    kcGuids: parameters.kcs.map(({ guid }) => guid),
    kcIndex,
    itemIds: parameters.items.map(({ id }) => id),
    itemIndex: new Map(parameters.items.map(({ id }, index) => [id, index])),
    itemKcs: parameters.items.map(({ kcs }) => kcs.map((guid) => kcIndex.get(guid) ?? -1)),
  });
}

/**
 * The posterior given the scored answers. Their order does not matter, to the last bit. Throws a RangeError on an item index that the
 * model does not have, or on answers that tie more KCs together than the kernel admits: selection never lets that happen.
 */
export function estimate(model: CompiledModel, outcomes: readonly Outcome[]): Estimate {
  return model.core.estimate(outcomes);
}

/** Mean binary entropy of the in-scope KCs' posteriors, in bits (`mean_kc_entropy_bits/1`) [MA-084]; 0 for an empty scope. */
export function remainingUncertainty(
  model: CompiledModel,
  { kcPosteriors }: Estimate,
  scopeKcs: readonly number[],
): number {
  if (scopeKcs.length === 0) return 0;
  let total = 0;
  for (const kc of scopeKcs) total += model.kernel.binaryEntropy(kcPosteriors[kc] ?? NaN);
  return total / scopeKcs.length;
}

function thetaDefects({ theta }: ModelParameters): ModelDefect[] {
  const defects: ModelDefect[] = [];
  if (!Number.isInteger(theta.nodes) || theta.nodes < MINIMUM_NODES || theta.nodes > MAXIMUM_NODES) {
    defects.push({
      pointer: '/theta/nodes',
      message: `must be an integer from ${MINIMUM_NODES} to ${MAXIMUM_NODES}`,
    });
  }
  for (const name of ['min', 'max', 'mean', 'sd'] as const) {
    if (!Number.isFinite(theta[name])) defects.push({ pointer: `/theta/${name}`, message: 'must be finite' });
  }
  if (theta.min >= theta.max) defects.push({ pointer: '/theta/max', message: 'must be greater than min' });
  if (theta.sd <= 0) defects.push({ pointer: '/theta/sd', message: 'must be greater than 0' });
  return defects;
}

function kcDefects({ kcs }: ModelParameters): ModelDefect[] {
  const defects: ModelDefect[] = [];
  if (kcs.length === 0) defects.push({ pointer: '/kcs', message: 'must not be empty' });
  const seen = new Set<string>();
  kcs.forEach(({ guid, slope, location }, k) => {
    if (seen.has(guid)) defects.push({ pointer: `/kcs/${k}/guid`, message: 'occurs twice' });
    seen.add(guid);
    if (!Number.isFinite(slope) || slope <= 0) {
      defects.push({ pointer: `/kcs/${k}/slope`, message: 'must be finite and greater than 0' });
    }
    if (!Number.isFinite(location))
      defects.push({ pointer: `/kcs/${k}/location`, message: 'must be finite' });
  });
  return defects;
}

function itemDefects({ kcs, items }: ModelParameters, maximumKcs: number): ModelDefect[] {
  const defects: ModelDefect[] = [];
  if (items.length === 0) defects.push({ pointer: '/items', message: 'must not be empty' });
  const known = new Set(kcs.map(({ guid }) => guid));
  const seen = new Set<string>();
  items.forEach((item, j) => {
    if (seen.has(item.id)) defects.push({ pointer: `/items/${j}/id`, message: 'occurs twice' });
    seen.add(item.id);
    if (item.kcs.length === 0) defects.push({ pointer: `/items/${j}/kcs`, message: 'must not be empty' });
    item.kcs.forEach((guid, position) => {
      const pointer = `/items/${j}/kcs/${position}`;
      if (!known.has(guid)) defects.push({ pointer, message: 'is not one of the KCs' });
      if (item.kcs.indexOf(guid) !== position) defects.push({ pointer, message: 'occurs twice' });
    });
    if (item.kcs.length > maximumKcs) {
      defects.push({ pointer: `/items/${j}/kcs`, message: `must not have more than ${maximumKcs} KCs` });
      return;
    }
    defects.push(...tableDefects(item.probabilities, item.kcs.length, `/items/${j}/probabilities`));
  });
  return defects;
}

function tableDefects(table: readonly number[], kcCount: number, pointer: string): ModelDefect[] {
  const size = 1 << kcCount;
  if (table.length !== size) return [{ pointer, message: `must have ${size} entries` }];
  const defects: ModelDefect[] = [];
  table.forEach((value, pattern) => {
    if (!(value > 0 && value < 1)) {
      defects.push({ pointer: `${pointer}/${pattern}`, message: 'must be greater than 0 and less than 1' });
      return;
    }
    for (let bit = 1; bit < size; bit *= 2) {
      if ((pattern & bit) !== 0 && value < (table[pattern - bit] ?? 0)) {
        defects.push({ pointer: `${pointer}/${pattern}`, message: 'must not fall when a KC is mastered' });
        return;
      }
    }
  });
  return defects;
}

function scaleDefects({ theta, scale }: ModelParameters): ModelDefect[] {
  const defects: ModelDefect[] = [];
  if (scale.length !== theta.nodes) {
    defects.push({ pointer: '/scale', message: 'must have one value for each theta node' });
  }
  scale.forEach((value, g) => {
    const pointer = `/scale/${g}`;
    if (!Number.isFinite(value) || Math.abs(value) > MAXIMUM_SCALE_MAGNITUDE) {
      defects.push({ pointer, message: `must be finite, at most ${MAXIMUM_SCALE_MAGNITUDE} in magnitude` });
    } else if (g > 0 && value <= (scale[g - 1] ?? -Infinity)) {
      defects.push({ pointer, message: 'must be greater than the value before it' });
    }
  });
  return defects;
}
