import { INDIVIDUAL_RELIABILITY } from '#shared/records/records.ts';
import { figure } from './figures.ts';

/** What the verdict follows from. */
interface Grounds {
  readonly converged: boolean;
  /** NaN where it cannot be computed, as SRMSR. */
  readonly rmsea: number;
  readonly srmsr: number;
  readonly reliabilityCeiling: number;
  readonly warnings: readonly string[];
  /** How many values of the calibration are placeholders. */
  readonly placeholders: number;
}

/** Below the first a fit is close, above the second it is poor (docs/calibrate.md). */
const CLOSE = 0.05;
const POOR = 0.08;

/** Returns the verdict on a calibration in one sentence, and what it rests on, the gravest first. */
export function verdictOf(grounds: Grounds): {
  readonly sentence: string;
  readonly points: readonly string[];
} {
  const { converged, rmsea, srmsr, reliabilityCeiling, warnings, placeholders } = grounds;
  const fit = Math.max(...[rmsea, srmsr].filter((value) => !Number.isNaN(value)));
  const isPoor = fit > POOR;
  const quality = isPoor ? 'poorly' : fit < CLOSE ? 'closely' : 'fairly';
  const isCoarse = reliabilityCeiling < INDIVIDUAL_RELIABILITY;
  const doubts = warnings.length + Number(isPoor) + Number(isCoarse);
  return {
    sentence: [
      converged
        ? doubts === 0
          ? 'Nothing that this command checks is against this calibration.'
          : `Use this calibration with care: ${doubts} ${doubts === 1 ? 'point' : 'points'} to weigh first.`
        : 'Do not use this calibration: the fit has not converged.',
      ...(placeholders === 0
        ? []
        : [`Until its ${placeholders} placeholder values are replaced, it is for local use only.`]),
    ].join(' '),
    points: [
      ...warnings,
      fit === -Infinity
        ? 'How well the model fits pairs of items is not known.'
        : `The model fits pairs of items ${quality} (RMSEA₂ ${figure(rmsea)}, SRMSR ${figure(srmsr)}).`,
      isCoarse
        ? `Scores are too coarse for an individual: no test of these knowledge components reaches a reliability above ${figure(reliabilityCeiling)}.`
        : `A long test of these knowledge components can reach a reliability of ${figure(reliabilityCeiling)}.`,
    ],
  };
}
