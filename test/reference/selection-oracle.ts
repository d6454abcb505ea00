import fc from 'fast-check';
import { decisionGains, decisionModel, expectedSettled } from '#functions/mastery/engine/decision-gains.ts';
import type { Exposure } from '#functions/mastery/engine/exposure.ts';
import { compileModel } from '#functions/mastery/engine/model.ts';
import { prepareSelection } from '#functions/mastery/engine/selection.ts';
import type {
  Constraints,
  RunPosition,
  Selection,
  SelectionContext,
} from '#functions/mastery/engine/selection.ts';
import type { StopCause } from '#functions/mastery/engine/stopping.ts';
import type { Estimate, PriorBlock } from '#functions/mastery/engine/types.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { roundSignificant } from '#shared/kernel/numbers.ts';
import { exposureMethod, exposureMethods } from './exposure-methods.ts';

/**
 * Selection from the definitions of a policy's rules: all subsets of a small pool are judged by them, and from those that break none follows
 * which items may come next and which of these is to be taken. Nothing of the engine's filters, plans and orders is used; its gains are
 * (test/reference/decision-gains.property.test.ts and the oracle of the model prove those).
 */

const TAGS = ['s-0', 's-1', 's-2'];
const KCS = 14;
const MOST_COMPONENT_KCS = 12;
/** From how many of the best items a look-ahead is made. */
const LOOKED_AHEAD = 16;
/** One answer settles a KC now and then. */
export const RULE = { kcCutScore: 0.5, confidenceThreshold: 0.8, numericPrecision: 12 };
/** KC sets that reach the limit of a component in some combinations, and pass it in others. */
const KC_SETS = [
  ...[[0], [1, 2], [12], [11, 12], [0, 1, 2, 3, 4, 5, 6]],
  ...[
    [6, 7, 8, 9, 10, 11],
    [6, 7, 8, 9, 10, 11, 12],
    [11, 12, 13],
  ],
];

/** A number of items with a tag: a standard's or a KC's. */
export type Rule = Constraints['minima'][number];

export interface Case extends Constraints {
  readonly requiredAccessibility: readonly string[];
  readonly enemySets: readonly (readonly string[])[];
  readonly excludedItems: readonly string[];
  readonly items: readonly {
    readonly kcs: readonly number[];
    readonly tags: readonly string[];
    readonly high: number;
    readonly accessibility: readonly string[];
  }[];
  /** Items that the learner met in earlier runs. */
  readonly met: readonly number[];
  /** KCs of chains, for the kernel that takes blocks. */
  readonly blocks?: readonly (readonly number[])[];
}

const rule = (min: number, max: number): fc.Arbitrary<Rule> =>
  fc.record({
    guid: fc.constantFrom(...TAGS, ...TAGS, 'kc-0', 'kc-1', 'kc-12'),
    items: fc.integer({ min, max }),
  });

const exposures = (mostItems: number): fc.Arbitrary<Exposure> =>
  fc.oneof(...exposureMethods.map((method) => exposureMethod(method).arbitrary(mostItems)));

/** Pools under rules of every kind; `minima` are too much for pools of which not every subset can be looked at. */
export const caseOf = ({
  pool,
  run,
  minima = 5,
}: {
  readonly pool: number;
  readonly run: number;
  readonly minima?: number;
}): fc.Arbitrary<Case> =>
  fc.integer({ min: 1, max: pool }).chain((count) => {
    const item = fc.nat(count - 1);
    const identifiers = (maxLength: number) =>
      fc.uniqueArray(
        item.map((j) => `q-${j}`),
        { minLength: 1, maxLength },
      );
    return fc.record(
      {
        items: fc.array(
          fc.record({
            kcs: fc.constantFrom(...KC_SETS),
            tags: fc.subarray(TAGS),
            // Few values: equal gains must be told apart by hash. Many: what a first look leaves out comes next.
            high: fc.oneof(
              fc.constantFrom(0.7, 0.8, 0.9),
              fc.integer({ min: 600, max: 990 }).map((n) => n / 1000),
            ),
            accessibility: fc.constantFrom([], ['speech'], ['speech', 'braille'], ['speech', 'braille']),
          }),
          { minLength: count, maxLength: count },
        ),
        minima: fc.array(rule(0, 3), { maxLength: minima }),
        maxima: fc.array(rule(0, 2), { maxLength: 2 }),
        enemySets: fc.array(identifiers(3), { maxLength: 2 }),
        excludedItems: fc.oneof(fc.constant([]), identifiers(2)),
        requiredAccessibility: fc.constantFrom([], [], ['speech'], ['braille', 'speech']),
        scope: fc.oneof(
          fc.constant(Array.from({ length: KCS }, (_, k) => k)),
          fc.subarray([0, 1, 6, 12, 13], { minLength: 1 }),
        ),
        maxItems: fc.integer({ min: 1, max: run }),
        exposure: exposures(pool),
        blueprintCoverage: fc.constantFrom('slots' as const, 'none' as const),
        priorUse: fc.constantFrom('avoid' as const, 'exclude' as const),
        selectionTarget: fc.constantFrom(
          'unsettled_components' as const,
          'unsettled_and_unmeasured' as const,
          'settling_look_ahead' as const,
        ),
        unmeasuredCredit: fc.constantFrom(0.02, 0.1, 0.3, 1),
        settlingCredit: fc.constantFrom(0.05, 0.2, 1),
        minimumGain: fc.constantFrom(1e-3, 0.05, 0.1, 0.3),
        minimumDecisionGain: fc.constantFrom(1e-3, 0.05, 0.1, 0.3),
        met: fc.uniqueArray(item, { maxLength: count }),
      } satisfies { readonly [Key in keyof Omit<Required<Case>, 'blocks'>]: fc.Arbitrary<Case[Key]> },
      {
        requiredKeys: [
          ...(['items', 'minima', 'maxima', 'enemySets', 'excludedItems', 'requiredAccessibility'] as const),
          ...(['scope', 'maxItems', 'met'] as const),
        ],
      },
    );
  });

export function contextOf(value: Case): SelectionContext {
  const { blocks } = value;
  const chains = blocks?.map((chain): PriorBlock => {
    const kcs = chain.map((k) => `kc-${k}`);
    return { form: 'hierarchy', kcs, prerequisites: kcs.map((_, n) => kcs.slice(Math.max(0, n - 1), n)) };
  });
  const model = compileModel({
    theta: { nodes: 3, min: -1, max: 1, mean: 0, sd: 1 },
    kcs: Array.from({ length: KCS }, (_, k) => ({ guid: `kc-${k}`, slope: 1, location: (k - 7) / 10 })),
    items: value.items.map(({ kcs, high }, j) => ({
      artifactVersionId: `a-${j}`,
      kcs: kcs.map((k) => `kc-${k}`),
      probabilities: Array.from({ length: 2 ** kcs.length }, (_, s) =>
        s === 2 ** kcs.length - 1 ? high : 0.2,
      ),
    })),
    scale: [1, 2, 3],
    blocks: chains,
  });
  if (!model.ok) throw new Error(JSON.stringify(model.error));
  const pool = value.items.map(({ accessibility }, item) => ({
    item,
    artifactVersionId: `a-${item}`,
    qtiIdentifier: `q-${item}`,
    tags: tagsOf(value, item),
    accessibility,
  }));
  // A policy leaves out what it does not ask for.
  const given = <T>(list: readonly T[]) => (list.length === 0 ? undefined : list);
  return prepareSelection(model.value, pool, {
    ...value,
    excludedItems: given(value.excludedItems),
    requiredAccessibility: given(value.requiredAccessibility),
    enemySets: given(value.enemySets),
  });
}

export const tagsOf = ({ items }: Case, j: number): readonly string[] => [
  ...items[j]!.kcs.map((k) => `kc-${k}`),
  ...items[j]!.tags,
];
/** How many of a set of items have a tag. */
export const carrying = (value: Case, set: readonly number[], guid: string): number =>
  set.filter((j) => tagsOf(value, j).includes(guid)).length;

type Filter = 'length' | 'accessibility' | 'exclusion' | 'enemies' | 'maximum' | 'component';

/** The rules that a set of used items breaks, each from its definition. */
export function broken(value: Case, set: readonly number[]): readonly Filter[] {
  const named = set.map((j) => `q-${j}`);
  const rules: Readonly<Record<Filter, boolean>> = {
    length: set.length > value.maxItems,
    accessibility: set.some((j) =>
      value.requiredAccessibility.some((tag) => !value.items[j]!.accessibility.includes(tag)),
    ),
    exclusion: named.some((name) => value.excludedItems.includes(name)),
    enemies: value.enemySets.some((enemies) => named.filter((name) => enemies.includes(name)).length > 1),
    maximum: value.maxima.some(({ guid, items }) => carrying(value, set, guid) > items),
    component:
      largestComponent(
        set.map((j) => value.items[j]!.kcs),
        value.blocks,
      ) > MOST_COMPONENT_KCS,
  };
  // SAFETY: the keys of the table are the filters.
  return (Object.keys(rules) as Filter[]).filter((name) => rules[name]);
}

/** Measured KCs of the largest component, by spreading one label over whatever an item or a block ties together until nothing changes. */
export function largestComponent(sets: readonly (readonly number[])[], blocks: Case['blocks'] = []): number {
  const label = Array.from({ length: 1 + Math.max(...sets.flat(), ...blocks.flat()) }, (_, k) => k);
  for (let changed = true; changed;) {
    changed = false;
    for (const kcs of [...sets, ...blocks]) {
      const lowest = Math.min(...kcs.map((k) => label[k]!));
      for (const k of kcs) {
        if (label[k] === lowest) continue;
        label[k] = lowest;
        changed = true;
      }
    }
  }
  const touched = new Set(sets.flat());
  return Math.max(0, ...label.map((root) => label.filter((o, k) => o === root && touched.has(k)).length));
}

/** A set of items that breaks no rule, and which minima it meets, both as bits. */
export interface Sound {
  readonly set: number;
  readonly met: number;
}

export const holds = (bits: number, n: number): boolean => ((bits >> n) & 1) === 1;
export const within = (bits: number, others: number): boolean => (bits & ~others) === 0;
export const bitsOf = (items: readonly number[]): number => items.reduce((bits, j) => bits | (1 << j), 0);

const metBy = (value: Case, items: readonly number[]): number =>
  bitsOf(
    value.minima.flatMap(({ guid, items: wanted }, m) => (carrying(value, items, guid) >= wanted ? m : [])),
  );

/** Every set of the pool's items that breaks no rule. */
export function soundSets(value: Case): readonly Sound[] {
  const barred = value.priorUse === 'exclude' ? bitsOf(value.met) : 0;
  const sets: Sound[] = [];
  for (let set = 0; set < 2 ** value.items.length; set += 1) {
    const items = [...value.items.keys()].filter((j) => holds(set, j));
    if ((set & barred) === 0 && broken(value, items).length === 0)
      sets.push({ set, met: metBy(value, items) });
  }
  return sets;
}

/** Each minimum, in their order, that can be met together with those before it when these items are used: these must stay within reach. */
export function planOf(sound: readonly Sound[], used: readonly number[]): number {
  const reachable = sound.filter(({ set }) => within(bitsOf(used), set)).map(({ met }) => met);
  const any = reachable.reduce((bits, met) => bits | met, 0);
  let plan = 0;
  for (let bit = 1; bit <= any; bit *= 2) if (reachable.some((met) => within(plan | bit, met))) plan |= bit;
  return plan;
}

/** What the definitions say of one position of a run. */
interface Position {
  readonly context: SelectionContext;
  readonly posterior: Estimate;
  readonly run: RunPosition;
  /** Items that break no rule and measure something in scope, or serve a minimum that is open. */
  readonly eligible: readonly number[];
  /** Whether the planned minima stay within reach with this item next. */
  readonly admits: (item: number) => boolean;
  /** Whether no minimum that could still be met is open. */
  readonly isCovered: boolean;
}

/** @param sound undefined for a policy without minima */
export function selectionByDefinition(
  value: Case,
  context: SelectionContext,
  sound: readonly Sound[] | undefined,
  posterior: Estimate,
  run: RunPosition,
): Selection {
  if (run.used.length >= value.maxItems) return 'max_items';
  const { used } = run;
  const plan = sound === undefined ? 0 : planOf(sound, used);
  const barred = value.priorUse === 'exclude' ? [...used, ...value.met] : used;
  const serves = (j: number): boolean =>
    value.minima.some(
      ({ guid, items }) => carrying(value, used, guid) < items && tagsOf(value, j).includes(guid),
    );
  const eligible = [...value.items.keys()].filter(
    (j) =>
      !barred.includes(j) &&
      broken(value, [...used, j]).length === 0 &&
      (value.items[j]!.kcs.some((kc) => value.scope.includes(kc)) || serves(j)),
  );
  const isCovered = plan === metBy(value, used);
  const admits = (j: number): boolean =>
    sound?.some(({ set, met }) => within(bitsOf([...used, j]), set) && within(plan, met)) ?? true;
  return selectionOf(value, { context, posterior, run, eligible, admits, isCovered });
}

function selectionOf(value: Case, position: Position): Selection {
  const eligible = informative(value, position);
  if (eligible.length === 0 && position.eligible.length > 0) return 'no_informative_item';
  if (!decides(value, position, eligible)) return 'no_deciding_item';
  const whole = wholeGains(position);
  const ofTarget = targetGains(value, position, whole);
  const unmet = eligible.filter((j) => !value.met.includes(j));
  const tiers = value.priorUse === 'avoid' && value.met.length > 0 ? [unmet, eligible] : [eligible];
  for (const tier of tiers)
    for (const gains of [aheadOf(value, position, tier, ofTarget), whole]) {
      const best = exposed(value, position, tier, gains);
      if (best !== undefined) return best;
    }
  return causeOf(value, position.run.used);
}

/** The gains of the items that the policy's target puts first. */
function targetGains(value: Case, position: Position, whole: Float64Array): Float64Array {
  const { unsettled, used } = position.run;
  const { items, scope, unmeasuredCredit = 0 } = value;
  const measured = used.flatMap((j) => items[j]!.kcs);
  switch (value.selectionTarget) {
    case undefined:
    case 'latent_state':
      return whole.map(() => NaN);
    case 'unsettled_components':
      return gainsOnUnsettled(position);
    case 'unsettled_and_unmeasured':
    case 'settling_look_ahead':
      return whole.map((gain, j) => {
        const { kcs } = items[j]!;
        const unmeasured = kcs.filter((kc) => scope.includes(kc) && !measured.includes(kc));
        return kcs.some((kc) => unsettled.includes(kc)) ? gain + unmeasuredCredit * unmeasured.length : NaN;
      });
  }
}

/** The gains of the target, which the best admitted items' expected numbers of settled KCs raise under a look-ahead. */
function aheadOf(
  { selectionTarget, settlingCredit = 0 }: Case,
  position: Position,
  tier: readonly number[],
  gains: Float64Array,
): Float64Array {
  if (selectionTarget !== 'settling_look_ahead') return gains;
  const { context, posterior, run } = position;
  const decision = decisionModel(context.model);
  const best = inOrderOf(position, rankedOf(tier, gains), (j) => gains[j]!).slice(0, LOOKED_AHEAD);
  return gains.map((gain, j) => {
    if (!best.includes(j)) return gain;
    const [settled] = expectedSettled(decision, posterior, unsettledFlags(run), run.rule, [
      decision.items[j]!,
    ]);
    return gain + settlingCredit * settled!;
  });
}

const unsettledFlags = ({ unsettled }: RunPosition): Uint8Array =>
  Uint8Array.from({ length: KCS }, (_, kc) => Number(unsettled.includes(kc)));

function gainsOnUnsettled({ context: { model }, posterior, run }: Position): Float64Array {
  const gains = new Float64Array(model.itemIds.length);
  const all = new Uint8Array(gains.length).fill(1);
  decisionGains(decisionModel(model), posterior, unsettledFlags(run), all, gains, Infinity);
  return gains;
}

function wholeGains({ context: { model }, posterior }: Position): Float64Array {
  const gains = new Float64Array(model.itemIds.length);
  model.core.informationGains(posterior, new Uint8Array(gains.length).fill(1), gains, Infinity);
  return gains;
}

/**
 * The items that the policy's least gains are asked of: none while a minimum is open, or while one of them measures a KC in scope without a scored
 * item; under `avoid`, those not met before if there are any.
 */
function asked(
  { items, scope, priorUse, met }: Case,
  { eligible, isCovered, run }: Position,
): readonly number[] {
  const measured = run.used.flatMap((j) => items[j]!.kcs);
  const measuresNew = (j: number): boolean =>
    items[j]!.kcs.some((kc) => scope.includes(kc) && !measured.includes(kc));
  if (!isCovered || eligible.some(measuresNew)) return [];
  const unmet = eligible.filter((j) => !met.includes(j));
  return priorUse === 'avoid' && unmet.length > 0 ? unmet : eligible;
}

/** The eligible items that tell enough for the policy's minimum gain. */
function informative(value: Case, position: Position): readonly number[] {
  const { minimumGain } = value;
  const items = asked(value, position);
  if (minimumGain === undefined || items.length === 0) return position.eligible;
  const gains = wholeGains(position);
  return items.filter((j) => roundSignificant(gains[j]!, 12) >= minimumGain);
}

/** Whether one of the informative items tells enough about the KCs that are not classified yet, if the policy asks for that. */
function decides(value: Case, position: Position, informative: readonly number[]): boolean {
  const { minimumDecisionGain } = value;
  const items = asked(value, position);
  if (minimumDecisionGain === undefined || items.length === 0) return true;
  const gains = gainsOnUnsettled(position);
  return items.some((j) => informative.includes(j) && roundSignificant(gains[j]!, 12) >= minimumDecisionGain);
}

const rankedOf = (tier: readonly number[], gains: Float64Array): readonly number[] =>
  tier.filter((item) => !Number.isNaN(gains[item]));

/** The admitted ones of these items by weight to 12 digits, then by SHA-256 of seed and artifact version id. */
function inOrderOf(
  { run: { runSeed }, admits }: Position,
  items: readonly number[],
  weightOf: (item: number) => number,
): readonly number[] {
  return items
    .filter(admits)
    .map((item) => ({
      item,
      weight: roundSignificant(weightOf(item), 12),
      hash: sha256Hex(`${runSeed}a-${item}`),
    }))
    .sort((a, b) => b.weight - a.weight || (a.hash < b.hash ? -1 : 1))
    .map(({ item }) => item);
}

/** The item that exposure control takes of those that have a gain. */
function exposed(
  { exposure, maxItems }: Case,
  position: Position,
  tier: readonly number[],
  gains: Float64Array,
): Exclude<Selection, StopCause> | undefined {
  const { runSeed, used, sequence } = position.run;
  const ranked = rankedOf(tier, gains);
  const inOrder = (weightOf: (item: number) => number): readonly number[] =>
    inOrderOf(position, ranked, weightOf);
  const share = used.length / maxItems;
  const highest = Math.max(...ranked.map((item) => gains[item]!));
  const item =
    exposure === undefined
      ? inOrder((j) => gains[j]!)[0]
      : exposureMethod(exposure.method).take(exposure, { runSeed, sequence, share, gains, highest, inOrder });
  return item === undefined ? undefined : { item, gain: roundSignificant(gains[item]!, 12) };
}

/** The rule without which an item could be offered. */
function causeOf(value: Case, used: readonly number[]): StopCause {
  const isOpen = (...ignored: readonly Filter[]): boolean =>
    [...value.items.keys()].some(
      (j) => !used.includes(j) && broken(value, [...used, j]).every((name) => ignored.includes(name)),
    );
  if (isOpen() || !isOpen('component', 'maximum')) return 'pool_exhausted';
  return isOpen('component') ? 'component_limit' : 'content_maxima';
}
