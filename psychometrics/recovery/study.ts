import { evaluateAims, evaluateBlocks, evaluateExposure, evaluateLengths, reservations } from './aims.ts';
import type { AimResult } from './aims.ts';
import { compareWithBruteForce, type BruteForceFigures } from './brute-force.ts';
import { conditionsOf, pointsOf } from './conditions.ts';
import type { Condition, ExposureMethod, StudySize } from './conditions.ts';
import { curvesOf, pointOf, type CurvePoint, type TargetCurve } from './equal-correctness.ts';
import type { FittedTable } from '#shared/records/fitted-table.ts';
import { exposureMethods, SEARCH_TESTS, tableOf, type Probabilities } from './exposure.ts';
import { agrees, figuresOf, isCovered, recoveredOf, type Figures } from './figures.ts';
import { sitAll, type Sitting } from './sit.ts';
import { bias, calibrationError, calibrationOf, groupBy, rootMeanSquareError, share } from './statistics.ts';
import type { CalibrationBin, Recovered } from './statistics.ts';
import { assumptions, GOOD_ITEMS } from './world.ts';

/** The settings of a study; equal settings give equal studies. */
export interface StudySettings extends StudySize {
  readonly seed: number;
  readonly worlds: number;
  /** Learners of each world in the reference row and in those of exposure control; the other rows take a third of them. */
  readonly learners: number;
  /** How many times as strict as in the design the aims are. */
  readonly bar: number;
}

/** Learners of about the same ability. */
export interface AbilityGroup {
  /** `null` if there is no bound on that side. */
  readonly from: number | null;
  readonly to: number | null;
  readonly learners: number;
  readonly bias: number;
  readonly rmse: number;
  readonly coverage: number;
  /** The bias of the weighted likelihood estimate. */
  readonly weightedBias: number;
  readonly weightedRmse: number;
}

/** KCs that were measured by this many items. */
export interface EvidenceGroup {
  readonly items: number;
  /** Learners × KCs. */
  readonly count: number;
  readonly agreement: number;
}

/** How many learners needed this many items, including both bounds. */
export interface LengthGroup {
  readonly from: number;
  readonly to: number;
  readonly learners: number;
}

export interface Row {
  readonly group: string;
  readonly name: string;
  readonly figures: Figures;
}

export interface Study {
  readonly settings: StudySettings;
  readonly assumptions: readonly string[];
  readonly reservations: readonly string[];
  readonly aims: readonly AimResult[];
  readonly bruteForce: BruteForceFigures;
  readonly rows: readonly Row[];
  /** For the reference row. */
  readonly byAbility: readonly AbilityGroup[];
  readonly byEvidence: readonly EvidenceGroup[];
  readonly calibration: readonly CalibrationBin[];
  readonly calibrationError: number;
  /** Some learners of the reference row, known and recovered ability. */
  readonly sample: readonly Recovered[];
  /** For the row that stops when all is classified. */
  readonly lengths: readonly LengthGroup[];
  /** Length and correctness of the tests that stop when all is classified, by target. */
  readonly curves: readonly TargetCurve[];
  /** The fitted tables of Sympson-Hetter control by world; empty without a row of it. */
  readonly tables: ReadonlyMap<string, FittedTable>;
}

/** The other rows are only for comparison, with the first learners of each world. */
const SHARE_OF_ROWS = 3;
const BRUTE_FORCE_LEARNERS = 4;
const ABILITY_BOUNDS = [-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2];
const CALIBRATION_BINS = 10;
const SAMPLE = 500;
const MOST_LENGTH_GROUPS = 15;

/** Runs the whole study. @param progress gets the share that is done, and what is next */
export function runStudy(
  settings: StudySettings,
  progress: (done: number, what: string) => void = () => undefined,
): Study {
  const rowConditions = conditionsOf(settings);
  const conditions = [...rowConditions, ...pointsOf(rowConditions)];
  const learnersOf = ({ group }: Condition): number =>
    group === 'reference' || group === 'exposure'
      ? settings.learners
      : Math.ceil(settings.learners / SHARE_OF_ROWS);
  const worldNames = Array.from({ length: settings.worlds }, (_, w) => `${settings.seed} ${w}`);
  const searches = conditions.filter(({ exposure }) => exposure && exposureMethods[exposure].find);
  const total =
    conditions.reduce((sum, row) => sum + workOf(row, settings.worlds * learnersOf(row)), 0) +
    searches.reduce((sum, row) => sum + workOf(row, settings.worlds * SEARCH_TESTS), 0);
  let done = 0;

  let bruteForce: BruteForceFigures = { posteriors: 0, largestDifference: 0 };
  for (const name of worldNames) {
    progress(0, 'brute force');
    const { posteriors, largestDifference } = compareWithBruteForce(name, BRUTE_FORCE_LEARNERS);
    bruteForce = {
      posteriors: bruteForce.posteriors + posteriors,
      largestDifference: Math.max(bruteForce.largestDifference, largestDifference),
    };
  }

  const rows: Row[] = [];
  const exposed = new Map<ExposureMethod, Figures>();
  const tables = new Map<string, FittedTable>();
  let reference: readonly Sitting[] = [];
  let lengths: readonly LengthGroup[] = [];
  const points: CurvePoint[] = [];
  for (const condition of conditions) {
    const learners = learnersOf(condition);
    const worlds: Sitting[][] = [];
    for (const name of worldNames) {
      const sittings: Sitting[] = [];
      let probabilities: Probabilities | undefined;
      const method = condition.exposure && exposureMethods[condition.exposure];
      if (method?.find !== undefined) {
        progress(done / total, 'exposure parameters');
        probabilities = method.find(condition, name);
        tables.set(name, tableOf(condition, name, probabilities));
        done += workOf(condition, SEARCH_TESTS);
      }
      const exposure = method?.rule(probabilities);
      for (const sitting of sitAll(condition, name, learners, exposure)) {
        progress(done / total, condition.name);
        sittings.push(sitting);
        done += workOf(condition, 1);
      }
      worlds.push(sittings);
    }
    if (condition.curve !== undefined) points.push(pointOf(condition.curve, condition.confidence, worlds));
    if (condition.group === 'point') continue;
    if (condition.group === 'reference') reference = worlds.flat();
    if (condition.group === 'stop' && lengths.length === 0) lengths = lengthsOf(worlds.flat());
    const figures = figuresOf(worlds, condition.size.items);
    if (condition.exposure !== undefined) exposed.set(condition.exposure, figures);
    rows.push({ group: condition.group, name: condition.name, figures });
  }
  const figuresIn = (group: string): Figures => {
    const found = rows.find((row) => row.group === group);
    if (found === undefined) throw new Error(`a study has a row of the group ${group}`);
    return found.figures;
  };
  const forecasts = reference.flatMap(({ kcs }) =>
    kcs.map(({ posterior, mastered }) => ({ probability: posterior, happened: mastered })),
  );
  const calibration = calibrationOf(forecasts, CALIBRATION_BINS);
  const curves = curvesOf(points, settings.seed);
  return {
    settings,
    assumptions: assumptions(GOOD_ITEMS),
    reservations: reservations(settings, settings.bar),
    aims: [
      ...evaluateAims(
        figuresIn('reference'),
        bruteForce.largestDifference,
        { latent: figuresIn('stop'), unsettled: figuresIn('unsettled') },
        settings.bar,
      ),
      ...evaluateLengths(curves, settings.worlds, settings.bar),
      ...blockAims(rows, settings.bar),
      ...[...exposed].flatMap(([method, figures]) =>
        evaluateExposure(method, figures, figuresIn('reference'), settings.bar),
      ),
    ],
    bruteForce,
    rows,
    byAbility: abilityGroups(reference),
    byEvidence: evidenceGroups(reference),
    calibration,
    calibrationError: calibrationError(calibration),
    sample: reference.slice(0, SAMPLE).map(recoveredOf),
    lengths,
    curves,
    tables,
  };
}

/** Returns the aims of the rows of blocks, which are in the order of `conditionsOf`; none for worlds of one KC. */
function blockAims(rows: readonly Row[], bar: number): readonly AimResult[] {
  const own = rows.flatMap(({ group, figures }) => (group === 'blocks' ? [figures] : []));
  const [independent, noBlocks, , known, fitted] = own;
  return independent !== undefined && noBlocks !== undefined && known !== undefined && fitted !== undefined
    ? evaluateBlocks({ independent, noBlocks, known, fitted }, bar)
    : [];
}

/** Returns a row's share of the waiting time: its number of answers. */
function workOf({ length }: Condition, learners: number): number {
  return length * learners;
}

function abilityGroups(sittings: readonly Sitting[]): readonly AbilityGroup[] {
  return groupBy(sittings, ABILITY_BOUNDS, ({ ability }) => ability).map((group, n) => {
    const pairs = group.map(recoveredOf);
    const weighted = group.map(({ ability, weighted: recovered }) => ({ known: ability, recovered }));
    return {
      from: ABILITY_BOUNDS[n - 1] ?? null,
      to: ABILITY_BOUNDS[n] ?? null,
      learners: group.length,
      bias: bias(pairs),
      rmse: rootMeanSquareError(pairs),
      coverage: share(group, isCovered),
      weightedBias: bias(weighted),
      weightedRmse: rootMeanSquareError(weighted),
    };
  });
}

function evidenceGroups(sittings: readonly Sitting[]): readonly EvidenceGroup[] {
  const kcs = sittings.flatMap((sitting) => sitting.kcs);
  return [...new Set(kcs.map(({ items }) => items))]
    .sort((a, b) => a - b)
    .map((items) => {
      const group = kcs.filter((kc) => kc.items === items);
      return { items, count: group.length, agreement: share(group, agrees) };
    });
}

function lengthsOf(sittings: readonly Sitting[]): readonly LengthGroup[] {
  const lengths = sittings.map(({ items }) => items.length);
  const shortest = lengths.reduce((a, b) => Math.min(a, b), Infinity);
  const longest = lengths.reduce((a, b) => Math.max(a, b), 0);
  const width = Math.ceil((longest - shortest + 1) / MOST_LENGTH_GROUPS);
  return Array.from({ length: Math.ceil((longest - shortest + 1) / width) }, (_, n) => {
    const from = shortest + n * width;
    const to = Math.min(from + width - 1, longest);
    return { from, to, learners: lengths.filter((length) => length >= from && length <= to).length };
  });
}

/** Significant digits of `results.json`: beyond them sums may differ between processors. */
const DIGITS = 9;

/** Returns the fitted parameters of a method: by world a table in the form that `npm run release` takes. */
export function exposureJson({ tables }: Study): string {
  return `${JSON.stringify(Object.fromEntries(tables), null, 2)}\n`;
}

/** Returns the study as a document: the same bytes for the same settings. A figure over no learner is `null`. */
export function resultsJson(study: Study): string {
  const rounded = (_key: string, value: unknown): unknown => {
    if (typeof value !== 'number') return value;
    return Number.isFinite(value) ? Number(value.toPrecision(DIGITS)) : null;
  };
  return `${JSON.stringify({ ...study, tables: undefined }, rounded, 2)}\n`;
}
