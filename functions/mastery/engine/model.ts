import { defectIf, type Defect } from '#shared/kernel/defect.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { CURRENT_BLOCK_RUNTIME_VERSION, CURRENT_RUNTIME_VERSION, findKernel } from './kernels/index.ts';
import type {
  CalibratedParameters,
  Estimate,
  HierarchyBlock,
  Kernel,
  KernelModel,
  ModelParameters,
  Outcome,
  PriorBlock,
  SaturatedBlock,
} from './types.ts';

/** A calibration's parameters, checked and laid out for one kernel. It contains no state of a run and may be cached and shared. */
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
  /** For each KC the first KC of its block, the KC itself if it is in none; and how many KCs the block has. */
  readonly kcBlocks: readonly { readonly first: number; readonly size: number }[];
}

/** KCs of strands times theta nodes: with more, a kernel could not keep what it works out from them, and a request would take seconds. */
const MAXIMUM_STRAND_NODES = 32_000;

/** The largest magnitude of a scale value: squares of differences stay far inside the range of doubles. */
const MAXIMUM_SCALE_MAGNITUDE = 1e100;

/**
 * Compiles parameters for a runtime version, or lists every defect in them (422 `calibration-invalid` for a caller). Without one it takes the
 * current runtime, which depends on whether there are blocks. An unknown runtime version is a
 * defect of the whole, with the pointer ''.
 */
export function compileModel(
  parameters: CalibratedParameters,
  runtimeVersion: string = parameters.blocks === undefined
    ? CURRENT_RUNTIME_VERSION
    : CURRENT_BLOCK_RUNTIME_VERSION,
): Result<CompiledModel, readonly Defect[]> {
  const released = findKernel(runtimeVersion);
  if (released === undefined) {
    return err([{ pointer: '', message: `there is no runtime ${runtimeVersion} here` }]);
  }
  const defects = defectsOf(parameters, released.kernel);
  if (defects.length > 0) return err(defects);
  const core = released.kernel.compile(withCurves(parameters));
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
    itemIds: parameters.items.map(({ artifactVersionId }) => artifactVersionId),
    itemIndex: new Map(parameters.items.map(({ artifactVersionId }, index) => [artifactVersionId, index])),
    kcBlocks: kcBlocksOf(parameters, kcIndex),
    itemKcs: parameters.items.map(({ kcs }) => kcs.map((guid) => kcIndex.get(guid) ?? -1)),
  });
}

/**
 * Returns the posterior given the scored answers, bit for bit the same in any order of theirs. Throws a RangeError for an item index that the model
 * does not have, or for answers that tie more KCs together than the kernel admits: selection never offers such items.
 */
export function estimate(model: CompiledModel, outcomes: readonly Outcome[]): Estimate {
  return model.core.estimate(outcomes);
}

/** Returns the mean binary entropy of the in-scope KCs' posteriors, in bits (`mean_kc_entropy_bits/1`) [MA-084]; 0 for an empty scope. */
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

function kcBlocksOf(
  { kcs, blocks = [] }: CalibratedParameters,
  kcIndex: ReadonlyMap<string, number>,
): CompiledModel['kcBlocks'] {
  const kcBlocks = kcs.map((_, kc) => ({ first: kc, size: 1 }));
  for (const block of blocks) {
    const own = block.kcs.map((guid) => kcIndex.get(guid) ?? -1);
    for (const kc of own) kcBlocks[kc] = { first: Math.min(...own), size: own.length };
  }
  return kcBlocks;
}

/** Gives each KC that has no curve one that no kernel uses. */
function withCurves(parameters: CalibratedParameters): ModelParameters {
  const kcs = parameters.kcs.map(({ guid, slope = 1, location = 0 }) => ({ guid, slope, location }));
  return { ...parameters, kcs };
}

/** Returns the defects that the schema of a record cannot find: names, tables, blocks, grid and scale must fit together. */
function defectsOf(
  { theta, kcs, items, scale, blocks }: CalibratedParameters,
  { maximumComponentKcs: maximumKcs, takesBlocks, runtimeVersion }: Kernel,
): readonly Defect[] {
  const known = new Set(kcs.map(({ guid }) => guid));
  return [
    ...defectIf(theta.min >= theta.max, ['theta', 'max'], 'must be greater than min'),
    ...repeated(kcs, ({ guid }, k) => [guid, 'kcs', k, 'guid']),
    ...curveDefects(kcs, blocks ?? []),
    ...defectIf(
      blocks !== undefined && takesBlocks !== true,
      ['blocks'],
      `cannot be used by runtime ${runtimeVersion}: pin a runtime that takes blocks`,
    ),
    ...blockDefects(blocks ?? [], known, theta.nodes),
    ...repeated(items, ({ artifactVersionId }, j) => [artifactVersionId, 'items', j, 'artifactVersionId']),
    ...items.flatMap((item, j) => [
      ...item.kcs.flatMap((guid, at) =>
        defectIf(!known.has(guid), ['items', j, 'kcs', at], 'is not one of the KCs'),
      ),
      ...repeated(item.kcs, (guid, at) => [guid, 'items', j, 'kcs', at]),
      ...(item.kcs.length > maximumKcs
        ? defectIf(true, ['items', j, 'kcs'], `must not have more than ${maximumKcs} KCs`)
        : tableDefects(item.probabilities, item.kcs.length, ['items', j, 'probabilities'])),
    ]),
    ...defectIf(scale.length !== theta.nodes, ['scale'], 'must have one value for each theta node'),
    ...scale.flatMap((value, g) =>
      Math.abs(value) > MAXIMUM_SCALE_MAGNITUDE
        ? defectIf(true, ['scale', g], `must be finite, at most ${MAXIMUM_SCALE_MAGNITUDE} in magnitude`)
        : defectIf(
            value <= (scale[g - 1] ?? -Infinity),
            ['scale', g],
            'must be greater than the value before it',
          ),
    ),
  ];
}

/** Returns a defect per repeated name. @param named returns the name of a value, and the path to it */
function repeated<T>(
  values: readonly T[],
  named: (value: T, index: number) => readonly [name: string, ...path: PropertyKey[]],
): readonly Defect[] {
  const seen = new Set<string>();
  return values.flatMap((value, index) => {
    const [name, ...path] = named(value, index);
    return defectIf(seen.size === seen.add(name).size, path, 'occurs twice');
  });
}

/** Returns a defect per curve that is absent although the KC's probabilities come from it, or present although its block states them. */
function curveDefects(kcs: CalibratedParameters['kcs'], blocks: readonly PriorBlock[]): readonly Defect[] {
  const stated = new Set(
    blocks.flatMap((block) => (block.form === 'saturated' || block.form === 'table' ? block.kcs : [])),
  );
  return kcs.flatMap((kc, k) =>
    (['slope', 'location'] as const).flatMap((name) => [
      ...defectIf(!stated.has(kc.guid) && kc[name] === undefined, ['kcs', k, name], 'is required'),
      ...defectIf(
        stated.has(kc.guid) && kc[name] !== undefined,
        ['kcs', k, name],
        'must be absent: the block of this KC states its probabilities',
      ),
    ]),
  );
}

/** A row of a table may miss the sum 1 by this much. */
const SUM_TOLERANCE = 1e-9;

function blockDefects(
  blocks: readonly PriorBlock[],
  known: ReadonlySet<string>,
  nodes: number,
): readonly Defect[] {
  const places = blocks.flatMap(({ kcs }, b) => kcs.map((guid, at) => ({ guid, b, at })));
  let strandKcs = 0;
  return [
    ...places.flatMap(({ guid, b, at }) =>
      defectIf(!known.has(guid), ['blocks', b, 'kcs', at], 'is not one of the KCs'),
    ),
    ...repeated(places, ({ guid, b, at }) => [guid, 'blocks', b, 'kcs', at]),
    ...blocks.flatMap((block, b) => {
      const path = ['blocks', b];
      const size = 1 << block.kcs.length;
      switch (block.form) {
        case 'strand':
          strandKcs += block.kcs.length;
          return defectIf(
            strandKcs * nodes > MAXIMUM_STRAND_NODES,
            [...path, 'kcs'],
            `must not bring the KCs of strands, times the ${nodes} theta nodes, above ${MAXIMUM_STRAND_NODES}: use fewer nodes`,
          );
        case 'hierarchy':
          return hierarchyDefects(block, [...path, 'prerequisites']);
        case 'saturated':
          return block.weights.length === size
            ? weightDefects(block, [...path, 'weights'])
            : defectIf(true, [...path, 'weights'], `must have ${size} entries`);
        case 'table': {
          const table = [...path, 'probabilities'];
          return [
            ...defectIf(block.probabilities.length !== nodes, table, 'must have one row for each theta node'),
            ...block.probabilities.flatMap((row, g) =>
              row.length === size
                ? defectIf(
                    !(Math.abs(row.reduce((sum, value) => sum + value, 0) - 1) <= SUM_TOLERANCE),
                    [...table, g],
                    'must sum to 1',
                  )
                : defectIf(true, [...table, g], `must have ${size} entries`),
            ),
          ];
        }
      }
    }),
  ];
}

function hierarchyDefects(
  { kcs, prerequisites }: HierarchyBlock,
  path: readonly PropertyKey[],
): readonly Defect[] {
  if (prerequisites.length !== kcs.length)
    return defectIf(true, path, 'must have one list for each KC of the block');
  return [
    ...defectIf(
      prerequisites.every((list) => list.length === 0),
      path,
      'must name a prerequisite: without one the KCs need no block',
    ),
    ...prerequisites.flatMap((list, i) => [
      ...list.flatMap((guid, at) =>
        defectIf(
          !kcs.slice(0, i).includes(guid),
          [...path, i, at],
          'is not a KC that comes earlier in the block',
        ),
      ),
      ...repeated(list, (guid, at) => [guid, ...path, i, at]),
    ]),
  ];
}

function weightDefects({ kcs, weights }: SaturatedBlock, path: readonly PropertyKey[]): readonly Defect[] {
  const positive = [...weights.keys()].filter((pattern) => (weights[pattern] ?? 0) > 0);
  const isOpen = kcs.every((_, bit) => new Set(positive.map((pattern) => (pattern >>> bit) & 1)).size === 2);
  return defectIf(!isOpen, path, 'must leave open for each KC whether it is mastered');
}

function tableDefects(
  table: readonly number[],
  kcCount: number,
  path: readonly PropertyKey[],
): readonly Defect[] {
  const size = 1 << kcCount;
  if (table.length !== size) return defectIf(true, path, `must have ${size} entries`);
  const bits = Array.from({ length: kcCount }, (_, bit) => 1 << bit);
  return table.flatMap((value, pattern) => {
    const falls = bits.some((bit) => (pattern & bit) !== 0 && value < (table[pattern - bit] ?? 0));
    return defectIf(falls, [...path, pattern], 'must not fall when a KC is mastered');
  });
}
