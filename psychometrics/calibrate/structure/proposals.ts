/** Structures that expected numbers of learners with each pattern suggest. They are fitted and compared: a proposal claims nothing. */
import { addTo, at, log, sqrt, sum } from '../numbers.ts';
import { closure, directEdges, type Edge, type Prerequisites } from './prerequisites.ts';

/** Learners by two KCs: neither, the first only, the second only, both. */
function crossTable(everybody: Float64Array, first: number, second: number): Float64Array {
  const cells = new Float64Array(4);
  for (let a = 0; a < everybody.length; a += 1) {
    addTo(cells, ((a >>> first) & 1) | (((a >>> second) & 1) << 1), at(everybody, a));
  }
  return cells;
}

/** Shares below which "the second KC without the first" counts as empty, relative to what independent KCs would have. Each gives one hierarchy. */
const EMPTY_SHARES = [0.04, 0.08, 0.16, 0.3];

/** Two KCs with both patterns below this share nearly imply each other. */
const TWIN_SHARE = 0.08;

/**
 * Returns hierarchies proposed by empty patterns, without repetition. A KC can only be shown to require another if an item measures it without that
 * other: otherwise the items cannot tell the patterns apart.
 */
export function proposeHierarchies(
  kcCount: number,
  everybody: Float64Array,
  kcsOf: readonly (readonly number[])[],
): Prerequisites[] {
  const learners = sum(everybody);
  const candidates: { readonly edge: Edge; readonly share: number }[] = [];
  for (let required = 0; required < kcCount; required += 1) {
    for (let by = 0; by < kcCount; by += 1) {
      if (required === by || !kcsOf.some((own) => own.includes(by) && !own.includes(required))) continue;
      const [neither = 0, , without = 0, both = 0] = crossTable(everybody, required, by);
      const byChance = ((neither + without) * (without + both)) / learners;
      if (byChance > 0) candidates.push({ edge: [required, by], share: without / byChance });
    }
  }
  candidates.sort((a, b) => a.share - b.share);
  const found = new Map<string, Prerequisites>();
  let edges: Edge[] = [];
  for (const limit of EMPTY_SHARES) {
    for (const { edge, share } of candidates) {
      // If two KCs nearly imply each other, the emptier pattern decides.
      if (share < limit && !edges.includes(edge) && closure(kcCount, [...edges, edge]).ok)
        edges = [...edges, edge];
    }
    const closed = closure(kcCount, edges);
    if (closed.ok && edges.length > 0) found.set(closed.value.join(), closed.value);
  }
  // If two KCs nearly imply each other, chance decides which seems to be required: the other order is proposed, too.
  const isEmpty = ([from, to]: Edge): boolean =>
    candidates.some(({ edge, share }) => edge[0] === from && edge[1] === to && share < TWIN_SHARE);
  for (const required of [...found.values()]) {
    for (const [from, to] of directEdges(required)) {
      if (!isEmpty([to, from])) continue;
      const swap = (k: number): number => (k === from ? to : k === to ? from : k);
      const swapped = closure(
        kcCount,
        directEdges(required).map(([a, b]): Edge => [swap(a), swap(b)]),
      );
      if (swapped.ok) found.set(swapped.value.join(), swapped.value);
    }
  }
  return [...found.values()];
}

/** Added to each cell of a table of two KCs, so that its log odds ratio is finite. */
const HALF = 0.5;

function logOdds(everybody: Float64Array, first: number, second: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = crossTable(everybody, first, second).map((count) => log(count + HALF));
  return a + d - b - c;
}

/**
 * Returns the partition of the KCs into two parts of at least two whose pairs exceed the association under one ability most, against pairs across the
 * parts; the ability of each KC. Undefined with fewer than four KCs.
 */
export function proposeParts(
  kcCount: number,
  everybody: Float64Array,
  underOneAbility: Float64Array,
): number[] | undefined {
  const excess = Array.from({ length: kcCount }, (_, l) =>
    Array.from({ length: l }, (_unused, k) => logOdds(everybody, k, l) - logOdds(underOneAbility, k, l)),
  );
  let best: number[] | undefined;
  let highest = -Infinity;
  // The first KC is in the first part, so that each partition comes up once.
  for (let bits = 2; bits < 2 ** kcCount; bits += 2) {
    const abilityOf = Array.from({ length: kcCount }, (_, k) => (bits >>> k) & 1);
    const second = sum(abilityOf);
    if (second < 2 || kcCount - second < 2) continue;
    const within = { total: 0, pairs: 0 };
    const across = { total: 0, pairs: 0 };
    excess.forEach((row, l) =>
      row.forEach((value, k) => {
        const side = abilityOf[k] === abilityOf[l] ? within : across;
        side.total += value;
        side.pairs += 1;
      }),
    );
    const difference = within.total / within.pairs - across.total / across.pairs;
    // In units of its standard error with equal variances.
    const contrast = difference / sqrt(1 / within.pairs + 1 / across.pairs);
    if (contrast > highest) {
      highest = contrast;
      best = abilityOf;
    }
  }
  return best;
}
