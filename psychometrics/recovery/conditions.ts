import type { Constraints, Exposure } from '#functions/mastery/engine/index.ts';
import type { Knowledge } from './knowledge.ts';
import { ABERRANT, CORRELATION, PRIOR_POPULATION, RAPID } from './learners.ts';
import type { AnswerModel, Population, Structure } from './learners.ts';
import { GOOD_ITEMS, kcGuid, WEAK_ITEMS, type ItemQuality, type World, type WorldSize } from './world.ts';

/** The world that the design's aims refer to. */
export const DESIGN = { items: 400, kcs: 20, length: 30 } as const;

/** A way to choose items, as a selection policy would ask for it. */
export type PolicyName = keyof typeof policies;

/** One test in one kind of world, whose figures are one row of the study. */
export interface Condition {
  readonly group: string;
  readonly name: string;
  readonly size: WorldSize;
  readonly quality: ItemQuality;
  /** The most items of one learner. */
  readonly length: number;
  /** A run stops when each KC is classified with this confidence; with 1 every run has its full length. */
  readonly confidence: number;
  readonly policy: PolicyName;
  /** How many of the KCs the test covers: the first ones. */
  readonly scope: number;
  readonly population: Population;
  readonly answers: AnswerModel;
  readonly structure: Structure;
  readonly knowledge: Knowledge;
  /** How exposure is controlled, in addition to the policy; absent: not at all. */
  readonly exposure?: ExposureMethod;
  /** The curve of length and correctness on which the row is a point; absent: on none. */
  readonly curve?: Curve;
}

/** What a test that ends with its classifications is chosen for, in one kind of bank. */
export interface Curve {
  readonly bank: Bank;
  readonly target: Target;
}

export type Bank = (typeof banks)[number];
export type Target = (typeof targets)[number]['target'];

export type ExposureMethod = Exposure['method'];

/** The reader's choices. */
export interface StudySize extends WorldSize {
  readonly length: number;
  readonly policy: PolicyName;
  /** Methods of exposure control that are shown next to the row without. */
  readonly exposure?: readonly ExposureMethod[] | undefined;
}

type Limits = Pick<
  Constraints,
  'minima' | 'maxima' | 'enemySets' | 'exposure' | 'selectionTarget' | 'unmeasuredCredit' | 'settlingCredit'
>;

const unlimited: Limits = { minima: [], maxima: [], enemySets: [] };
export const RANDOMESQUE = 5;
const ENEMIES = 4;
/** The credit of the built-in policies. */
const CREDIT = 0.1;
/** The credit that is best in small banks. */
const SETTLING_CREDIT = 0.2;

/** Requires one item on each of as many KCs as take two thirds of the test at most. */
const floors = ({ kcs }: World, length: number): Limits['minima'] =>
  kcs.slice(0, Math.floor((2 * length) / 3)).map((_, kc) => ({ guid: kcGuid(kc), items: 1 }));

/** Limits each KC to twice its even share of the items. */
const maxima = ({ kcs }: World, length: number): Limits['maxima'] =>
  kcs.map((_, kc) => ({ guid: kcGuid(kc), items: Math.ceil((2 * length) / kcs.length) }));

/** Returns items of the same first KC in groups, like variants of one task. */
const enemies = ({ items, kcs }: World): Limits['enemySets'] => {
  const sets = new Map<string, string[]>();
  items.forEach(({ id }, j) => {
    const set = `${j % kcs.length} ${Math.floor(Math.floor(j / kcs.length) / ENEMIES)}`;
    sets.set(set, [...(sets.get(set) ?? []), id]);
  });
  return [...sets.values()].filter((set) => set.length > 1);
};

export const policies = {
  plain: { description: 'plain: the best item', limits: () => unlimited },
  floors: {
    description: 'coverage floors: an item on each KC',
    limits: (world: World, length: number) => ({ ...unlimited, minima: floors(world, length) }),
  },
  maxima: {
    description: 'content maxima: twice an even share',
    limits: (world: World, length: number) => ({ ...unlimited, maxima: maxima(world, length) }),
  },
  enemies: {
    description: `enemy sets: one of ${ENEMIES} variants`,
    limits: (world: World) => ({ ...unlimited, enemySets: enemies(world) }),
  },
  randomesque: {
    description: `randomesque: one of the ${RANDOMESQUE} best`,
    limits: () => ({ ...unlimited, exposure: { method: 'randomesque', size: RANDOMESQUE } }),
  },
  unsettled: {
    description: 'unsettled components: first what is not classified yet',
    limits: () => ({ ...unlimited, selectionTarget: 'unsettled_components' }),
  },
  unmeasured: {
    description: `unsettled and unmeasured components: ${CREDIT} bits more for each that no item has measured yet`,
    limits: () => ({
      ...unlimited,
      selectionTarget: 'unsettled_and_unmeasured',
      unmeasuredCredit: CREDIT,
    }),
  },
  ahead: {
    description: `look-ahead: the same, and ${SETTLING_CREDIT} bits more for each that the answer is expected to settle`,
    limits: () => ({
      ...unlimited,
      selectionTarget: 'settling_look_ahead',
      unmeasuredCredit: CREDIT,
      settlingCredit: SETTLING_CREDIT,
    }),
  },
  all: {
    description: 'all: all four together',
    limits: (world: World, length: number) => ({
      minima: floors(world, length),
      maxima: maxima(world, length),
      enemySets: enemies(world),
      exposure: { method: 'randomesque', size: RANDOMESQUE },
    }),
  },
} satisfies Readonly<
  Record<string, { readonly description: string; readonly limits: (world: World, length: number) => Limits }>
>;

export const policyNames = Object.keys(policies).filter((name): name is PolicyName =>
  Object.hasOwn(policies, name),
);

/** The error of parameters that a study examines. */
const MISJUDGED_BY = 0.2;
const WRONG_ROWS = 0.1;
const CALIBRATED_ON = [200, 500, 1000];
export const CLASSIFICATION_CONFIDENCE = 0.9;
const SCOPE = 5;

/** What a test that ends with its classifications is chosen for: each kind of bank has a row in each of these groups. */
export const targets = [
  { group: 'stop', target: 'latent_state', suffix: '', policy: 'plain' },
  { group: 'unsettled', target: 'unsettled_components', suffix: ': unsettled first', policy: 'unsettled' },
  {
    group: 'unmeasured',
    target: 'unsettled_and_unmeasured',
    suffix: ': unsettled and unmeasured first',
    policy: 'unmeasured',
  },
] as const;

/** The kinds of banks in which targets are compared. */
export const banks = ['good items', 'weaker items', 'few KCs in scope'] as const;

/** The confidence of the points of a curve in addition to that of its row, from which tests that are as correct as others are found. */
const THRESHOLDS: Readonly<Record<Target, readonly number[]>> = {
  // Confidence hardly changes its tests: they are long because some KC has no scored item yet.
  latent_state: [0.95],
  unsettled_components: [0.85, 0.95, 0.99],
  unsettled_and_unmeasured: [0.85, 0.95, 0.99],
};

/** Returns the other points of the rows' curves. */
export function pointsOf(rows: readonly Condition[]): readonly Condition[] {
  return rows.flatMap((row) =>
    (row.curve === undefined ? [] : THRESHOLDS[row.curve.target]).map((confidence): Condition => ({
      ...row,
      group: 'point',
      name: `${row.name}, at ${confidence}`,
      confidence,
    })),
  );
}

const CHAINS = [5, 10, 20];

/** Returns chains of prerequisites, in the order of their rows. */
export function chains(kcs: number): readonly { readonly name: string; readonly structure: Structure }[] {
  const lengths = new Set(CHAINS.map((length) => Math.min(length, kcs)));
  return [...lengths].map((length) => ({
    name: `chains of ${length} KCs`,
    structure: { chainsOf: length },
  }));
}

/** Returns the row that is checked against the aims, then the rows that each vary one of its settings, each once. */
export function conditionsOf({ items, kcs, length, policy, exposure = [] }: StudySize): readonly Condition[] {
  const reference: Condition = {
    group: 'reference',
    name: `${kcs} KCs, ${items} items, ${length} administered`,
    size: { items, kcs },
    quality: GOOD_ITEMS,
    length,
    confidence: 1,
    policy,
    scope: kcs,
    population: PRIOR_POPULATION,
    answers: 'by-table',
    structure: 'independent',
    knowledge: { kind: 'true' },
  };
  const vary = (group: string, name: string, change: Partial<Condition>): Condition => ({
    ...reference,
    group,
    name,
    ...change,
  });
  const untilClassified = { confidence: CLASSIFICATION_CONFIDENCE, length: Math.min(items, 2 * length) };
  const stops: readonly {
    readonly bank: Bank;
    readonly name: string;
    readonly change: Partial<Condition>;
  }[] = [
    {
      bank: 'good items',
      name: `until classified at ${CLASSIFICATION_CONFIDENCE}, ${untilClassified.length} at most`,
      change: {},
    },
    { bank: 'weaker items', name: 'weaker items, until classified', change: { quality: WEAK_ITEMS } },
    ...(kcs > SCOPE
      ? [
          {
            bank: 'few KCs in scope' as const,
            name: `${SCOPE} KCs in scope, until classified`,
            change: { scope: SCOPE },
          },
        ]
      : []),
  ];
  /** Mistakes of the model, each for a test of full length and for one that ends as the built-in policies end it. */
  const mistakes: readonly {
    readonly group: string;
    readonly name: string;
    readonly change: Partial<Condition>;
  }[] = [
    {
      group: 'wrong',
      name: `wrong Q-matrix rows: ${percent(WRONG_ROWS)} of items`,
      change: { knowledge: { kind: 'wrong rows', share: WRONG_ROWS } },
    },
    ...chains(kcs).map(({ name, structure }) => ({
      group: 'chains',
      name: `prerequisites: ${name}`,
      change: { structure },
    })),
    {
      group: 'wrong',
      name: `two abilities, correlation ${CORRELATION}`,
      change: { structure: 'two abilities' },
    },
    {
      group: 'wrong',
      name: `rapid guessers: ${percent(RAPID.learners)}, ${percent(RAPID.items)} of items`,
      change: { answers: 'rapid guessing' },
    },
    {
      group: 'wrong',
      name: `all guess on ${percent(ABERRANT.guessing.items)} of items`,
      change: { answers: 'guessing' },
    },
    {
      group: 'wrong',
      name: `all are careless on ${percent(ABERRANT.careless.items)} of items`,
      change: { answers: 'careless' },
    },
    {
      group: 'wrong',
      name: `all are helped on ${percent(ABERRANT.helped.items)} of items`,
      change: { answers: 'helped' },
    },
  ];
  const distinct = (values: readonly number[], least: number, given: number): readonly number[] =>
    [...new Set(values.map(Math.round))].filter((value) => value >= least && value !== given);
  return [
    reference,
    ...exposure.map((method) => vary('exposure', `exposure: ${method}`, { exposure: method })),
    ...distinct([items / 4, items / 2, 2 * items], Math.max(length, kcs), items).map((count) =>
      vary('pool', `${count} items`, { size: { items: count, kcs } }),
    ),
    ...distinct([length / 3, (2 * length) / 3, 1.5 * length, 2 * length], 1, length)
      .filter((count) => count <= items)
      .map((count) => vary('length', `${count} administered`, { length: count })),
    ...policyNames
      // A look-ahead has no effect before anything can be settled: its row is with the tests that end with their classifications.
      .filter((name) => name !== policy && name !== 'ahead')
      .map((name) => vary('policy', policies[name].description, { policy: name })),
    ...stops.flatMap(({ bank, name, change }) =>
      targets.map(({ group, target, suffix, policy: chosen }) =>
        vary(group, `${name}${suffix}`, {
          ...untilClassified,
          policy: chosen,
          ...change,
          curve: { bank, target },
        }),
      ),
    ),
    vary(
      'ahead',
      `until classified at ${CLASSIFICATION_CONFIDENCE}, ${untilClassified.length} at most: look-ahead`,
      {
        ...untilClassified,
        policy: 'ahead',
      },
    ),
    vary('items', `weaker: guess ${WEAK_ITEMS.guess.join('-')}, slip ${WEAK_ITEMS.slip.join('-')}`, {
      quality: WEAK_ITEMS,
    }),
    vary('wrong', `parameters off by up to ${100 * MISJUDGED_BY} %`, {
      knowledge: { kind: 'off', share: MISJUDGED_BY },
    }),
    vary('wrong', 'compensatory responders', { answers: 'compensatory' }),
    vary('wrong', 'population N(0.5, 1.2²), prior N(0, 1)', { population: { mean: 0.5, sd: 1.2 } }),
    ...mistakes.map(({ group, name, change }) => vary(group, name, change)),
    ...mistakes.map(({ name, change }) =>
      vary('unsettled mistakes', `${name}, until classified: unsettled first`, {
        ...untilClassified,
        policy: 'unsettled',
        ...change,
      }),
    ),
    ...CALIBRATED_ON.map((learners) =>
      vary('calibrated', `calibrated on ${learners} learners`, {
        knowledge: { kind: 'calibrated', learners },
      }),
    ),
    ...blockRows(kcs, length).map(({ name, structure, knowledge }) =>
      vary('blocks', name, { length: shorter(length), structure, knowledge }),
    ),
  ];
}

/** Chains that are known to the engine, and the numbers of learners that the first kind is fitted to. */
const KNOWN_CHAINS = [5, 10];
const CHAINS_FITTED_ON = [2000, 500];

/** Returns the length of tests in which what is known of chains counts: half of the study's. */
function shorter(length: number): number {
  return Math.ceil(length / 2);
}

/** Returns the rows of prerequisites that the engine knows as blocks, each kind after the row without. */
function blockRows(
  kcs: number,
  length: number,
): readonly Pick<Condition, 'name' | 'structure' | 'knowledge'>[] {
  const row = (name: string, structure: Structure, knowledge: Knowledge) => ({
    name: `${shorter(length)} administered, ${name}`,
    structure,
    knowledge,
  });
  const lengths = [...new Set(KNOWN_CHAINS.map((one) => Math.min(one, kcs)))].filter((one) => one > 1);
  return [
    row('independent KCs', 'independent', { kind: 'true' }),
    row('independent KCs: kernel of blocks', 'independent', { kind: 'no blocks' }),
    ...lengths.flatMap((chainsOf, n) => {
      const name = `chains of ${chainsOf} KCs`;
      const structure = { chainsOf };
      return [
        row(`${name}: independent curves`, structure, { kind: 'true' }),
        row(`${name}: true chains`, structure, { kind: 'chains', length: chainsOf }),
        ...(n > 0 ? [] : CHAINS_FITTED_ON).map((learners) =>
          row(`${name}: chains fitted on ${learners} learners`, structure, {
            kind: 'fitted chains',
            length: chainsOf,
            learners,
          }),
        ),
      ];
    }),
  ];
}

function percent(share: number): string {
  return `${100 * share} %`;
}
