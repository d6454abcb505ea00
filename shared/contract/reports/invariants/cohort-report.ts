import { compareInstants, formatInstant } from '#shared/kernel/instant.ts';
import { metrics, type Measure } from '../analysis-policy.ts';
import type { CohortReport } from '../cohort-report.ts';
import { areDistinct, ownedBy, type InvariantRows } from './invariant.ts';
import { shownLists } from './lists.ts';

/** A roll-up as it would be shown: `measures` only if they are shown. */
export type CheckedCohort = Pick<CohortReport, 'asOf' | 'populationCount' | 'measures' | 'observedAt'>;

const lists = shownLists.readClassCohort;

/** How far the clock of Analytics may be ahead of ours, in milliseconds. */
const AHEAD_MS = 24 * 3_600_000;

/** The measures known by name: those of the improvement metrics, and those that only roll-ups have. */
const knownMeasures: readonly Measure[] = [
  ...Object.values(metrics).flatMap(({ measures }) => measures),
  { name: 'share_proficient', unit: 'proportion', least: 0, greatest: 1 },
];

export const cohortInvariants = ownedBy('analytics', {
  'snapshot-not-ahead': {
    broken: 'The snapshot of the cohort at Analytics is of a time more than a day ahead.',
    allows: 'A clock that is some hours ahead.',
    holds: ({ asOf, observedAt }) =>
      compareInstants(asOf, formatInstant(Date.parse(observedAt) + AHEAD_MS)) <= 0,
  },
  'one-value-per-measure': {
    broken: 'The roll-up at Analytics has two values of one measure.',
    allows: 'One measure in two units.',
    holds: ({ measures }) => measures === undefined || areDistinct(measures, lists.measures),
  },
  'measure-in-range': {
    broken: 'A measure of the roll-up at Analytics has a value that it cannot have.',
    allows: 'Any value of a measure that this version does not know, for example growth below 0.',
    holds: ({ measures }) =>
      measures?.every(({ name, unit, value }) => {
        if (unit === 'count' && !(Number.isInteger(value) && value >= 0)) return false;
        const known = knownMeasures.find((measure) => measure.name === name && measure.unit === unit);
        return known === undefined || (known.least <= value && value <= known.greatest);
      }) ?? true,
  },
  'nobody-measured-nothing': {
    broken: 'The roll-up at Analytics covers no learner and has values.',
    allows: 'Counts of 0.',
    holds: ({ populationCount, measures = [] }) =>
      populationCount > 0 || measures.every(({ unit, value }) => unit === 'count' && value === 0),
  },
} satisfies InvariantRows<CheckedCohort>);
