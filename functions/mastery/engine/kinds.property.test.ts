import fc from 'fast-check';
import { expect, it } from 'vitest';
import { largestComponent } from '#test/reference/selection-oracle.ts';
import { findKernel } from './kernels/index.ts';
import { fits, kindOfItem, rulesOf, usageOf } from './kinds.ts';
import type { CompiledModel } from './model.ts';

const KCS = 18;
const kernel = findKernel('ho-cdm-block-1')!.kernel;

/** Consecutive KCs by the sizes of their blocks, in an order of their own. */
const blocksOf = fc
  .tuple(
    fc.array(fc.constantFrom(1, 1, 2, 3, 5, 8, 12), { minLength: KCS, maxLength: KCS }),
    fc.shuffledSubarray([...Array(KCS).keys()], { minLength: KCS }),
  )
  .map(([sizes, order]) => {
    const blocks: number[][] = [];
    for (let at = 0; at < KCS; at += sizes[blocks.length - 1] ?? KCS)
      blocks.push(order.slice(at, at + (sizes[blocks.length] ?? 1)));
    return blocks;
  });

it('admits an item exactly if no component of linked blocks then has more than 12 measured KCs [MA-113]', () => {
  const kcSets = fc.array(
    fc.oneof(
      fc.nat(KCS - 1).map((kc) => [kc]),
      fc.uniqueArray(fc.nat(KCS - 1), { minLength: 2, maxLength: 4 }),
    ),
    { minLength: 2, maxLength: 14 },
  );
  const seen = new Map<boolean, number>();
  fc.assert(
    fc.property(fc.oneof(blocksOf, fc.constant([])), kcSets, (blocks, itemKcs) => {
      const kcBlocks = Array.from({ length: KCS }, (_, kc) => {
        const own = blocks.find((block) => block.includes(kc)) ?? [kc];
        return { first: Math.min(...own), size: own.length };
      });
      // SAFETY: the rules need only these of a model.
      const rules = rulesOf({ itemKcs, kcBlocks, kernel } as unknown as CompiledModel, [], []);
      const used: number[] = [];
      for (const item of itemKcs.keys()) {
        const expected =
          largestComponent(
            [...used, item].map((one) => itemKcs[one]!),
            blocks,
          ) <= 12;
        expect(fits(usageOf(rules, used), kindOfItem(rules, item))).toBe(expected);
        seen.set(expected, (seen.get(expected) ?? 0) + 1);
        if (expected) used.push(item);
      }
    }),
    { numRuns: 500 },
  );
  expect(Math.min(seen.get(true) ?? 0, seen.get(false) ?? 0)).toBeGreaterThan(50);
});
