import { estimate } from '#functions/mastery/engine/index.ts';
import { kcGuid, makeBank } from '../bank.ts';
import { above, duration, guardIn, ratio, table, timeAll } from '../measure.ts';
import type { Part, Progress, Report, Timed } from '../measure.ts';
import {
  bankOf,
  bankWith,
  choices,
  contextOf,
  ends,
  positionsOf,
  range,
  REFERENCE,
  RUN_LENGTH,
  select,
} from './positions.ts';

/** Guard, ours: four times the size may cost in proportion, with a quarter more for caches that no longer hold it. */
const GROWTH_GUARD = 5;

async function growth(progress: Progress, isQuick: boolean): Promise<Report> {
  const series = [
    {
      what: 'items',
      guarded: 40_000,
      sizes: [2500, 10_000, 40_000],
      make: (items: number): Timed['calls'] => choices({ ...REFERENCE, items }),
    },
    {
      what: 'KCs',
      guarded: 2000,
      sizes: [125, 500, 2000],
      make: (kcs: number): Timed['calls'] => choices({ ...REFERENCE, kcs }),
    },
    {
      what: 'nodes',
      guarded: 400,
      sizes: [25, 100, 400],
      make: (nodes: number): Timed['calls'] => {
        const context = contextOf(bankOf({ ...REFERENCE, nodes }));
        return positionsOf(context, 1).map((position) => () => {
          const posterior = estimate(context.model, position.outcomes);
          return select(context, { ...position, posterior });
        });
      },
    },
    {
      what: 'KCs tied together',
      // Twice for each KC more: an exact posterior has all their patterns. The engine ties no more than twelve.
      guarded: 0,
      sizes: [3, 6, 9, 12],
      make: tiedTogether,
    },
    {
      what: 'outcomes, replayed',
      // Beyond a usual run the answers tie more KCs together, and a component costs 2 to the power of its KCs: more than in proportion.
      guarded: RUN_LENGTH,
      sizes: [15, 60, 240],
      make: (length: number): Timed['calls'] => {
        const context = contextOf(bankOf(REFERENCE), { maxItems: length + 1 });
        return ends(context, length).map(
          ({ outcomes }) =>
            () =>
              estimate(context.model, outcomes),
        );
      },
    },
  ];
  const rows: string[][] = [];
  const missed: string[] = [];
  const growthGuard = guardIn(GROWTH_GUARD, isQuick);
  for (const { what, guarded, sizes: all, make } of series) {
    const sizes = isQuick ? all.slice(0, 2) : all;
    const cases = sizes.map((size) => {
      progress(`${size} ${what}: preparing`);
      return { name: `${size} ${what}`, calls: make(size) };
    });
    const timings = await timeAll(cases, isQuick ? 3 : 10, progress);
    for (const [n, { name, p50, p95, best }] of timings.entries()) {
      const growth = best / (timings[n - 1]?.best ?? NaN);
      const held = n > 0 && (sizes[n] ?? NaN) <= guarded;
      rows.push([
        name,
        ...[p50, p95, best].map(duration),
        n === 0 ? '' : ratio(growth),
        held ? `≤ ${growthGuard}` : '',
      ]);
      if (held) missed.push(...above(`${name}, to the size before`, growth, growthGuard));
    }
  }
  return { text: table(['', 'p50', 'p95', 'best', 'to the size above', 'guard'], rows), missed };
}

/** A run's worth of outcomes, all in one component: items on two neighbours of a chain of KCs. */
function tiedTogether(kcs: number): Timed['calls'] {
  const bank = makeBank({ items: 1, kcs, nodes: REFERENCE.nodes });
  const { model } = bankWith({
    ...bank,
    items: range(RUN_LENGTH).map((item) => {
      const first = item % (kcs - 1);
      return {
        artifactVersionId: `item-${item}`,
        kcs: [kcGuid(first), kcGuid(first + 1)],
        probabilities: [0.1, 0.3, 0.4, 0.9],
      };
    }),
  });
  const outcomes = range(RUN_LENGTH).map((item) => ({ item, correct: item % 3 > 0 }));
  return range(20).map(() => () => estimate(model, outcomes));
}

export const growthPart: Part = {
  title: 'Growth: 10,000 items, 500 KCs, 61 nodes, 60 items a run, unless told otherwise',
  run: growth,
};
