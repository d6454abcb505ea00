import { describe, expect, it } from 'vitest';
import { stream } from '#shared/kernel/random-stream.ts';
import { contextOf, RULE, type Case } from '#test/reference/selection-oracle.ts';
import { cover, coverageStateOf } from './coverage.ts';
import { feasibilityOf, losesMinimum } from './feasibility.ts';
import { usageOf } from './kinds.ts';
import { estimate } from './model.ts';
import { prepareSelection, selectItem, type SelectionContext } from './selection.ts';

const range = (count: number): readonly number[] => [...Array(count).keys()];

/** A pool of one-KC items under these rules alone. */
const poolOf = (
  items: readonly { readonly tags: readonly string[]; readonly high?: number }[],
  rules: Pick<Case, 'maxItems'> & Partial<Case>,
): Case => ({
  items: items.map(({ tags, high = 0.7 }) => ({ kcs: [0], tags, high, accessibility: [] })),
  ...{ minima: [], maxima: [], enemySets: [], excludedItems: [], requiredAccessibility: [], met: [] },
  scope: [0],
  exposure: { method: 'randomesque', size: 1 },
  ...rules,
});

const next = (
  context: SelectionContext,
  runSeed = 'seed',
  used: readonly number[] = [],
): number | undefined => {
  const run = { used, runSeed, sequence: used.length + 1, met: [], unsettled: [], rule: RULE };
  const selection = selectItem(context, estimate(context.model, []), run);
  return typeof selection === 'string' ? undefined : selection.item;
};

/** Milliseconds of the processor that something takes. */
function cpuOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  return process.threadCpuUsage(before).user / 1000;
}

/**
 * Items for the edges of a complete graph, and one for each vertex, of which no two may share a vertex: only all vertices together are as
 * many items as there are vertices, and a search that begins with an edge finds that out after very many steps.
 */
const VERTICES = 19;
const edges = range(VERTICES).flatMap((a) => range(a).map((b) => ({ tags: ['graph', `v-${b}`, `v-${a}`] })));
const vertices = range(VERTICES).map((a) => ({ tags: ['graph', `v-${a}`, `own-${a}`, `only-${a}`] }));
const graph = [...edges, ...vertices];
const graphRules = {
  minima: [{ guid: 'graph', items: VERTICES }],
  // The search prefers items that few maxima count: those of the edges.
  maxima: range(VERTICES).flatMap((a) =>
    ['v', 'own', 'only'].map((name) => ({ guid: `${name}-${a}`, items: 1 })),
  ),
  maxItems: VERTICES,
};

/** What tells most, and counts towards nothing. */
const best = { tags: [], high: 0.95 };

describe('what is planned for the minima of a policy', () => {
  it.each<[string, (j: number) => readonly string[]]>([
    ['of one kind', () => []],
    ['of which no two are alike', (j) => [`only-${j}`]],
  ])('keeps a minimum in reach that items in any order meet: 20 of 500 items %s', (_, own) => {
    const items = range(500).map((j) => ({ tags: ['many', ...own(j)] }));
    const both = { tags: ['many', 'few'] };
    const minima = [
      { guid: 'many', items: 20 },
      { guid: 'few', items: 1 },
    ];
    const maxima = range(500).map((j) => ({ guid: `only-${j}`, items: 1 }));
    const context = contextOf(poolOf([...items, both, best], { minima, maxima, maxItems: 20 }));
    expect(next(context)).toBeLessThan(501);
  });

  it('looks at kinds of items in one order, whatever that of the pool and the calibration is', () => {
    const kindsOf = (items: typeof graph) =>
      contextOf(poolOf(items, graphRules)).rules.kinds.map(({ minima, limits }) => ({ minima, limits }));
    expect(kindsOf(graph.toReversed())).toEqual(kindsOf(graph));
  });

  it('plans anew for a minimum that the plan for those before it leaves no room for', () => {
    // The search prefers the first item for a, since fewer rules count it, but only the second goes with b; nothing counts towards c.
    const items = [{ tags: ['a'], high: 0.95 }, { tags: ['a', 'only', 'own'] }, { tags: ['b'] }];
    const context = contextOf(
      poolOf(items, {
        minima: ['a', 'b', 'c'].map((guid) => ({ guid, items: 1 })),
        maxima: ['only', 'own'].map((guid) => ({ guid, items: 1 })),
        enemySets: [['q-0', 'q-2']],
        maxItems: 3,
      }),
    );
    expect(next(context)).toBeGreaterThan(0);
  });

  it('finds the plan of a run that has no slot to spare: 36 minima in 12 slots', () => {
    const draw = stream('3');
    const inThrees = (tags: readonly number[]) => ({ tags: tags.map((tag) => `t-${tag}`) });
    const planned = range(12).map((j) => inThrees([j, j + 12, j + 24]));
    const others = range(288).map(() => inThrees(range(3).map(() => Math.floor(draw() * 36))));
    const minima = range(36).map((tag) => ({ guid: `t-${tag}`, items: 1 }));
    const context = contextOf(poolOf([...others, ...planned], { minima, maxItems: 12 }));
    const used: number[] = [];
    while (used.length < 12) used.push(next(context, 'seed', used)!);
    expect(new Set(used.flatMap((item) => context.members[item]!.tags)).size).toBe(37);
  });

  it('counts on items that selection has looked at before', () => {
    // The third item goes with the second alone, which comes first.
    const items = [
      { tags: ['a'], high: 0.7 },
      { tags: ['a'], high: 0.95 },
      { tags: ['b'], high: 0.9 },
      { tags: ['b'], high: 0.6 },
    ];
    const context = contextOf(
      poolOf(items, {
        minima: ['a', 'b'].map((guid) => ({ guid, items: 1 })),
        enemySets: [['q-0', 'q-2']],
        maxItems: 2,
        exposure: { method: 'randomesque', size: 2 },
      }),
    );
    expect(new Set(range(20).map((n) => next(context, `seed ${n}`)))).toEqual(new Set([1, 2]));
  });

  it('costs little where 500 items, no two of them alike, are refused one by one', () => {
    // Each of the others takes the place of two of the 50 that the minimum needs.
    const needed = range(50).map((j) => ({ tags: ['many', ...(j < 2 ? [`end-${j}`] : [])] }));
    const others = range(450).map((j) => ({ tags: ['many', 'end-0', 'end-1', `only-${j}`], high: 0.9 }));
    const context = contextOf(
      poolOf([...needed, ...others], {
        minima: [{ guid: 'many', items: 50 }],
        maxima: ['end-0', 'end-1', ...range(450).map((j) => `only-${j}`)].map((guid) => ({ guid, items: 1 })),
        maxItems: 50,
      }),
    );
    let chosen: number | undefined;
    expect(cpuOf(() => (chosen = next(context)))).toBeLessThan(300);
    expect(chosen).toBeLessThan(50);
  });

  it.each(['as it is', 'the other way round'])('does not depend on the order of the pool: %s', (order) => {
    const value = poolOf([...graph, best], graphRules);
    const { model, members } = contextOf(value);
    const pool = members.filter((member) => member !== undefined);
    const context = prepareSelection(model, order === 'as it is' ? pool : pool.toReversed(), value);
    expect(next(context)).toBe(graph.length);
  });

  it('does not take a minimum for met or lost about which the search comes to no end', () => {
    const open = poolOf([...graph, best], { ...graphRules, minimumGain: 0.9, maxItems: VERTICES + 1 });
    expect(next(contextOf(open), 'seed', [graph.length])).toBeDefined();

    // There is room for one of the two minima: without the edges it is surely the first, and so it may be with them.
    const minima = [...graphRules.minima, { guid: 'last', items: 1 }];
    const either = contextOf(poolOf([...graph, { tags: ['last'] }], { ...graphRules, minima }));
    expect(losesMinimum(either, [...edges.keys()])).toBe(false);
    expect(feasibilityOf(either)).toEqual({ unmeetable: [], undecided: [0] });
  });

  it('charges a question for what it looks at, also when it is answered at once', () => {
    const minima = [{ guid: 'graph', items: 1 }];
    const { rules, admitted } = contextOf(poolOf(graph, { minima, maxItems: 1 }));
    const full = coverageStateOf(rules, usageOf(rules, []), admitted, 0);
    const budget = { left: 100 };
    expect([cover(rules, full, [0], budget), budget.left]).toEqual(['impossible', 99]);
    expect(cover(rules, full, [0], { left: 0 })).toBe('undecided');
  });

  it('looks at a whole policy with bounded work, however many minima keep one from being met', () => {
    // Beside any of the singles only edges are left for the graph: whether ten of them go with all singles but one takes very many steps to say.
    const singles = range(200).map((n) => ({ tags: [`single-${n}`] }));
    const value = poolOf([...graph, ...singles], {
      ...graphRules,
      minima: [...range(200).map((n) => ({ guid: `single-${n}`, items: 1 })), { guid: 'graph', items: 10 }],
      enemySets: range(200).map((n) =>
        [...vertices.keys(), vertices.length + n].map((j) => `q-${edges.length + j}`),
      ),
      maxItems: 209,
    });
    const context = contextOf(value);
    const alone = contextOf(poolOf(edges, { ...graphRules, minima: [{ guid: 'graph', items: 10 }] }));
    const oneQuestion = cpuOf(() => feasibilityOf(alone));
    expect(cpuOf(() => feasibilityOf(context))).toBeLessThan(20 * oneQuestion);
    expect(feasibilityOf(context).unmeetable.map(({ minimum }) => minimum)).toEqual([200]);
  });
});
