import { CLASSIFICATION_CONFIDENCE, DESIGN } from './conditions.ts';
import type { Bank, ExposureMethod, StudySize, Target } from './conditions.ts';
import type { TargetCurve } from './equal-correctness.ts';
import { exposureMethods } from './exposure.ts';
import type { Figures } from './figures.ts';

/** One aim and the observed value. */
export interface AimResult {
  readonly name: string;
  readonly value: number;
  /** The lowest and the highest value that meet the aim; `null` if there is no such bound. */
  readonly least: number | null;
  readonly most: number | null;
  readonly unit: 'SD' | 'share' | 'difference';
  readonly met: boolean;
  /** Whether the study fails if it is missed. */
  readonly decides: boolean;
}

const BIAS = 0.05;
const COVERAGE = 0.95;
const COVERAGE_WITHIN = 0.03;
const AGREEMENT = 0.985;
const RMSE = 0.4;
const BRUTE_FORCE = 1e-12;
/** The largest share of the length of a test that is chosen for the whole latent state. */
const UNSETTLED_LENGTH = 0.65;

const MOST_EXPOSED = 0.3;
const OVERLAP = 0.2;
const AGREEMENT_LOST = 0.005;

/** Checks a row with exposure control against the design's aims. Only methods whose parameters are fitted to the aims decide the study. */
export function evaluateExposure(
  method: ExposureMethod,
  figures: Figures,
  without: Figures,
  bar: number,
): readonly AimResult[] {
  const most = (name: string, value: number, limit: number): AimResult => ({
    name: `${name}, ${method}`,
    value,
    least: null,
    most: limit / bar,
    unit: 'share',
    met: value <= limit / bar,
    decides: exposureMethods[method].find !== undefined,
  });
  return [
    most('most exposed', figures.mostExposed, MOST_EXPOSED),
    most('overlap', figures.overlap, OVERLAP),
    most('agreement lost', without.agreement - figures.agreement, AGREEMENT_LOST),
  ];
}

/** The largest share of the length of equally correct tests for another target that tests for `unsettled_and_unmeasured` may have. */
const EQUALLY_CORRECT_LENGTHS: Readonly<Record<Bank, Partial<Record<Target, number>>>> = {
  'good items': { latent_state: 0.88, unsettled_components: 0.93 },
  'weaker items': { unsettled_components: 0.955 },
  'few KCs in scope': { unsettled_components: 0.98 },
};

/** With fewer worlds, an interval from resampled worlds is too narrow to decide an aim. */
const ENOUGH_WORLDS = 10;

/**
 * Checks test lengths at equal correctness against the design's aims. Some true values are close to their aims, and banks differ. So a length decides
 * only if its whole interval misses the aim.
 */
export function evaluateLengths(
  curves: readonly TargetCurve[],
  worlds: number,
  bar: number,
): readonly AimResult[] {
  return curves
    .filter(({ target }) => target === 'unsettled_and_unmeasured')
    .flatMap(({ bank, comparisons }) =>
      comparisons.flatMap(({ reference, atEqualCorrectness }): readonly AimResult[] => {
        const limit = EQUALLY_CORRECT_LENGTHS[bank][reference];
        if (limit === undefined || atEqualCorrectness === null) return [];
        const { value, interval } = atEqualCorrectness;
        const most = limit / bar;
        return [
          {
            name: `length to ${reference}, ${bank}`,
            value,
            least: null,
            most,
            unit: 'share',
            met: value <= most,
            decides: worlds >= ENOUGH_WORLDS && interval !== null && interval[0] > most,
          },
        ];
      }),
    );
}

type Aim = (
  name: string,
  unit: AimResult['unit'],
  value: number,
  least: number | null,
  most: number | null,
) => AimResult;

/** Returns how to check a value against its bounds. @param decides whether the study fails if it misses them */
const aimsThat =
  (decides: boolean): Aim =>
  (name, unit, value, least, most) => ({
    name,
    unit,
    value,
    least,
    most,
    // NaN meets no aim: no comparison with it holds.
    met: (least === null || value >= least) && (most === null || value <= most),
    decides,
  });

/**
 * Checks the reference row against the design's aims.
 * @param bar how many times as strict: the allowed errors are divided by it
 * @param bruteForce the largest difference from brute force
 * @param stops tests that end with their classifications, chosen for the whole latent state and for unsettled components
 */
export function evaluateAims(
  figures: Figures,
  bruteForce: number,
  stops: { readonly latent: Figures; readonly unsettled: Figures },
  bar: number,
): readonly AimResult[] {
  const aim = aimsThat(true);
  return [
    aim('bias of ability', 'SD', figures.bias, -BIAS / bar, BIAS / bar),
    aim('RMSE of ability', 'SD', figures.rmse, null, RMSE / bar),
    aim(
      'coverage of 95 % intervals',
      'share',
      figures.coverage,
      COVERAGE - COVERAGE_WITHIN / bar,
      COVERAGE + COVERAGE_WITHIN / bar,
    ),
    aim('KC agreement', 'share', figures.agreement, 1 - (1 - AGREEMENT) / bar, null),
    aim('posteriors to brute force', 'difference', bruteForce, null, BRUTE_FORCE / bar),
    aim(
      'length, unsettled to state',
      'share',
      stops.unsettled.meanLength / stops.latent.meanLength,
      null,
      UNSETTLED_LENGTH / bar,
    ),
    aim(
      'right of classified',
      'share',
      stops.unsettled.classifiedAgreement,
      1 - (1 - CLASSIFICATION_CONFIDENCE) / bar,
      null,
    ),
  ];
}

const CHAIN_COVERAGE = { least: 0.93, most: 0.97 } as const;
const FITTED_LOSS = { agreement: 0.004, coverage: 0.02 } as const;
const INDEPENDENT_LOSS = 0.002;

/**
 * Checks what known prerequisites are worth, by rows of the group `blocks`. None decides the study: coverage needs more learners than a quick one has.
 * @param rows independent KCs by the kernel of curves and by that of blocks; chains as they are, and fitted to the most learners
 */
export function evaluateBlocks(
  rows: {
    readonly independent: Figures;
    readonly noBlocks: Figures;
    readonly known: Figures;
    readonly fitted: Figures;
  },
  bar: number,
): readonly AimResult[] {
  const aim = aimsThat(false);
  const { independent, noBlocks, known, fitted } = rows;
  const lost = (value: number, limit: number, name: string): AimResult =>
    aim(name, 'share', value, null, limit / bar);
  return [
    lost(independent.agreement - noBlocks.agreement, INDEPENDENT_LOSS, 'agreement lost, independent KCs'),
    aim('KC agreement, true chains', 'share', known.agreement, 1 - (1 - AGREEMENT) / bar, null),
    aim('coverage, true chains', 'share', known.coverage, CHAIN_COVERAGE.least, CHAIN_COVERAGE.most),
    lost(known.agreement - fitted.agreement, FITTED_LOSS.agreement, 'agreement lost, fitted chains'),
    lost(Math.abs(known.coverage - fitted.coverage), FITTED_LOSS.coverage, 'coverage lost, fitted chains'),
  ];
}

/** Returns how the study differs from the one that the aims were set for; empty if it does not. */
export function reservations({ items, kcs, length, policy }: StudySize, bar: number): readonly string[] {
  return [
    ...(items === DESIGN.items && kcs === DESIGN.kcs && length === DESIGN.length
      ? []
      : [
          `The aims were set for ${DESIGN.kcs} KCs, ${DESIGN.items} items and ${DESIGN.length} administered; this study uses other sizes.`,
        ]),
    ...(policy === 'plain'
      ? []
      : ['The aims were set for selection without constraints; this study has some.']),
    ...(bar === 1
      ? []
      : [
          `The aims are ${bar > 1 ? `${bar} times as strict as` : `${1 / bar} times as lax as`} the design’s (--bar).`,
        ]),
  ];
}
