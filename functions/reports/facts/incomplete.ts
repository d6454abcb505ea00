import type { WithheldReason } from '#shared/contract/reports/attempt-report.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import { attemptStatements } from '#shared/contract/reports/invariants/attempt-report.ts';
import type { Broken } from '#shared/contract/reports/invariants/invariant.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import { err, type Result } from '#shared/kernel/result.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { AttemptFacts } from './facts.ts';

/**
 * Returns the problem of an owner whose response lacks a fact that this response needs, or contradicts itself: the service invents nothing instead.
 * @param detail a constant sentence that names the missing fact
 */
export function incomplete(dependency: SourceService, detail: string): Problem {
  return problem('reports', 'dependency-incomplete', 503, { dependency, detail });
}

/** Returns the problem of an owner that cannot be used for this response. @param detail a constant sentence */
export function unavailable(dependency: SourceService, detail: string): Problem {
  return problem('reports', 'dependency-unavailable', 503, { dependency, detail });
}

/**
 * Why facts give no report of an attempt. `unsettled`: it is not scored or settled, or lacks a settled fact that its summary needs. `stale`: a source
 * is not current. `unreleased`: the release does not prove reports of its kind. `missing`: an owner lacks evidence beyond the summary. `unusable`: a
 * fact breaks its own bounds, or a limit of the response. `contradiction`: two facts cannot both be true.
 */
type Reason = WithheldReason | 'missing' | 'unusable' | 'contradiction';

/** The problem of facts that give no report, and why: a page and readiness do not fail for every reason. */
export interface Shortfall extends Problem {
  readonly reason: Reason;
}

/** Seconds that a caller waits for an owner to correct facts that cannot be true. */
const RETRY_AFTER_CONTRADICTION_SECONDS = 300;

/** Returns the problem of a response that violates one of its invariants. */
export function contradictory({ id, owner, broken, reason }: Broken): Shortfall {
  const detail = `${broken} Invariant: ${id}.`;
  return {
    ...problem('reports', 'dependency-incomplete', 503, {
      dependency: owner,
      detail,
      retryAfterSeconds: RETRY_AFTER_CONTRADICTION_SECONDS,
    }),
    reason: reason ?? 'contradiction',
    invariant: id,
  };
}

/** Every reason why the facts of one attempt give no report: the reason, whose fact it is, and a sentence on what is wrong. */
const shortfalls = {
  ...because('unreleased', 'mastery_engine', {
    unreleased: 'Evidence of the mastery engine from production learners is not there yet.',
  }),
  ...because('unsettled', 'qti', { notScored: 'QTI has not scored the attempt.' }),
  ...because('unsettled', 'results', {
    noRecord: 'Results has no record of a scored attempt.',
    notSettled: 'Results has not settled the record of the attempt.',
    noScore: 'Results has not settled the score of the attempt.',
    noScale: 'The settled score is on a mastery scale whose version Results does not name.',
    noDiagnostic: 'Results has no diagnostic of the adaptive attempt.',
  }),
  ...because('unsettled', 'content', {
    noCriteria: 'Neither Results nor Content names the version and the threshold of the gate’s criteria.',
  }),
  ...because('stale', 'case', {
    oldFramework: 'The CASE framework is older than the one that the test spec was built on.',
  }),
  ...because('unusable', 'results', {
    tooManyRows: 'Results has more mastery rows than a report can contain.',
    tooMuchEvidenceInRow: 'Results has more evidence for a mastery row than a report can contain.',
    tooMuchEvidence: 'Results has more evidence for the attempt than a report can contain.',
  }),
  ...because('unusable', 'qti', {
    noItem: 'QTI counts no administered item for the adaptive attempt.',
    outcomeTwice: 'QTI names an outcome of the attempt twice.',
  }),
  ...because('missing', 'results', {
    noEvidence: 'Results has a mastery row without evidence.',
    noGapRows: 'Results does not state which mastery rows of the gate are gaps.',
    noEstimate: 'Results has not settled the estimate or the threshold of a mastery row.',
  }),
  ...because('missing', 'qti', {
    noOutcome: 'QTI has no scored outcome for evidence of a mastery row.',
  }),
  ...because('missing', 'case', {
    unknownRow: 'The CASE framework lacks a GUID of the mastery rows.',
    unknownGap: 'The CASE framework lacks a GUID of the attempt’s gaps.',
  }),
};
export type ShortfallName = keyof typeof shortfalls;

/** Returns the shortfalls of one owner for one reason, by their names. */
function because<Name extends string>(
  reason: Exclude<Reason, 'contradiction'>,
  dependency: SourceService,
  details: Readonly<Record<Name, string>>,
): Readonly<Record<Name, Shortfall>> {
  const entries = Object.entries<string>(details);
  // SAFETY: every name of the details has its entry.
  return Object.fromEntries(
    entries.map(([name, detail]) => [name, { ...incomplete(dependency, detail), reason }]),
  ) as Record<Name, Shortfall>;
}

/** Returns the problem of responses about an attempt that contradict each other. */
export function disagreeing(id: keyof typeof attemptStatements): Shortfall {
  return contradictory({ id, ...attemptStatements[id] });
}

/** Returns the problem of facts that give no report of an attempt. */
export function shortfall(name: ShortfallName): Shortfall {
  return shortfalls[name];
}

/** Returns a shortfall as a result. */
export function fallsShort(name: ShortfallName): Result<never, Shortfall> {
  return err(shortfall(name));
}

/** Returns the problem of the first required source that is not current, in the order of the receipts [RP-087]. */
export function requireCurrent(
  receipts: readonly Pick<SourceRef, 'service' | 'status'>[],
): Shortfall | undefined {
  const outdated = receipts.find(({ status }) => status !== 'current');
  return outdated === undefined
    ? undefined
    : {
        ...incomplete(outdated.service, 'A source that the response needs is not current at its owner.'),
        reason: 'stale',
      };
}

/** Checks that QTI has scored the attempt: otherwise there is no report [RP-063]. */
export function checkScored({ evidence }: Pick<AttemptFacts, 'evidence'>): Shortfall | undefined {
  return evidence.value.status === 'scored' ? undefined : shortfall('notScored');
}
