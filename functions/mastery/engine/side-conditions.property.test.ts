import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileModel } from './model.ts';
import { sideConditions, usageOf } from './side-conditions.ts';
import type { SideConditions } from './side-conditions.ts';

const ITEMS = 24;
const KCS = 20;
const items = Array.from({ length: ITEMS }, (_, j) => j);

const worlds = fc.record({
  kcs: fc.array(fc.uniqueArray(fc.nat(KCS - 1), { minLength: 1, maxLength: 5 }), {
    minLength: ITEMS,
    maxLength: ITEMS,
  }),
  enemySets: fc.array(fc.uniqueArray(fc.nat(ITEMS - 1), { maxLength: 4 }), { maxLength: 3 }),
  caps: fc.array(
    fc.record({
      items: fc.uniqueArray(fc.nat(ITEMS - 1), { maxLength: 12 }),
      maximum: fc.integer({ min: 0, max: 3 }),
    }),
    { maxLength: 3 },
  ),
  added: fc.uniqueArray(fc.nat(ITEMS - 1), { maxLength: 10 }),
});

function conditionsOf(world: {
  kcs: number[][];
  enemySets: number[][];
  caps: { items: number[]; maximum: number }[];
}): SideConditions {
  const model = compileModel({
    theta: { nodes: 3, min: -1, max: 1, mean: 0, sd: 1 },
    kcs: Array.from({ length: KCS }, (_, k) => ({ guid: `kc-${k}`, slope: 1, location: 0 })),
    items: world.kcs.map((kcs, j) => ({
      id: `a-${j}`,
      kcs: kcs.map((k) => `kc-${k}`),
      probabilities: Array.from({ length: 2 ** kcs.length }, () => 0.5),
    })),
    scale: [1, 2, 3],
  });
  if (!model.ok) throw new Error(JSON.stringify(model.error));
  return sideConditions(model.value, world.enemySets, world.caps);
}

// The search of coverage adds and takes back; selection.property.test.ts sees where it goes wrong.
describe('usageOf', () => {
  it('bars at once what fits no more, and lets an item take the place of another only where it fits without that one', () => {
    let replaced = 0;
    fc.assert(
      fc.property(worlds, (world) => {
        const conditions = conditionsOf(world);
        const usage = usageOf(conditions, world.added);
        const candidates = new Uint8Array(ITEMS).fill(1);
        usage.bar(candidates);
        expect([...candidates].map((value) => value === 1)).toStrictEqual(items.map(usage.fits));
        for (const other of world.added) {
          const without = usageOf(
            conditions,
            world.added.filter((item) => item !== other),
          );
          for (const item of items) {
            if (!usage.fitsInPlaceOf(item, other)) {
              expect(usage.fits(item)).toBe(false);
              continue;
            }
            expect(without.fits(item)).toBe(true);
            if (!usage.fits(item)) replaced += 1;
          }
        }
      }),
      { numRuns: 500 },
    );
    expect(replaced).toBeGreaterThan(100);
  });
});
