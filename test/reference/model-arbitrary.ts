import fc from 'fast-check';
import type {
  CalibratedParameters,
  ModelParameters,
  Outcome,
  PriorBlock,
} from '#functions/mastery/engine/index.ts';
import type { ReferenceBlock, ReferenceModel } from '#psychometrics/reference/higher-order-cdm.ts';

/** One random model in the engine's form and in the oracle's, with answers to some of its items. */
export interface ModelCase {
  readonly parameters: ModelParameters;
  readonly reference: ReferenceModel;
  readonly outcomes: readonly Outcome[];
}

/** The same with blocks, for a kernel that takes them. */
export interface BlockCase extends Omit<ModelCase, 'parameters'> {
  readonly parameters: CalibratedParameters;
}

const unit = fc.double({ min: 0, max: 1, noNaN: true });

/** A table that never falls when a KC is mastered: DINA, DINO, flat, or any (each pattern above the highest below it). */
function table(kcCount: number): fc.Arbitrary<number[]> {
  const size = 2 ** kcCount;
  const bounds = fc.tuple(
    fc.double({ min: 0.01, max: 0.45, noNaN: true }),
    fc.double({ min: 0.5, max: 0.99, noNaN: true }),
  );
  return fc.oneof(
    bounds.map(([low, high]) => Array.from({ length: size }, (_, s) => (s === size - 1 ? high : low))),
    bounds.map(([low, high]) => Array.from({ length: size }, (_, s) => (s === 0 ? low : high))),
    bounds.map(([low]) => Array.from({ length: size }, () => low)),
    fc.array(unit, { minLength: size, maxLength: size }).map((steps) => {
      const values: number[] = [];
      steps.forEach((step, s) => {
        let floor = 0.01;
        for (let bit = 1; bit < size; bit *= 2)
          if ((s & bit) !== 0) floor = Math.max(floor, values[s - bit]!);
        values.push(floor + (0.99 - floor) * step * 0.7);
      });
      return values;
    }),
  );
}

/** Models of up to 7 KCs, an item having up to 4 of them, with up to 12 answers (an item may be answered again). */
export const modelCaseOf = (mostItems: number): fc.Arbitrary<ModelCase> =>
  fc
    .record({ kcCount: fc.integer({ min: 1, max: 7 }), itemCount: fc.integer({ min: 1, max: mostItems }) })
    .chain(({ kcCount, itemCount }) =>
      fc.record({
        kcs: fc.array(
          fc.record({
            slope: fc.double({ min: 0.2, max: 12, noNaN: true }),
            location: fc.double({ min: -3, max: 3, noNaN: true }),
          }),
          { minLength: kcCount, maxLength: kcCount },
        ),
        items: fc.array(
          fc
            .shuffledSubarray(
              Array.from({ length: kcCount }, (_, k) => k),
              { minLength: 1, maxLength: Math.min(4, kcCount) },
            )
            .chain((kcs) => table(kcs.length).map((success) => ({ kcs, success }))),
          { minLength: itemCount, maxLength: itemCount },
        ),
        theta: fc.record({
          nodes: fc.integer({ min: 3, max: 17 }),
          mean: fc.double({ min: -1, max: 1, noNaN: true }),
          sd: fc.double({ min: 0.3, max: 2, noNaN: true }),
        }),
        steps: fc.array(fc.double({ min: 0.01, max: 20, noNaN: true }), { minLength: 17, maxLength: 17 }),
        outcomes: fc.array(
          fc.record({ item: fc.integer({ min: 0, max: itemCount - 1 }), correct: fc.boolean() }),
          { maxLength: 12 },
        ),
      }),
    )
    .map(({ kcs, items, theta, steps, outcomes }) => {
      const scale: number[] = [];
      steps.slice(0, theta.nodes).forEach((step, g) => scale.push((scale[g - 1] ?? 100) + step));
      const grid = { ...theta, min: -4, max: 4 };
      return {
        parameters: {
          theta: grid,
          kcs: kcs.map((kc, k) => ({ guid: `kc-${k}`, ...kc })),
          items: items.map(({ kcs: own, success }, j) => ({
            artifactVersionId: `item-${j}`,
            kcs: own.map((k) => `kc-${k}`),
            probabilities: success,
          })),
          scale,
        },
        reference: { ...grid, kcs, items, scale },
        outcomes,
      };
    });

export const modelCase = modelCaseOf(8);

/** The same with items that tell almost for certain, so that answers leave hardly any doubt about some KCs and patterns. */
export function sharpened(value: ModelCase): ModelCase {
  const sharpen = (table: readonly number[]): number[] => table.map((p) => p ** 6 / (p ** 6 + (1 - p) ** 6));
  const { parameters, reference } = value;
  return {
    ...value,
    parameters: {
      ...parameters,
      items: parameters.items.map((item) => ({ ...item, probabilities: sharpen(item.probabilities) })),
    },
    reference: {
      ...reference,
      items: reference.items.map((item) => ({ ...item, success: sharpen(item.success) })),
    },
  };
}

const weight = fc.oneof(
  { arbitrary: fc.double({ min: 0.001, max: 1, noNaN: true }), weight: 3 },
  { arbitrary: fc.constant(0), weight: 1 },
);

/** @param nodes of theta @param kcs their indices, in the block's own order */
function blockOf(nodes: number, kcs: readonly number[]): fc.Arbitrary<ReferenceBlock | undefined> {
  const size = 2 ** kcs.length;
  const full = size - 1;
  /** @param areExclusive whether all KCs are never mastered together, at any node */
  const rowOf = (areExclusive: boolean): fc.Arbitrary<number[]> =>
    fc
      .array(weight, { minLength: size, maxLength: size })
      .map((weights) =>
        weights.map((value, pattern) => {
          if (pattern === full) return areExclusive ? 0 : value + 0.01;
          return areExclusive && (pattern & (pattern - 1)) === 0 ? value + 0.01 : value;
        }),
      )
      .map((weights) => {
        const total = weights.reduce((a, b) => a + b);
        return weights.map((value) => value / total);
      });
  const exclusive = fc.oneof(
    { arbitrary: fc.constant(false), weight: 3 },
    { arbitrary: fc.constant(true), weight: 1 },
  );
  const forms: fc.Arbitrary<ReferenceBlock | undefined>[] = [
    fc.constant(undefined),
    fc
      .tuple(...kcs.map((_, i) => fc.subarray(kcs.slice(0, i))))
      .map((lists) =>
        // At least one prerequisite.
        lists.every((list) => list.length === 0) ? lists.with(1, kcs.slice(0, 1)) : lists,
      )
      .map((prerequisites) => ({ form: 'hierarchy', kcs, prerequisites })),
    fc.record({
      form: fc.constant('saturated' as const),
      kcs: fc.constant(kcs),
      slope: fc.double({ min: 0.1, max: 5, noNaN: true }),
      weights: exclusive.chain(rowOf).map((weights) => weights.with(0, weights[0]! + 0.01)),
    }),
    fc.record({
      form: fc.constant('table' as const),
      kcs: fc.constant(kcs),
      probabilities: exclusive.chain((areExclusive) =>
        fc.array(rowOf(areExclusive), { minLength: nodes, maxLength: nodes }),
      ),
    }),
    fc.record({
      form: fc.constant('strand' as const),
      kcs: fc.constant(kcs),
      correlation: fc.double({ min: 0.05, max: 0.95, noNaN: true }),
    }),
  ];
  return fc.oneof(...(kcs.length < 3 ? forms.slice(0, -1) : forms));
}

/** Models of up to 7 KCs in blocks of every form and outside them, whose items link KCs of all of them. */
export const blockCaseOf = (mostItems: number): fc.Arbitrary<BlockCase> =>
  modelCaseOf(mostItems)
    .chain((value) => {
      const { kcs, nodes } = value.reference;
      return fc
        .tuple(
          fc.shuffledSubarray([...kcs.keys()], { minLength: kcs.length }),
          fc.array(fc.integer({ min: 2, max: 5 }), { minLength: 3, maxLength: 3 }),
        )
        .chain(([order, sizes]) => {
          const cuts = sizes.map((size, b) => sizes.slice(0, b).reduce((a, c) => a + c, 0) + size);
          const groups = cuts
            .map((end, b) => order.slice(end - sizes[b]!, end))
            .filter((group) => group.length > 1);
          return fc.tuple(...groups.map((group) => blockOf(nodes, group)));
        })
        .map((blocks) => ({ value, blocks: blocks.filter((block) => block !== undefined) }));
    })
    .map(({ value, blocks }) => withBlocks(value, blocks));

/** Puts the KCs of a case into blocks. */
function withBlocks(
  { parameters, reference, outcomes }: ModelCase,
  blocks: readonly ReferenceBlock[],
): BlockCase {
  const guidOf = (kc: number): string => `kc-${kc}`;
  const stated = new Set(
    blocks.flatMap(({ form, kcs }) => (form === 'saturated' || form === 'table' ? kcs : [])),
  );
  return {
    parameters: {
      ...parameters,
      kcs: parameters.kcs.map((kc, k) => (stated.has(k) ? { guid: kc.guid } : kc)),
      blocks: blocks.map((block): PriorBlock => {
        const kcs = block.kcs.map(guidOf);
        return block.form === 'hierarchy'
          ? { ...block, kcs, prerequisites: block.prerequisites.map((list) => list.map(guidOf)) }
          : { ...block, kcs };
      }),
    },
    reference: { ...reference, blocks },
    outcomes,
  };
}
