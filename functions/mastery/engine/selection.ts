import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { roundSignificant } from '#shared/kernel/numbers.ts';
import { canCover, planCoverage } from './coverage.ts';
import type { CoverageItem, CoverageProblem, SearchBudget } from './coverage.ts';
import type { CompiledModel } from './model.ts';
import type { Estimate } from './types.ts';

/** A pool member that the calibration has parameters for. */
export interface PoolItem {
  /** Index in the model. */
  readonly item: number;
  readonly artifactVersionId: string;
  /** QTI identifier, by which a policy names items. */
  readonly qtiIdentifier: string;
  /** CASE GUIDs that constraints count: the item's KCs and its standards. */
  readonly tags: readonly string[];
  readonly accessibility: readonly string[];
}

/** What a policy allows and demands. Items are named by QTI identifier, coverage by CASE GUID of a KC or a standard. */
export interface Constraints {
  /** KC indices that the run reports on. */
  readonly scope: readonly number[];
  readonly maxItems: number;
  readonly requiredAccessibility: readonly string[];
  readonly enemySets: readonly (readonly string[])[];
  readonly excludedItems: readonly string[];
  /** Coverage floors and content minima; a GUID may occur more than once. */
  readonly minima: readonly { readonly guid: string; readonly items: number }[];
  readonly maxima: readonly { readonly guid: string; readonly items: number }[];
  /** Randomesque exposure control draws among this many best items; 1 draws nothing. */
  readonly randomesqueSize: number;
}

/** Where the run stands. */
export interface RunPosition {
  /** Model indices of the items offered so far. */
  readonly used: readonly number[];
  /** Model indices of items that the policy bars because this candidate has met them before. */
  readonly alreadyMet: readonly number[];
  readonly runSeed: string;
  /** Sequence number of the offer to come, from 1. */
  readonly sequence: number;
}

export type Selection =
  | { readonly kind: 'selected'; readonly item: number; readonly gain: number }
  | { readonly kind: 'exhausted' };

/** A pool under a policy, prepared once and used for every selection from it. */
export interface SelectionContext {
  readonly model: CompiledModel;
  readonly constraints: Constraints;
  /** Pool member of each model item. */
  readonly members: readonly (PoolItem | undefined)[];
  /** 1 for items that no rule of the policy bars for good. */
  readonly admitted: Uint8Array;
  readonly inScope: Uint8Array;
  /** For each item, the indices of the enemy sets that hold it. */
  readonly enemySetsOf: ReadonlyMap<number, readonly number[]>;
  readonly enemySets: readonly (readonly number[])[];
  /** For each tag under a constraint, the pool's items with it. */
  readonly itemsByTag: ReadonlyMap<string, readonly number[]>;
  readonly maximumByTag: ReadonlyMap<string, number>;
}

/** Digits to which gains are rounded before they are compared: below them two platforms' sums may differ in order, not in meaning. */
const GAIN_DIGITS = 12;

/** Item visits a selection may spend on coverage. */
const PLAN_BUDGET = 30_000;
const CHECK_BUDGET = 30_000;

/** Prepares a pool. Enemy sets and exclusions that name items outside it are ignored: they cannot be offered anyway. */
export function prepareSelection(
  model: CompiledModel,
  pool: readonly PoolItem[],
  constraints: Constraints,
): SelectionContext {
  const members: (PoolItem | undefined)[] = model.itemIds.map(() => undefined);
  const admitted = new Uint8Array(model.itemIds.length);
  const inScope = new Uint8Array(model.itemIds.length);
  const byIdentifier = new Map(pool.map((member) => [member.qtiIdentifier, member.item]));
  const scope = new Set(constraints.scope);
  const excluded = new Set(constraints.excludedItems);
  const maximumByTag = new Map<string, number>();
  for (const { guid, items } of constraints.maxima) {
    maximumByTag.set(guid, Math.min(items, maximumByTag.get(guid) ?? Infinity));
  }
  const itemsByTag = new Map<string, number[]>();
  for (const { guid } of [...constraints.minima, ...constraints.maxima]) itemsByTag.set(guid, []);
  for (const member of pool) {
    members[member.item] = member;
    const accessible = constraints.requiredAccessibility.every((tag) => member.accessibility.includes(tag));
    if (accessible && !excluded.has(member.qtiIdentifier)) admitted[member.item] = 1;
    if (model.itemKcs[member.item]?.some((kc) => scope.has(kc)) === true) inScope[member.item] = 1;
    for (const tag of new Set(member.tags)) itemsByTag.get(tag)?.push(member.item);
  }
  const enemySets = constraints.enemySets.map((set) => set.flatMap((name) => byIdentifier.get(name) ?? []));
  const enemySetsOf = new Map<number, number[]>();
  enemySets.forEach((set, index) => {
    for (const item of set) enemySetsOf.set(item, [...(enemySetsOf.get(item) ?? []), index]);
  });
  return {
    model,
    constraints,
    members,
    admitted,
    inScope,
    enemySetsOf,
    enemySets,
    itemsByTag,
    maximumByTag,
  };
}

/**
 * The next item, in this order: hard filters, component guard, reachability of coverage, information gain rounded to 12 significant digits,
 * randomesque draw if the policy asks for one, SHA-256 of seed and artifact version id, artifact version id. The gain is that over the
 * whole latent state; an item that measures no in-scope KC is offered only while it serves an unmet minimum. `exhausted` when no item is
 * left or `maxItems` are used.
 */
export function selectItem(context: SelectionContext, estimate: Estimate, run: RunPosition): Selection {
  const { model, constraints } = context;
  const slots = constraints.maxItems - run.used.length;
  if (slots <= 0) return { kind: 'exhausted' };
  const guard = componentGuard(model, run.used);
  const counts = tagCounts(context, run.used);
  const candidates = hardFilter(context, run, counts, guard);
  const coverage = coverageTest(context, counts, guard, candidates, slots);
  const eligible = candidates.slice();
  for (let item = 0; item < eligible.length; item += 1) {
    if (eligible[item] === 1 && context.inScope[item] !== 1 && !coverage.serves(item)) eligible[item] = 0;
  }
  const wanted = constraints.randomesqueSize;
  const best: Ranked[] = [];
  for (const candidate of inOrderOfGain(context, estimate, eligible, run.runSeed, wanted)) {
    if (!coverage.admits(candidate.item)) continue;
    best.push(candidate);
    if (best.length === wanted) break;
  }
  const chosen = best[best.length > 1 ? draw(run, best.length) : 0];
  if (chosen === undefined) return { kind: 'exhausted' };
  return { kind: 'selected', item: chosen.item, gain: chosen.gain };
}

/** Pool membership, accessibility, exclusions (both prepared), used and already met items, enemies of used ones, maxima, components. */
function hardFilter(
  context: SelectionContext,
  run: RunPosition,
  counts: ReadonlyMap<string, number>,
  guard: ComponentGuard,
): Uint8Array {
  const candidates = context.admitted.slice();
  for (const item of run.alreadyMet) candidates[item] = 0;
  for (const item of run.used) {
    candidates[item] = 0;
    for (const set of context.enemySetsOf.get(item) ?? []) {
      for (const enemy of context.enemySets[set] ?? []) candidates[enemy] = 0;
    }
  }
  for (const [tag, maximum] of context.maximumByTag) {
    if ((counts.get(tag) ?? 0) < maximum) continue;
    for (const item of context.itemsByTag.get(tag) ?? []) candidates[item] = 0;
  }
  const admits = guard([]);
  for (let item = 0; item < candidates.length; item += 1) {
    if (candidates[item] === 1 && !admits(item)) candidates[item] = 0;
  }
  return candidates;
}

/** Used items under each tag that a constraint counts. */
function tagCounts(context: SelectionContext, used: readonly number[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of new Set(used)) {
    for (const tag of new Set(context.members[item]?.tags)) {
      if (context.itemsByTag.has(tag)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
    }
  }
  return counts;
}

/** For some further items used, the test whether one more leaves every component within the kernel's limit. */
type ComponentGuard = (chosen: readonly number[]) => (item: number) => boolean;

function componentGuard(model: CompiledModel, used: readonly number[]): ComponentGuard {
  const limit = model.kernel.maximumComponentKcs;
  const admitsIn =
    ({ componentOf, sizes }: Components) =>
    (item: number): boolean => {
      const kcs = model.itemKcs[item] ?? [];
      // An item with one KC ties nothing together.
      if (kcs.length < 2) return true;
      let size = 0;
      for (let i = 0; i < kcs.length; i += 1) {
        const component = componentOf[kcs[i] ?? -1] ?? -1;
        if (component < 0) {
          size += 1;
          continue;
        }
        let counted = false;
        for (let before = 0; before < i; before += 1)
          counted ||= componentOf[kcs[before] ?? -1] === component;
        if (!counted) size += sizes[component] ?? 0;
      }
      return size <= limit;
    };
  const base = admitsIn(components(model, used));
  return (chosen) => (chosen.length === 0 ? base : admitsIn(components(model, [...used, ...chosen])));
}

/** Connected components of some items' KC graph; a component is named by one of its KCs, -1 stands for none. */
interface Components {
  readonly componentOf: Int32Array;
  readonly sizes: Int32Array;
}

function components(model: CompiledModel, items: readonly number[]): Components {
  const componentOf = new Int32Array(model.kcGuids.length).fill(-1);
  const sizes = new Int32Array(model.kcGuids.length);
  const membersOf = new Map<number, readonly number[]>();
  for (const item of items) {
    const kcs = model.itemKcs[item] ?? [];
    const merged = new Set<number>();
    for (const kc of kcs) {
      const component = componentOf[kc] ?? -1;
      for (const member of component < 0 ? [kc] : (membersOf.get(component) ?? [])) merged.add(member);
    }
    const [name = -1] = merged;
    for (const kc of merged) componentOf[kc] = name;
    membersOf.set(name, [...merged]);
    sizes[name] = merged.size;
  }
  return { componentOf, sizes };
}

interface CoverageTest {
  /** Whether the item serves a minimum that is not met yet. */
  readonly serves: (item: number) => boolean;
  /** Whether, with this item next, as many minima can still be met as without it. */
  readonly admits: (item: number) => boolean;
}

/**
 * Reachability: of the minima that are not met, the largest number that the pool can still meet together in the slots left is planned, and
 * an item is admitted when those can still be met after it. Minima that are out of reach restrict nothing.
 */
function coverageTest(
  context: SelectionContext,
  counts: ReadonlyMap<string, number>,
  guard: ComponentGuard,
  candidates: Uint8Array,
  slots: number,
): CoverageTest {
  const open = openMinima(context.constraints, counts);
  if (open.length === 0) return { serves: () => false, admits: () => true };
  const servesOf = new Map<number, number[]>();
  open.forEach(({ guid }, r) => {
    for (const item of context.itemsByTag.get(guid) ?? []) {
      if (candidates[item] !== 1) continue;
      const list = servesOf.get(item);
      if (list === undefined) servesOf.set(item, [r]);
      else list.push(r);
    }
  });
  const servers: CoverageItem[][] = open.map(() => []);
  for (const [item, serves] of [...servesOf].sort(([a], [b]) => a - b)) {
    const entry = { item, serves, key: interchangeKey(context, item, serves) };
    for (const r of serves) servers[r]?.push(entry);
  }
  const compatibleWith = compatibility(context, counts, guard);
  const problem: CoverageProblem = { needs: open.map(({ need }) => need), servers, compatibleWith };
  const plan = planCoverage(problem, slots, { left: PLAN_BUDGET });
  const planned = new Set(plan.items);
  const fitsPlan = compatibleWith(plan.items);
  const budget: SearchBudget = { left: CHECK_BUDGET };
  const verdicts = new Map<string, boolean>();
  let spare: boolean | undefined;

  const afterwards = (item: number, serves: readonly number[]): boolean => {
    const rest: CoverageProblem = {
      needs: problem.needs.map((need, r) => (serves.includes(r) ? need - 1 : need)),
      servers: problem.servers.map((list, r) =>
        serves.includes(r) ? list.filter((other) => other.item !== item) : list,
      ),
      compatibleWith: (chosen) => compatibleWith([item, ...chosen]),
    };
    const wanted = plan.met.filter((r) => (rest.needs[r] ?? 0) > 0);
    return canCover(rest, wanted, slots - 1, budget);
  };
  const admits = (item: number): boolean => {
    if (planned.has(item)) return true;
    // The plan stays as it is when there is room for one item more and that one disturbs none of it.
    if (plan.items.length < slots && fitsPlan(item)) return true;
    const serves = servesOf.get(item) ?? [];
    if (!serves.some((r) => plan.met.includes(r))) {
      // It takes a slot and gives nothing: there must be a plan for one slot less, whatever the item.
      spare ??= plan.items.length < slots || canCover(problem, plan.met, slots - 1, budget);
      if (!spare) return false;
    }
    if (budget.left <= 0) return false;
    const key = interchangeKey(context, item, serves);
    let verdict = verdicts.get(key);
    if (verdict === undefined) {
      verdict = afterwards(item, serves);
      verdicts.set(key, verdict);
    }
    return verdict;
  };
  return { serves: (item) => servesOf.has(item), admits };
}

/** Minima that are not met, the highest for each GUID and whatever lower ones it has beside it. */
function openMinima(
  { minima }: Constraints,
  counts: ReadonlyMap<string, number>,
): { readonly guid: string; readonly need: number }[] {
  return minima
    .map(({ guid, items }) => ({ guid, need: items - (counts.get(guid) ?? 0) }))
    .filter(({ need }) => need > 0);
}

/** Items with equal keys serve and disturb the same: the same open minima, maxima and KC set, and no enemies. */
function interchangeKey(context: SelectionContext, item: number, serves: readonly number[]): string {
  if (context.enemySetsOf.has(item)) return `item ${item}`;
  const limited = (context.members[item]?.tags ?? []).filter((tag) => context.maximumByTag.has(tag)).sort();
  const kcs = [...(context.model.itemKcs[item] ?? [])].sort((a, b) => a - b);
  return JSON.stringify([serves, limited, kcs]);
}

/** Whether an item may be used after the run's own and some planned ones: no enemies, maxima kept, components small enough. */
function compatibility(
  context: SelectionContext,
  counts: ReadonlyMap<string, number>,
  guard: ComponentGuard,
): (chosen: readonly number[]) => (item: number) => boolean {
  return (chosen) => {
    const planned = tagCounts(context, chosen);
    const hostile = new Set(chosen.flatMap((item) => context.enemySetsOf.get(item) ?? []));
    const admits = guard(chosen);
    return (item) => {
      if (context.enemySetsOf.get(item)?.some((set) => hostile.has(set)) === true) return false;
      for (const tag of context.members[item]?.tags ?? []) {
        const maximum = context.maximumByTag.get(tag);
        if (maximum !== undefined && (counts.get(tag) ?? 0) + (planned.get(tag) ?? 0) >= maximum)
          return false;
      }
      return admits(item);
    };
  };
}

interface Ranked {
  readonly item: number;
  readonly gain: number;
}

/**
 * Eligible items from the highest rounded gain down, ties by SHA-256 of seed and artifact version id, then by id. The first `wanted` cost
 * one pass; only a caller who goes on past them pays for working out and sorting everything.
 */
function* inOrderOfGain(
  context: SelectionContext,
  estimate: Estimate,
  eligible: Uint8Array,
  runSeed: string,
  wanted: number,
): Generator<Ranked> {
  const gains = new Float64Array(eligible.length);
  let yielded = 0;
  for (const keep of [wanted, Infinity]) {
    context.model.core.informationGains(estimate, eligible, gains, keep);
    const order: number[] = [];
    for (let item = 0; item < eligible.length; item += 1) {
      if (eligible[item] === 1 && !Number.isNaN(gains[item])) order.push(item);
    }
    // Certain are the places down to the last one kept, with all that rounding makes equal to it; the rest waits for the second pass.
    const lowest = order.length > keep ? kthHighest(order, gains, keep) : -Infinity;
    const lowestRounded = roundGain(lowest);
    const ranked = order
      .filter((item) => (gains[item] ?? 0) >= lowest - 1e-10)
      .map((item) => ({ item, gain: roundGain(gains[item] ?? 0) }))
      .filter(({ gain }) => gain >= lowestRounded);
    for (const candidate of rank(context, ranked, runSeed).slice(yielded)) yield candidate;
    yielded = ranked.length;
  }
}

function roundGain(gain: number): number {
  return Number.isFinite(gain) ? roundSignificant(gain, GAIN_DIGITS) : gain;
}

/** The k-th highest gain of the items, of which there are at least k. */
function kthHighest(items: readonly number[], gains: Float64Array, k: number): number {
  const best = new Float64Array(k).fill(-Infinity);
  for (const item of items) {
    const gain = gains[item] ?? 0;
    if (gain <= (best[0] ?? 0)) continue;
    let i = 1;
    for (; i < k && (best[i] ?? 0) < gain; i += 1) best[i - 1] = best[i] ?? 0;
    best[i - 1] = gain;
  }
  return best[0] ?? -Infinity;
}

/** Sorts by rounded gain; hashes are made only for items that tie. */
function rank(context: SelectionContext, items: readonly Ranked[], runSeed: string): Ranked[] {
  const hashes = new Map<number, string>();
  const idOf = (item: number): string => context.members[item]?.artifactVersionId ?? '';
  const hashOf = (item: number): string => {
    const known = hashes.get(item);
    if (known !== undefined) return known;
    const hash = sha256Hex(runSeed + idOf(item));
    hashes.set(item, hash);
    return hash;
  };
  return [...items].sort(
    (a, b) =>
      b.gain - a.gain ||
      compareText(hashOf(a.item), hashOf(b.item)) ||
      compareText(idOf(a.item), idOf(b.item)),
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** A number below `size` from the run's own stream: 48 bits of SHA-256 over purpose, seed and sequence. */
function draw(run: RunPosition, size: number): number {
  const hash = sha256Hex(`randomesque|${run.runSeed}|${run.sequence}`);
  return parseInt(hash.slice(0, 12), 16) % size;
}
