import { cover, planCoverage } from './coverage.ts';
import type { CoverageProblem, SearchBudget, Service } from './coverage.ts';
import { membershipOf, usageOf } from './side-conditions.ts';
import type { SideConditions } from './side-conditions.ts';

/** Item visits that one selection may spend on coverage. */
const PLAN_BUDGET = 30_000;
const CHECK_BUDGET = 30_000;

/** The minima of a policy, laid out by model item. */
export interface Requirements {
  readonly service: Service;
  /** How many items each requirement wants in the whole run. */
  readonly wanted: Int32Array;
  /** For each requirement, the pool's items that serve it, ascending. */
  readonly servers: readonly Int32Array[];
}

/**
 * Lays requirements out. Items are model indices.
 * @param minima items that share a tag, and how many of them are wanted
 */
export function requirementsOf(
  conditions: SideConditions,
  minima: readonly { readonly items: readonly number[]; readonly wanted: number }[],
): Requirements {
  const signatureNumber = numbering();
  const signatures: (readonly number[])[] = [];
  const signatureOf = Int32Array.from(
    membershipOf(
      conditions.kcs.length,
      minima.map(({ items }) => items),
    ),
    (serves) => {
      const signature = signatureNumber(serves.join());
      signatures[signature] = serves;
      return signature;
    },
  );
  return {
    service: {
      signatureOf,
      signatures,
      signaturesWith: membershipOf(minima.length, signatures),
      classOf: classes(conditions, signatureOf),
    },
    wanted: Int32Array.from(minima, ({ wanted }) => wanted),
    servers: minima.map(({ items }) => Int32Array.from(items).sort()),
  };
}

/** Numbers texts from 0, equal ones alike. */
function numbering(): (text: string) => number {
  const numbers = new Map<string, number>();
  return (text) => {
    const known = numbers.get(text) ?? numbers.size;
    numbers.set(text, known);
    return known;
  };
}

/** Items of one class serve the same minima, count against the same maxima and tie the same KCs together, and have no enemies. */
function classes(conditions: SideConditions, signatureOf: Int32Array): Service['classOf'] {
  const number = numbering();
  const known = new Int32Array(signatureOf.length).fill(-1);
  const keyOf = (item: number): string => {
    const { [item]: enemySets = [] } = conditions.enemySets;
    if (enemySets.length > 0) return `item ${item}`;
    const { [item]: kcs = [] } = conditions.kcs;
    // Which KC a single-KC item has makes no difference: it ties nothing together.
    const tied = kcs.length < 2 ? '' : kcs.toSorted((a, b) => a - b).join();
    return [signatureOf[item], conditions.capped[item]?.join(), tied].join(' ');
  };
  return (item) => {
    const before = known[item] ?? -1;
    if (before >= 0) return before;
    const found = number(keyOf(item));
    known[item] = found;
    return found;
  };
}

export interface Reachability {
  /** Whether every minimum that can still be met is met. */
  readonly isMet: boolean;
  /** Whether the item serves a minimum that is not met yet. */
  readonly serves: (item: number) => boolean;
  /** Whether, with this item next, as many minima can still be met as without it. */
  readonly admits: (item: number) => boolean;
  /** Writes 0 for items of which it is known by now, at no further cost, that they are not admitted. */
  readonly ruleOut: (items: Uint8Array) => void;
}

const UNRESTRICTED: Reachability = {
  isMet: true,
  serves: () => false,
  admits: () => true,
  ruleOut: () => undefined,
};

/**
 * Of the minima that are not met, the largest number that the pool can still meet together in the slots left is planned, and an item is
 * admitted when those can still be met after it. Minima that are out of reach restrict nothing.
 * @param candidates 1 for items that may be used next
 */
export function reachability(
  requirements: Requirements,
  conditions: SideConditions,
  used: readonly number[],
  candidates: Uint8Array,
  slots: number,
): Reachability {
  const { service } = requirements;
  const needs = needsAfter(requirements, used);
  if (needs.every((need) => need <= 0)) return UNRESTRICTED;
  /** The first open minimum of each signature, -1 for none. */
  const firstOpen = firstOpenOf(service, needs);
  const problem = coverageProblem(requirements, conditions, needs, used, candidates);

  const planned = planCoverage(problem, slots, { left: PLAN_BUDGET });
  const isPlanned = new Uint8Array(needs.length);
  for (const r of planned.met) isPlanned[r] = 1;
  /** 1 for each signature that serves a planned minimum. */
  const useful = Uint8Array.from(service.signatures, (list) => Number(list.some((r) => isPlanned[r] === 1)));
  let plan = witness(service, conditions, needs, used, planned.items);
  const budget: SearchBudget = { left: CHECK_BUDGET };
  const verdicts = new Map<number, boolean>();
  const servesPlanned = (item: number): boolean => useful[service.signatureOf[item] ?? 0] === 1;
  /** Whether the plan could do with one slot less; known once an item that serves nothing has asked. */
  let spare: boolean | undefined;
  const findSpare = (): boolean => {
    if (plan.items.length < slots) return true;
    const shorter = cover(problem, planned.met, slots - 1, budget);
    if (shorter !== undefined) plan = witness(service, conditions, needs, used, shorter);
    return shorter !== undefined;
  };
  /** Whether the plan, with this item for one of its own, would still meet everything. */
  const replaces = (item: number): boolean =>
    plan.items.some(
      (other) =>
        servesOf(service, other).every(
          (r) => isPlanned[r] !== 1 || (plan.surplus[r] ?? 0) > 0 || servesOf(service, item).includes(r),
        ) && plan.usage.fitsInPlaceOf(item, other),
    );
  const afterwards = (item: number): boolean => {
    const rest = { ...problem, needs: needs.slice() };
    lower(service, rest.needs, item);
    problem.usage.add(item);
    problem.barred[item] = 1;
    const items = cover(
      rest,
      planned.met.filter((r) => (rest.needs[r] ?? 0) > 0),
      slots - 1,
      budget,
    );
    problem.barred[item] = 0;
    problem.usage.removeLast();
    return items !== undefined;
  };
  const admits = (item: number): boolean => {
    if (plan.items.includes(item)) return true;
    if (!servesPlanned(item)) {
      // It takes a slot and gives nothing: there must be a plan for one slot less, whatever the item.
      spare ??= findSpare();
      if (!spare) return false;
    }
    // The plan stays as it is when there is room for one item more and that one disturbs none of it.
    if (plan.items.length < slots && plan.usage.fits(item)) return true;
    if (replaces(item)) return true;
    const kind = service.classOf(item);
    let verdict = verdicts.get(kind);
    if (verdict === undefined) {
      if (budget.left <= 0) return false;
      verdict = afterwards(item);
      verdicts.set(kind, verdict);
    }
    return verdict;
  };
  const ruleOut = (items: Uint8Array): void => {
    if (spare !== false) return;
    for (let item = 0; item < items.length; item += 1) if (!servesPlanned(item)) items[item] = 0;
  };
  return {
    isMet: planned.met.length === 0,
    serves: (item) => (firstOpen[service.signatureOf[item] ?? 0] ?? -1) >= 0,
    admits,
    ruleOut,
  };
}

/** How many further items each minimum needs once these are used; not above 0 for one that is met. */
export function needsAfter({ service, wanted }: Requirements, used: readonly number[]): Int32Array {
  const needs = wanted.slice();
  for (const item of new Set(used)) lower(service, needs, item);
  return needs;
}

/** The first open minimum of each signature, -1 for none. */
function firstOpenOf({ signatures }: Service, needs: Int32Array): Int32Array {
  return Int32Array.from(signatures, (list) => list.find((r) => (needs[r] ?? 0) > 0) ?? -1);
}

/**
 * The open minima as the search sees them.
 * @param candidates 1 for items that may be used next
 */
export function coverageProblem(
  { service, servers }: Requirements,
  conditions: SideConditions,
  needs: Int32Array,
  used: readonly number[],
  candidates: Uint8Array,
): CoverageProblem {
  const firstOpen = firstOpenOf(service, needs);
  const supply = new Int32Array(service.signatures.length);
  return {
    service,
    needs,
    servers: servers.map((list, r) => {
      if ((needs[r] ?? 0) <= 0) return list.subarray(0, 0);
      const open = list.filter((item) => candidates[item] === 1);
      for (const item of open) {
        const signature = service.signatureOf[item] ?? 0;
        // An item with several is counted where it is met first.
        if (firstOpen[signature] === r) supply[signature] = (supply[signature] ?? 0) + 1;
      }
      return open;
    }),
    supply,
    usage: usageOf(conditions, used),
    barred: new Uint8Array(candidates.length),
  };
}

/** A plan with what it uses, and how far it goes beyond each need. */
interface Witness {
  readonly items: readonly number[];
  readonly usage: ReturnType<typeof usageOf>;
  readonly surplus: Int32Array;
}

function witness(
  service: Service,
  conditions: SideConditions,
  needs: Int32Array,
  used: readonly number[],
  items: readonly number[],
): Witness {
  const surplus = needs.map((need) => -need);
  for (const item of items) for (const r of servesOf(service, item)) surplus[r] = (surplus[r] ?? 0) + 1;
  return { items, usage: usageOf(conditions, [...used, ...items]), surplus };
}

/** Counts an item against the needs. */
function lower(service: Service, needs: Int32Array, item: number): void {
  for (const r of servesOf(service, item)) needs[r] = (needs[r] ?? 0) - 1;
}

function servesOf({ signatureOf, signatures }: Service, item: number): readonly number[] {
  return signatures[signatureOf[item] ?? -1] ?? [];
}
