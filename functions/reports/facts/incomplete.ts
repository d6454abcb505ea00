import type { WithheldReason } from '#shared/contract/reports/attempt-report.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import { err } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { AttemptFacts } from './facts.ts';

/**
 * An owner answered, and what it answered does not hold a fact that the answer needs, or contradicts itself: nothing is made up in its place.
 * @param detail a constant sentence that says which fact is missing
 */
export function incomplete(dependency: SourceService, detail: string): Problem {
  return problem('reports', 'dependency-incomplete', 503, { dependency, detail });
}

/**
 * Why facts make no report of an attempt. `unsettled`: it is not scored or settled, or lacks a settled fact that its summary needs. `stale`: a
 * source is not current. `unreleased`: the release does not prove reports of its kind. `missing`: an owner lacks evidence beyond the summary.
 * `unusable`: a fact breaks its own bounds, or a limit of the answer. `contradiction`: two facts that cannot both be true.
 */
type Reason = WithheldReason | 'missing' | 'unusable' | 'contradiction';

/** The problem of facts that make no report, and why they make none: a page and readiness do not fail with each of them. */
export interface Shortfall extends Problem {
  readonly reason: Reason;
}

/** Everything that keeps the facts of one attempt from being a report: why, whose fact it is, and in a sentence what is wrong. */
const shortfalls = {
  unreleased: [
    'unreleased',
    'mastery_engine',
    'Evidence of the mastery engine from production learners is not there yet.',
  ],
  notScored: ['unsettled', 'qti', 'QTI has not scored the attempt.'],
  noRecord: ['unsettled', 'results', 'Results holds no record of a scored attempt.'],
  notSettled: ['unsettled', 'results', 'Results has not settled the record of the attempt.'],
  noScore: ['unsettled', 'results', 'Results has not settled the score of the attempt.'],
  noScale: [
    'unsettled',
    'results',
    'The settled score is on a mastery scale whose version Results does not name.',
  ],
  noCriteria: [
    'unsettled',
    'content',
    'Neither Results nor Content names the version and the threshold of the gate’s criteria.',
  ],
  noDiagnostic: ['unsettled', 'results', 'Results holds no diagnostic of the adaptive attempt.'],
  oldFramework: [
    'stale',
    'case',
    'The CASE framework is older than the one that the test spec was built on.',
  ],
  scoreOutOfBounds: [
    'unusable',
    'results',
    'The settled score lies outside the bounds that Results gives for it.',
  ],
  noItem: ['unusable', 'qti', 'QTI counts no administered item for the adaptive attempt.'],
  outcomeTwice: ['unusable', 'qti', 'QTI names an outcome of the attempt twice.'],
  rowTwice: ['unusable', 'results', 'Results holds two mastery rows of one kind and CASE GUID.'],
  tooManyRows: ['unusable', 'results', 'Results holds more mastery rows than a report can carry.'],
  tooMuchEvidenceInRow: [
    'unusable',
    'results',
    'Results holds more evidence for a mastery row than a report can carry.',
  ],
  tooMuchEvidence: [
    'unusable',
    'results',
    'Results holds more evidence for the attempt than a report can carry.',
  ],
  noEvidence: ['missing', 'results', 'Results holds a mastery row without evidence.'],
  noEstimate: [
    'missing',
    'results',
    'Results has not settled the estimate or the threshold of a mastery row.',
  ],
  noOutcome: ['missing', 'qti', 'QTI has no scored outcome for evidence of a mastery row.'],
  unknownRow: ['missing', 'case', 'The CASE framework lacks a GUID of the mastery rows.'],
  unknownGap: ['missing', 'case', 'The CASE framework lacks a GUID of the gate’s gaps.'],
  twoKinds: ['contradiction', 'results', 'Results and Content name different test kinds for the attempt.'],
  twoTimes: [
    'contradiction',
    'results',
    'Record and index at Results give an attempt two times of modification.',
  ],
  twoScales: ['contradiction', 'results', 'Score and diagnostic at Results are on two mastery scales.'],
  twoScores: ['contradiction', 'results', 'Score and diagnostic at Results are two scores on one scale.'],
  passBelowThreshold: ['contradiction', 'results', 'The gate is passed at Results below its own threshold.'],
  passWithGaps: ['contradiction', 'results', 'The gate is passed at Results and lists gaps.'],
  failWithoutGaps: ['contradiction', 'results', 'The gate is failed at Results and lists no gap.'],
  gapTwice: ['contradiction', 'results', 'The gate’s list of gaps at Results names one of them twice.'],
  unlistedGap: [
    'contradiction',
    'results',
    'The failed gate at Results does not list every gap of its mastery rows.',
  ],
  otherParent: [
    'contradiction',
    'results',
    'Results gives a mastery row another parent than the CASE framework.',
  ],
  tooFewItems: ['contradiction', 'qti', 'QTI has scored more items than it says that it administered.'],
} as const satisfies Readonly<Record<string, readonly [Reason, SourceService, string]>>;
export type ShortfallName = keyof typeof shortfalls;

/** The problem of facts that make no report of an attempt. */
export function shortfall(name: ShortfallName): Shortfall {
  const [reason, dependency, detail] = shortfalls[name];
  return { ...incomplete(dependency, detail), reason };
}

/** As a result. */
export function fallsShort(name: ShortfallName): Result<never, Shortfall> {
  return err(shortfall(name));
}

/** The problem of the first required source that is not current, in the order of the receipts [RP-087]. */
export function requireCurrent(
  receipts: readonly Pick<SourceRef, 'service' | 'status'>[],
): Shortfall | undefined {
  const outdated = receipts.find(({ status }) => status !== 'current');
  return outdated === undefined
    ? undefined
    : {
        ...incomplete(outdated.service, 'A source that the answer needs is not current at its owner.'),
        reason: 'stale',
      };
}

/** An attempt that QTI has not scored is no report [RP-063]. */
export function checkScored({ evidence }: Pick<AttemptFacts, 'evidence'>): Shortfall | undefined {
  return evidence.value.status === 'scored' ? undefined : shortfall('notScored');
}
