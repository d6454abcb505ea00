/**
 * Checks of items and of their rows in the Q-matrix, by what the other items know of each learner. A row is compared with all other sets of KCs by the
 * likelihood of the item's answers, in the spirit of Q-matrix validation (de la Torre, 2008, J. of Educational Measurement 45, 343-362). One wrong row
 * distorts the others: the worst is replaced and the model fitted again, until none is left.
 */
import { condition, type Condition } from '../conditions.ts';
import { fit } from '../em.ts';
import { createDesign, type Design, type Parameters, type Responses } from '../model.ts';
import { at, log } from '../numbers.ts';
import {
  constantLikelihood,
  freePrior,
  linearFits,
  posteriorsOf,
  twoValuesOf,
  viewOf,
  type ItemView,
} from './other-items.ts';

/** A fitted model with the answers and names that it was fitted to. */
export interface Fitted {
  readonly design: Design;
  readonly parameters: Parameters;
  readonly study: {
    readonly items: readonly string[];
    readonly kcs: readonly string[];
    readonly responses: Responses;
  };
}

/** A model without the answers. */
type Model = Pick<Fitted, 'design' | 'parameters'>;

/** What was found. */
export interface ItemFindings {
  readonly conditions: readonly Condition[];
  /** The model with better rows, by which the learners are then checked; undefined if the Q-matrix does not fit as a whole. */
  readonly better: Model | undefined;
}

/*
 * Limits, chosen on simulated sound studies with seeds below 100 (docs/verdicts.md). Gains are twice the difference of two log-likelihoods of one
 * item's answers. There is no table for them, because the models are not nested.
 */

/** A row is doubtful if another one gains this, in addition to 2 log(items x sets), for so many were compared. */
export const ROW_GAIN = 10;
/** And at least this per learner: many learners must not turn a trifle into a doubt. */
export const ROW_GAIN_PER_LEARNER = 0.01;
/** The Q-matrix does not fit if this share of the rows, and this number, gain at least half of what makes a row doubtful… */
export const SHARE_OF_ROWS = 0.25;
const LEAST_ROWS = 4;
/** … per learner, or this. */
const MILD_GAIN = 8;
/** An item is uninformative if its gain over a constant is below this, the upper 1 % of chi-square with one degree of freedom, … */
const CHANCE = 6.635;
/** … or success - guess is below this, for any number of learners; … */
export const NO_DIFFERENCE = 0.05;
/** … and if success - guess is below this at the upper 1 %, so that a small study is not blamed for its size. */
const SOME_DIFFERENCE = 0.3;
/** The upper 1 % of the normal distribution. */
const UPPER = 2.326;

/** The most rows whose better KCs the sentence names. */
const NAMED_ROWS = 3;

/** One item by the other items. */
interface ItemLook {
  /** The bits of the KCs that it needs by the Q-matrix. */
  readonly own: number;
  /** The best other set, and twice the log-likelihood that it gains. */
  readonly best: number;
  readonly gain: number;
  /** Learners whose answers gain it: a part of them where rows are sampled. */
  readonly learners: number;
  readonly uninformative: boolean;
}

/** Checks all items and rows of a fitted model. */
export function checkItems(fitted: Fitted): ItemFindings {
  const { study } = fitted;
  let current: Model = fitted;
  let looks = lookAtItems(current, study.responses);
  const silent = study.items.filter((_, j) => looks[j]?.uninformative === true);
  const found = silent.length === 0 ? [] : [condition('item_tells_nothing', silent)];
  const shaky = looks.filter(isMild).length;
  const most = Math.max(LEAST_ROWS, Math.ceil(SHARE_OF_ROWS * study.items.length));
  const isDina = fitted.design.model === 'dina';
  const wholly = (count: number): ItemFindings => {
    const figures = { count, items: study.items.length, isDina };
    return { conditions: [condition('q_matrix_does_not_fit', [], figures), ...found], better: undefined };
  };
  if (shaky >= most) return wholly(shaky);
  for (let round = 0; round < most; round += 1) {
    const item = worstOf(fitted.design, looks);
    if (item === undefined) break;
    current = withRow(current, study.responses, item, looks[item]?.best ?? 1);
    looks = lookAtItems(current, study.responses);
  }
  const changed = study.items.flatMap((name, j) => {
    const kcs = current.design.items[j]?.kcs ?? [];
    if (setOf(kcs) === setOf(fitted.design.items[j]?.kcs ?? [])) return [];
    return [{ name, needs: kcs.map((k) => `"${study.kcs[k]}"`).join(' and ') }];
  });
  if (changed.length === 0) return { conditions: found, better: current };
  if (changed.length >= most) return wholly(changed.length);
  const names = changed.map(({ name }) => name);
  const rows = changed
    .slice(0, NAMED_ROWS)
    .map(({ name, needs }) => `"${name}" fits better if it needs ${needs}`);
  const doubt = condition('q_row_doubtful', names, { better: rows.join(', '), isDina });
  return { conditions: [doubt, ...found], better: current };
}

function setOf(kcs: readonly number[]): number {
  return kcs.reduce((set, k) => set | (1 << k), 0);
}

function isMild({ gain, learners }: ItemLook): boolean {
  return gain > Math.max(MILD_GAIN, (ROW_GAIN_PER_LEARNER / 2) * learners);
}

/** Returns the item whose row is most doubtful. */
function worstOf({ items, patterns }: Design, looks: readonly ItemLook[]): number | undefined {
  const compared = ROW_GAIN + 2 * log(items.length * (patterns - 1));
  let worst: number | undefined;
  looks.forEach(({ gain, learners }, j) => {
    if (gain <= Math.max(compared, ROW_GAIN_PER_LEARNER * learners)) return;
    if (worst === undefined || gain > (looks[worst]?.gain ?? 0)) worst = j;
  });
  return worst;
}

function lookAtItems({ design, parameters }: Model, responses: Responses): ItemLook[] {
  const posteriors = posteriorsOf(design, parameters, responses, freePrior);
  return design.items.map(({ kcs }, j) =>
    lookAt(viewOf(design, parameters, posteriors, j), setOf(kcs), design),
  );
}

/** The most other sets that are fitted, and how much of what the own set explains they explain at least. */
const FITTED_SETS = 6;
const PROMISING = 0.7;

function lookAt(view: ItemView, own: number, { model, bound }: Design): ItemLook {
  const { explained, error } = linearFits(view);
  const { guess, success, logLikelihood } = twoValuesOf(view, own, bound);
  const constant = constantLikelihood(view);
  const difference = success - guess;
  let best = own;
  let reached = -Infinity;
  const promising = [...explained.keys()]
    .filter((set) => set !== own && at(explained, set) > PROMISING * at(explained, own))
    .sort((a, b) => at(explained, b) - at(explained, a))
    .slice(0, FITTED_SETS);
  for (const set of promising) {
    const other = twoValuesOf(view, set, bound);
    if (other.success <= other.guess || other.logLikelihood <= reached) continue;
    best = set;
    reached = other.logLikelihood;
  }
  // A table of G-DINA fits at least as well as the two values of its own row.
  const monotone = difference > 0 ? logLikelihood : constant;
  const reference = model === 'gdina' ? Math.max(monotone, view.logLikelihood) : monotone;
  const chance = CHANCE + 2 * log(explained.length);
  return {
    own,
    best,
    gain: 2 * (reached - reference),
    learners: view.learners,
    // A constant item is a condition of its own.
    uninformative:
      constant < 0 &&
      (2 * (logLikelihood - constant) < CHANCE || Math.abs(difference) < NO_DIFFERENCE) &&
      2 * (reached - constant) < chance &&
      Math.abs(difference) + UPPER * at(error, own) < SOME_DIFFERENCE,
  };
}

/** Enough for comparing gains of several points. */
const REFIT = { maximumIterations: 500, tolerance: 1e-3 } as const;

/** Returns the model with another row of an item, fitted again. */
function withRow({ design, parameters }: Model, responses: Responses, item: number, set: number): Model {
  const kcsOf = design.items.map(({ kcs }, j) =>
    j === item ? Array.from({ length: design.kcCount }, (_, k) => k).filter((k) => (set >>> k) & 1) : kcs,
  );
  const next = createDesign(design.model, design.kcCount, kcsOf, design);
  const size = next.items[item]?.size ?? 2;
  const start = new Float64Array(size).fill(0.2, 0, size - 1).fill(0.8, size - 1);
  const tables = parameters.tables.map((table, j) => (j === item ? start : table));
  return { design: next, parameters: fit(next, responses, { ...parameters, tables }, REFIT).parameters };
}
