import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { coverageStateOf } from './coverage.ts';
import type { ClassificationRule } from './classification.ts';
import { decisionGains, decisionModel, expectedSettled, type DecisionItem } from './decision-gains.ts';
import type { DecisionModel } from './decision-gains.ts';
import type { CompiledModel } from './model.ts';
import { progressiveChances, randomesque, sympsonHetter, type Exposure } from './exposure.ts';
import { bar, fits, rulesOf, usageOf, type Quota, type Rules, type Usage } from './kinds.ts';
import { byGain, roundGain, type Ranked } from './ranking.ts';
import { reachability, type Reachability } from './reachability.ts';
import type { StopCause } from './stopping.ts';
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

/** What a policy allows and demands. It names items by QTI identifier, and coverage by the CASE GUID of a KC or a standard. */
export interface Constraints {
  /** KC indices that the run reports on. */
  readonly scope: readonly number[];
  readonly maxItems: number;
  readonly requiredAccessibility?: readonly string[] | undefined;
  readonly enemySets?: readonly (readonly string[])[] | undefined;
  readonly excludedItems?: readonly string[] | undefined;
  /** Coverage floors and content minima; a GUID may occur more than once. */
  readonly minima: readonly { readonly guid: string; readonly items: number }[];
  readonly maxima: readonly { readonly guid: string; readonly items: number }[];
  /** Under `slots` the minima come from the blueprint too. */
  readonly blueprintCoverage?: 'slots' | 'none' | undefined;
  /** How to treat items that the learner met in earlier runs; default: like any other. */
  readonly priorUse?: 'allow' | 'avoid' | 'exclude' | undefined;
  /** What an item's gain refers to, and which items come first; default: the whole latent state, and none. */
  readonly selectionTarget?:
    | 'latent_state'
    | 'unsettled_components'
    | 'unsettled_and_unmeasured'
    | 'settling_look_ahead'
    | undefined;
  /** Bits for each of an item's KCs in scope without a scored item, for `unsettled_and_unmeasured` and `settling_look_ahead`; absent: 0. */
  readonly unmeasuredCredit?: number | undefined;
  /** Bits for each of an item's own unsettled KCs that its answer is expected to settle, for `settling_look_ahead`; absent: 0. */
  readonly settlingCredit?: number | undefined;
  /** How chance keeps the best items from being offered to every learner; absent: the best item is offered. */
  readonly exposure?: Exposure | undefined;
  /** Bits. An item with less gain is not offered once every minimum is met and every KC in scope that can be measured has been. */
  readonly minimumGain?: number | undefined;
  /** Bits. Under the same conditions, the run ends if no item has that much gain on its own unsettled KCs. */
  readonly minimumDecisionGain?: number | undefined;
}

/** The position of a run. */
export interface RunPosition {
  /** Model indices of the items offered so far. */
  readonly used: readonly number[];
  readonly runSeed: string;
  /** Sequence number of the offer to come, from 1. */
  readonly sequence: number;
  /** Model indices of the items that the learner met in earlier runs. */
  readonly met: readonly number[];
  /** In-scope KCs (model indices) that are not classified yet. */
  readonly unsettled: readonly number[];
  /** The rule by which they are not. */
  readonly rule: ClassificationRule;
}

/** The item to offer, or why there is none. */
export type Selection = Ranked | StopCause;

/** How many more gains are computed when the first ones are refused. */
const SECOND_LOOK = 32;

/** How many gains are computed first for items that pass by their own probability. */
const PASSING_LOOK = 8;

/** How many of the highest gains are computed first where chance takes part in the choice. */
const CHANCE_LOOK = 32;

/** How many of the best items `settling_look_ahead` looks ahead from. */
const LOOK_AHEAD = 16;

/** Items whose weight may be this far below the best are examined too: far more than rounding to 12 digits can change. */
const MARGIN = 1e-9;

/** A pool under a policy, prepared once and used for each selection from it. */
export interface SelectionContext {
  readonly model: CompiledModel;
  readonly constraints: Constraints;
  /** Pool member of each model item. */
  readonly members: readonly (PoolItem | undefined)[];
  /** 1 for each item that no rule of the policy excludes permanently. */
  readonly admitted: Uint8Array;
  /** Admitted items that measure no in-scope KC. */
  readonly outOfScope: Int32Array;
  /** The limits are the maxima, in their order, followed by the enemy sets; one item of each enemy set may be used. */
  readonly rules: Rules;
  /** For `unsettled_components`, `settling_look_ahead` and `minimumDecisionGain` only. */
  readonly decision: DecisionModel | undefined;
  /** For `unmeasuredCredit`: the items of each KC of the model. */
  readonly itemsOfKcs: readonly (readonly number[])[];
  /** Buffer for the gains of one selection. */
  readonly gains: Float64Array;
  /** Counted nanoseconds (`COST`), no clock: `total` of all selections so far, `tables` for the tables of tied KCs in one ranking. */
  readonly cost: { total: number; readonly tables: number };
}

/**
 * Nanoseconds on one core (docs/score-recovery.md has the measurements): for each pass over an item of the pool, for an item whose gain is computed,
 * for a number of a table, for an item whose hash decides, for a look at a kind of items, and for a KC of an item that is looked ahead from.
 */
const COST = { item: 50, gain: 350, tableNumber: 4, hash: 3800, look: 31, settling: 2000 };

/** The highest `keep` for which the kernel skips items. */
const MOST_KEPT = 64;

/** Prepares a pool. Ignores enemy sets and exclusions that name items outside it: those cannot be offered anyway. */
export function prepareSelection(
  model: CompiledModel,
  pool: readonly PoolItem[],
  constraints: Constraints,
): SelectionContext {
  const { requiredAccessibility = [], excludedItems, enemySets = [] } = constraints;
  const members: (PoolItem | undefined)[] = model.itemIds.map(() => undefined);
  const admitted = new Uint8Array(model.itemIds.length);
  const outOfScope: number[] = [];
  const scope = new Set(constraints.scope);
  const excluded = new Set(excludedItems);
  const itemsByTag = new Map<string, number[]>();
  for (const { guid } of [...constraints.minima, ...constraints.maxima]) itemsByTag.set(guid, []);
  for (const member of pool) {
    const { item } = member;
    members[item] = member;
    const accessible = requiredAccessibility.every((tag) => member.accessibility.includes(tag));
    if (accessible && !excluded.has(member.qtiIdentifier)) {
      admitted[item] = 1;
      if (model.itemKcs[item]?.some((kc) => scope.has(kc)) !== true) outOfScope.push(item);
    }
    for (const tag of new Set(member.tags)) itemsByTag.get(tag)?.push(item);
  }
  const byIdentifier = new Map(pool.map((member) => [member.qtiIdentifier, member.item]));
  const quota = ({ guid, items }: Constraints['minima'][number]): Quota => ({
    items: itemsByTag.get(guid) ?? [],
    count: items,
  });
  const enemies = enemySets.map((set): Quota => ({
    items: set.flatMap((name) => byIdentifier.get(name) ?? []),
    count: 1,
  }));
  const rules = rulesOf(model, constraints.minima.map(quota), [...constraints.maxima.map(quota), ...enemies]);
  const tables = new Map(rules.kinds.map(({ tied }) => [tied.join(' '), 1 << tied.length]));
  const nodes = model.core.knownTheta([]).length;
  const itemsOfKcs = model.kcGuids.map((): number[] => []);
  model.itemKcs.forEach((kcs, item) => {
    for (const kc of kcs) itemsOfKcs[kc]?.push(item);
  });
  return {
    model,
    constraints,
    members,
    admitted,
    outOfScope: Int32Array.from(outOfScope),
    rules,
    decision:
      constraints.selectionTarget === 'unsettled_components' ||
      constraints.selectionTarget === 'settling_look_ahead' ||
      constraints.minimumDecisionGain !== undefined
        ? decisionModel(model)
        : undefined,
    itemsOfKcs,
    gains: new Float64Array(model.itemIds.length),
    cost: {
      total: 0,
      tables: COST.tableNumber * nodes * [...tables.values()].reduce((sum, size) => sum + size, 0),
    },
  };
}

/**
 * Returns the next item, in this order: hard filters, component guard, reachability of coverage, items not met before (if the policy avoids the
 * others and one remains), the policy's least gains, information gain rounded to 12 significant digits, exposure control if the policy asks for one,
 * SHA-256 of seed and artifact version id, artifact version id. The gain refers to the whole latent state. As long as an item measures an unsettled
 * KC, such items come first under the other targets: by the gain on their own unsettled KCs under `unsettled_components`, by the gain on the whole
 * state and the credit for unmeasured KCs under `unsettled_and_unmeasured`; under `settling_look_ahead` by the same sum, to which a credit is added
 * for what the answers to the best are expected to settle. An item that measures no in-scope KC is offered only while it serves an unmet minimum.
 */
export function selectItem(context: SelectionContext, estimate: Estimate, run: RunPosition): Selection {
  const { constraints, rules, admitted } = context;
  const slots = constraints.maxItems - run.used.length;
  if (slots <= 0) return 'max_items';
  const usage = usageOf(rules, run.used);
  const barred = constraints.priorUse === 'exclude' ? [...run.used, ...run.met] : run.used;
  const eligible = without(admitted, barred);
  bar(rules, usage, eligible);
  const coverage = reachability(rules, coverageStateOf(rules, usage, eligible, slots));
  const choice = { context, estimate, run, coverage };
  for (const item of context.outOfScope) if (!coverage.serves(item)) eligible[item] = 0;
  const selection =
    keepWorthwhile(choice, eligible) ?? bestUnmet(choice, eligible) ?? exhaustionCause(context, run);
  context.cost.total += COST.item * eligible.length + COST.look * coverage.looks();
  return selection;
}

/** Adds the cost of one ranking of the pool. Up to `MOST_KEPT` kept gains, the kernel computes few gains; beyond it, all. */
function countRanking({ cost, gains }: SelectionContext, keep: number): void {
  cost.total += cost.tables + (keep > MOST_KEPT ? COST.gain : COST.item) * gains.length;
}

/** The inputs of one choice. */
interface Choice {
  readonly context: SelectionContext;
  readonly estimate: Estimate;
  readonly run: RunPosition;
  readonly coverage: Reachability;
}

/** Returns a copy of a set of items without these. */
function without(items: Uint8Array, barred: readonly number[]): Uint8Array {
  const rest = items.slice();
  for (const item of barred) rest[item] = 0;
  return rest;
}

/** Returns the best item that the learner has not met; among all items if the policy does not ask for that, or if none of those is admitted. */
function bestUnmet(choice: Choice, eligible: Uint8Array): Ranked | undefined {
  const avoidsMet = choice.context.constraints.priorUse === 'avoid';
  const best = avoidsMet ? bestOnTarget(choice, without(eligible, choice.run.met)) : undefined;
  return best ?? bestOnTarget(choice, eligible);
}

/**
 * Applies the policy's least gains: removes the items whose gain on the whole state is below `minimumGain`, and looks for one whose gain on its own
 * unsettled KCs reaches `minimumDecisionGain`. It does neither while an open minimum can still be met, or while an eligible item measures a KC in
 * scope that no scored item has measured: such a KC could never be classified, and one answer classifies it if its posterior is clear already,
 * however little information the answer has.
 * @returns the cause of the run's end if no item is left that is worth offering
 */
function keepWorthwhile(
  { context, estimate, run, coverage }: Choice,
  eligible: Uint8Array,
): StopCause | undefined {
  const { constraints, decision, model, gains } = context;
  const { minimumGain, minimumDecisionGain } = constraints;
  if ((minimumGain ?? minimumDecisionGain) === undefined) return undefined;
  if (!coverage.isMet || !eligible.includes(1)) return undefined;
  const unmeasured = unmeasuredKcs(context, run);
  if (
    eligible.some((is, item) => is === 1 && model.itemKcs[item]?.some((kc) => unmeasured[kc] === 1) === true)
  )
    return undefined;
  // Once every minimum is met, each eligible item is admitted: items already met leave first, as long as another one remains.
  if (constraints.priorUse === 'avoid') {
    const unmet = without(eligible, run.met);
    if (unmet.includes(1)) eligible.set(unmet);
  }
  if (minimumGain !== undefined) {
    model.core.informationGains(estimate, eligible, gains, Infinity);
    countRanking(context, Infinity);
    for (let item = 0; item < eligible.length; item += 1)
      if (roundGain(gains[item] ?? NaN) < minimumGain) eligible[item] = 0;
    if (!eligible.includes(1)) return 'no_informative_item';
  }
  if (minimumDecisionGain !== undefined && decision !== undefined) {
    decisionGains(decision, estimate, flagsOf(model, run.unsettled), eligible, gains, 1);
    countRanking(context, Infinity);
    const highest = gains.reduce((most, gain) => (gain > most ? gain : most), -Infinity);
    if (roundGain(highest) < minimumDecisionGain) return 'no_deciding_item';
  }
  return undefined;
}

/** Returns the rule that prevents any further offer. */
function exhaustionCause({ admitted, constraints, rules }: SelectionContext, run: RunPosition): StopCause {
  const usage = usageOf(rules, run.used);
  const unused = without(admitted, run.used);
  const leaves = (rest: Usage): boolean =>
    rules.kinds.some((kind) => fits(rest, kind) && kind.items.some((item) => unused[item] === 1));
  const unlimited = { ...usage, componentLimit: Infinity };
  const room = usage.room.map((left, limit) => (limit < constraints.maxima.length ? 1 : left));
  // The remaining items, which no rule bars, measure nothing in scope.
  if (leaves(usage) || !leaves({ ...unlimited, room })) return 'pool_exhausted';
  return leaves(unlimited) ? 'component_limit' : 'content_maxima';
}

/** Returns 1 for each KC of the model that is in scope and that no scored item has measured. */
function unmeasuredKcs({ constraints, model }: SelectionContext, { used }: RunPosition): Uint8Array {
  const unmeasured = flagsOf(model, constraints.scope);
  for (const item of used) for (const kc of model.itemKcs[item] ?? []) unmeasured[kc] = 0;
  return unmeasured;
}

/** Returns 1 for each of these KCs, 0 for the others of the model. */
function flagsOf({ kcGuids }: CompiledModel, kcs: readonly number[]): Uint8Array {
  const flags = new Uint8Array(kcGuids.length);
  for (const kc of kcs) flags[kc] = 1;
  return flags;
}

/** Returns the best of the items that the policy's target puts first; the best on the whole state if it puts none first, or if there is no such item. */
function bestOnTarget(choice: Choice, eligible: Uint8Array): Ranked | undefined {
  const first = rankOfTarget(choice);
  const looksAhead = choice.context.constraints.selectionTarget === 'settling_look_ahead';
  const best = first && chooseAdmitted(choice, eligible, first, looksAhead);
  return best ?? chooseAdmitted(choice, eligible, byWholeState(choice));
}

function rankOfTarget(choice: Choice): Rank | undefined {
  switch (choice.context.constraints.selectionTarget) {
    case undefined:
    case 'latent_state':
      return undefined;
    case 'unsettled_components':
      return byUnsettled(choice);
    case 'unsettled_and_unmeasured':
    case 'settling_look_ahead':
      return byCreditedGain(choice);
  }
}

function byWholeState({ context, estimate }: Choice): Rank {
  return (candidates, keep) => {
    countRanking(context, keep);
    context.model.core.informationGains(estimate, candidates, context.gains, keep);
    return true;
  };
}

/** Ranks the items that measure an unsettled KC by the gain on their own unsettled KCs. */
function byUnsettled({ context, estimate, run }: Choice): Rank | undefined {
  const { decision, gains, model } = context;
  if (decision === undefined) return undefined;
  const unsettled = flagsOf(model, run.unsettled);
  return (candidates, keep) => {
    countRanking(context, Infinity);
    return decisionGains(decision, estimate, unsettled, candidates, gains, keep);
  };
}

/**
 * Ranks the items that measure an unsettled KC by the gain on the whole state plus the credit for each of their unmeasured KCs. Among items with
 * the same number of unmeasured KCs, the order by gain is the order by this sum. So the kernel finds the highest of each number separately, and the
 * highest of all are among these.
 */
function byCreditedGain({ context, estimate, run }: Choice): Rank {
  const { constraints, gains, model, itemsOfKcs } = context;
  const { unmeasuredCredit = 0 } = constraints;
  const isFirst = new Uint8Array(gains.length);
  for (const kc of run.unsettled) for (const item of itemsOfKcs[kc] ?? []) isFirst[item] = 1;
  /** How many unmeasured KCs each item has. */
  const unmeasured = new Uint8Array(gains.length);
  unmeasuredKcs(context, run).forEach((is, kc) => {
    if (is === 1) for (const item of itemsOfKcs[kc] ?? []) unmeasured[item] = (unmeasured[item] ?? 0) + 1;
  });
  return (candidates, keep) => {
    /** The candidates of each number of unmeasured KCs. */
    const alike: Uint8Array[] = [];
    for (let item = 0; item < gains.length; item += 1)
      if (candidates[item] === 1 && isFirst[item] === 1)
        (alike[unmeasured[item] ?? 0] ??= new Uint8Array(gains.length))[item] = 1;
    const credited = new Float64Array(gains.length).fill(NaN);
    alike.forEach((items, number) => {
      model.core.informationGains(estimate, items, gains, keep);
      context.cost.total += COST.item * gains.length;
      for (let item = 0; item < gains.length; item += 1)
        if (!Number.isNaN(gains[item])) credited[item] = (gains[item] ?? NaN) + unmeasuredCredit * number;
    });
    countRanking(context, keep);
    gains.set(credited);
    return alike.length > 0;
  };
}

type Rank = (eligible: Uint8Array, keep: number) => boolean;

/**
 * Returns the best admitted item, or the one that exposure control puts in its place.
 * @param rank writes the gains of the eligible items, of which the `keep` highest are wanted, and returns whether there is any to rank
 * @param looksAhead whether the best admitted items are put in order by what their answers are expected to settle too
 */
function chooseAdmitted(
  choice: Choice,
  eligible: Uint8Array,
  rank: Rank,
  looksAhead = false,
): Ranked | undefined {
  const { context, run } = choice;
  const { exposure } = context.constraints;
  const ranked = (firstLook: number) =>
    (looksAhead ? inOrderAhead : admittedInOrder)(choice, eligible, rank, firstLook);
  switch (exposure?.method) {
    case undefined:
      return randomesque(ranked(1), 1, run);
    case 'randomesque':
      return randomesque(ranked(exposure.size), exposure.size, run);
    case 'progressive':
      return progressive(choice, eligible, rank, looksAhead);
    case 'sympson_hetter':
      return sympsonHetter(
        ranked(PASSING_LOOK),
        run.runSeed,
        (item) => exposure.probabilities.get(memberOf(context, item).qtiIdentifier),
        (item) => memberOf(context, item).artifactVersionId,
      );
  }
}

/**
 * Returns the admitted item with the highest (1 - s) R + s gain. The gain of an item outside the first look is at most the lowest gain inside. So it
 * computes the gains of only those whose draw could still make them the best. Those that it looks ahead from are all known before.
 */
function progressive(
  choice: Choice,
  eligible: Uint8Array,
  rank: Rank,
  looksAhead: boolean,
): Ranked | undefined {
  const { context, run, coverage } = choice;
  const { constraints, gains } = context;
  const ahead = looksAhead
    ? lookAhead(choice, admittedInOrder(choice, eligible.slice(), rank, LOOK_AHEAD))
    : [];
  if (!rank(eligible, CHANCE_LOOK)) return undefined;
  const known = gains.slice();
  for (const { item, sum } of ahead) known[item] = sum;
  const look = known.filter((gain) => !Number.isNaN(gain)).sort((a, b) => b - a);
  const share = run.used.length / constraints.maxItems;
  const chances = progressiveChances(known.length, share, look[0] ?? 0, run);
  const best = (): Ranked | undefined => {
    const weights = chances.map((chance, item) => chance + share * (known[item] ?? NaN));
    for (const tied of byGain(weights, (items) => inTieOrder(context, items, run.runSeed)))
      for (const candidate of tied) if (coverage.admits(candidate.item)) return candidate;
    return undefined;
  };
  const enough = (best()?.gain ?? -Infinity) - MARGIN - share * (look[CHANCE_LOOK - 1] ?? 0);
  const contenders = eligible.map((is, item) =>
    Number(is === 1 && Number.isNaN(known[item]) && (chances[item] ?? NaN) >= enough),
  );
  coverage.ruleOut(contenders);
  if (contenders.includes(1) && rank(contenders, Infinity))
    contenders.forEach((is, item) => {
      if (is === 1) known[item] = gains[item] ?? NaN;
    });
  const chosen = best();
  return chosen && { item: chosen.item, gain: roundGain(known[chosen.item] ?? NaN) };
}

/**
 * Yields the admitted items from the highest gain down. The first pass computes little more than `firstLook` gains. If the caller takes more items, a
 * second pass goes further among the rest, and only a third ranks all of them.
 */
function* admittedInOrder(
  { context, run, coverage }: Choice,
  eligible: Uint8Array,
  rank: Rank,
  firstLook: number,
): Generator<Ranked> {
  for (const keep of [firstLook, firstLook + SECOND_LOOK, Infinity]) {
    coverage.ruleOut(eligible);
    if (!rank(eligible, keep)) return;
    let asked = 0;
    for (const tied of byGain(context.gains, (items) => inTieOrder(context, items, run.runSeed))) {
      for (const candidate of tied) {
        asked += 1;
        eligible[candidate.item] = 0;
        if (coverage.admits(candidate.item)) yield candidate;
      }
      // The order below the last kept gain is not certain.
      if (asked >= keep) break;
    }
  }
}

/** Yields the admitted items from the best down: first those that it looks ahead from, by the sum with that credit, then the others as they are. */
function* inOrderAhead(
  choice: Choice,
  eligible: Uint8Array,
  rank: Rank,
  firstLook: number,
): Generator<Ranked> {
  const { context, run } = choice;
  const others = admittedInOrder(choice, eligible, rank, Math.max(firstLook, LOOK_AHEAD));
  const ahead = lookAhead(choice, others);
  const sums = Float64Array.from(ahead, ({ sum }) => sum);
  const inOrder = (places: readonly number[]): readonly number[] =>
    inTieOrder(
      context,
      // SAFETY: each sum is that of the item at its place.
      places.map((place) => (ahead[place] as LookedAhead).item),
      run.runSeed,
    );
  for (const tied of byGain(sums, inOrder)) yield* tied;
  yield* others;
}

interface LookedAhead {
  readonly item: number;
  readonly sum: number;
}

/**
 * Takes the first `LOOK_AHEAD` of the admitted items in the order of their gains.
 * @returns each of them with the sum of its gain, not rounded, and the credit for the own unsettled KCs that its answer is expected to settle
 */
function lookAhead({ context, estimate, run }: Choice, ranked: Generator<Ranked>): readonly LookedAhead[] {
  const { constraints, cost, decision, gains, model } = context;
  const { settlingCredit = 0 } = constraints;
  if (decision === undefined) return [];
  const best: DecisionItem[] = [];
  /** Noted as they come: the buffer changes when the order goes further down. */
  const exact: number[] = [];
  while (best.length < LOOK_AHEAD) {
    const next = ranked.next();
    if (next.done === true) break;
    const { item } = next.value;
    // SAFETY: the items are prepared in the order of the model.
    best.push(decision.items[item] as DecisionItem);
    exact.push(gains[item] ?? NaN);
  }
  const settled = expectedSettled(decision, estimate, flagsOf(model, run.unsettled), run.rule, best);
  return best.map(({ index, table, group }, place) => {
    cost.total += COST.settling * group.kcs.length + COST.tableNumber * decision.nodes * table.length;
    return { item: index, sum: (exact[place] ?? NaN) + settlingCredit * (settled[place] ?? NaN) };
  });
}

function memberOf({ members }: SelectionContext, item: number): PoolItem {
  // SAFETY: only items of the pool are eligible.
  return members[item] as PoolItem;
}

/** Sorts by SHA-256 of seed and artifact version id, then by id. */
function inTieOrder(context: SelectionContext, items: readonly number[], runSeed: string): readonly number[] {
  if (items.length === 1) return items;
  context.cost.total += COST.hash * items.length;
  return items
    .map((item) => {
      const id = memberOf(context, item).artifactVersionId;
      return { item, id, hash: sha256Hex(runSeed + id) };
    })
    .sort((a, b) => compareText(a.hash, b.hash) || compareText(a.id, b.id))
    .map(({ item }) => item);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
