import { isArtifactLink } from '#shared/kernel/artifact-link.ts';
import { hasSizeOfEveryForm, type EquivalenceReport } from '../equivalence-report.ts';
import { areDistinct, ownedBy, type InvariantRows } from './invariant.ts';
import { shownLists } from './lists.ts';

/** An analysis of forms as it would be shown. */
export interface CheckedEquivalence extends Pick<
  EquivalenceReport,
  | 'qtiTestId'
  | 'comparisonQtiTestIds'
  | 'sampleSizes'
  | 'statistic'
  | 'confidenceInterval'
  | 'tolerance'
  | 'decision'
  | 'evidenceArtifactUrl'
> {
  /** Whether Analytics declares its statistic a difference of the forms, which a tolerance in the same unit bounds. */
  readonly isDifference: boolean;
}

const lists = shownLists.readEquivalence;

/** The evidence that each decision requires of the study. */
const cells: Readonly<
  Record<EquivalenceReport['decision'], { sampled?: true; withinTolerance?: true; evidence?: true }>
> = {
  equivalent: { sampled: true, withinTolerance: true, evidence: true },
  // Possible with any statistic: the interval may reach beyond the tolerance.
  not_equivalent: { evidence: true },
  insufficient_evidence: {},
  unknown: { evidence: true },
};

export const equivalenceInvariants = ownedBy('analytics', {
  'other-forms': {
    broken: 'The analysis at Analytics compares the form with no other form.',
    allows: 'One other form.',
    holds: ({ comparisonQtiTestIds }) => comparisonQtiTestIds.length > 0,
  },
  'form-once': {
    broken: 'The analysis at Analytics names a form twice.',
    allows: 'Forms whose ids differ only in case.',
    holds: ({ qtiTestId, comparisonQtiTestIds }) =>
      areDistinct([qtiTestId, ...comparisonQtiTestIds], lists.comparisonQtiTestIds),
  },
  'one-sample-per-form': {
    broken: 'The analysis at Analytics does not have exactly one sample size for every form.',
    allows: 'A sample of 0 with insufficient evidence.',
    holds: hasSizeOfEveryForm,
  },
  'statistic-in-interval': {
    broken: 'The statistic of the analysis at Analytics lies outside its interval.',
    allows: 'A statistic at an end of its interval.',
    holds: ({ statistic, confidenceInterval: { lower, upper } }) => lower <= statistic && statistic <= upper,
  },
  'tolerance-not-negative': {
    broken: 'The tolerance of the analysis at Analytics is negative.',
    allows: 'A tolerance of 0.',
    holds: ({ tolerance }) => tolerance >= 0,
  },
  'equivalent-forms-were-sampled': {
    broken: 'Analytics calls forms equivalent of which one has a sample of 0.',
    allows: 'A sample of 1.',
    holds: ({ decision, sampleSizes }) =>
      cells[decision].sampled !== true || Object.values(sampleSizes).every((size) => size > 0),
  },
  'equivalent-within-tolerance': {
    broken: 'Analytics calls forms equivalent whose difference is larger than the tolerance.',
    allows: 'A statistic that is not declared a difference, for example a ratio.',
    holds: ({ decision, isDifference, statistic, tolerance }) =>
      cells[decision].withinTolerance !== true || !isDifference || Math.abs(statistic) <= tolerance,
  },
  'decision-has-evidence': {
    broken: 'Analytics decided without naming the artifact of its evidence.',
    allows: 'Insufficient evidence without an artifact.',
    holds: ({ decision, evidenceArtifactUrl }) =>
      cells[decision].evidence !== true || evidenceArtifactUrl !== null,
  },
  'evidence-has-public-link': {
    broken:
      'Analytics names the artifact of its evidence by something other than an HTTPS URL without credentials to a public place.',
    allows: 'An HTTPS URL with a query that contains no credential.',
    holds: ({ evidenceArtifactUrl }) => evidenceArtifactUrl === null || isArtifactLink(evidenceArtifactUrl),
  },
} satisfies InvariantRows<CheckedEquivalence>);
