import type * as z from 'zod';
import { omittedBy } from '#shared/contract/reports/attempt-report.ts';
import type { AttemptReport, View, attemptReport } from '#shared/contract/reports/attempt-report.ts';
import { reportInvariants } from '#shared/contract/reports/invariants/attempt-report.ts';
import { firstBroken } from '#shared/contract/reports/invariants/invariant.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import { compareInstants } from '#shared/kernel/instant.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { reportsDocument } from '#shared/problems/document.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { AttemptFacts, Moment, ReportFacts } from '../facts/facts.ts';
import { composeHeader } from './header.ts';
import type { ComposedHeader } from './header.ts';
import { checkScored, contradictory, requireCurrent, shortfall } from '../facts/incomplete.ts';
import type { Shortfall } from '../facts/incomplete.ts';
import { composeMastery } from './mastery-rows.ts';
import type { ComposedRow } from './mastery-rows.ts';

/** A whole report before any projection and without the moment of its answer. */
export interface ComposedAttempt {
  readonly header: ComposedHeader;
  readonly mastery: readonly ComposedRow[];
  /** Rows in state `gap` of which the criteria of the attempt's gate do not speak: assumed to be possible, and counted where it happens. */
  readonly ungovernedGapCount: number;
  readonly sources: readonly SourceRef[];
  /** Why optional sources could not be consulted. */
  readonly enrichmentProblems: readonly Problem[];
}

/**
 * Composes the report of an attempt whose owners agree on its versions (`disagreement`). Every fact is an owner's own; a required one that
 * is absent, not current or contradicts itself is a 503 naming the owner, never a report with less [RP-001, RP-028].
 */
export function composeAttemptReport(facts: ReportFacts): Result<ComposedAttempt, Shortfall> {
  const { evidence, record, criteria, framework, enrichments, proved } = facts;
  const required = requiredReceipts(facts);
  const unfit = requireCurrent(required) ?? checkScored(facts) ?? checkFramework(facts);
  if (unfit !== undefined) return err(unfit);

  const header = composeHeader({
    attempt: evidence.value,
    record: record.value,
    criteria: criteria.value,
    proved,
  });
  if (!header.ok) return header;
  const mastery = composeMastery(record.value.mastery, evidence.value, framework.value);
  if (!mastery.ok) return mastery;
  const { gate } = header.value;
  const { rows, scoredItemCount } = mastery.value;
  const isGoverned = governedBy(criteria.value);
  const broken = firstBroken(reportInvariants, {
    gate,
    mastery: rows,
    isGoverned,
    administeredItemCount: evidence.value.administeredItemCount,
    scoredItemCount,
  });
  if (broken !== undefined) return err(contradictory(broken));
  const unknown = checkKnownGaps(gate?.gapCaseGuids ?? [], framework.value.guids);
  if (unknown !== undefined) return err(unknown);

  return ok({
    header: header.value,
    mastery: rows,
    ungovernedGapCount:
      gate === null
        ? 0
        : rows.filter(({ row: { state, caseGuid } }) => state === 'gap' && !isGoverned(caseGuid)).length,
    sources: [...required, ...enrichments.map(({ receipt }) => receipt)],
    enrichmentProblems: enrichments.flatMap(({ problem }) => problem ?? []),
  });
}

/** The receipts of everything that a report of an attempt cannot go without. */
export function requiredReceipts({
  evidence,
  record,
  criteria,
  candidate,
  framework,
}: Omit<AttemptFacts, 'enrichments'>): readonly SourceRef[] {
  return [evidence.receipt, record.receipt, criteria.receipt, candidate, framework.receipt];
}

/** A framework from before the one that the test spec was built on is stale. */
function checkFramework({ framework, criteria }: AttemptFacts): Shortfall | undefined {
  return compareInstants(framework.value.changedAt, criteria.value.caseFrameworkChangedAt) < 0
    ? shortfall('oldFramework')
    : undefined;
}

/** Whether the criteria of a gate speak of a standard or knowledge component: of all, unless Content names them (an assumption). */
function governedBy({ criteria }: Pick<ReportCriteria, 'criteria'>): (caseGuid: string) => boolean {
  const named = criteria?.governedCaseGuids;
  if (named === undefined) return () => true;
  const governed = new Set(named);
  return (caseGuid) => governed.has(caseGuid);
}

/** Every gap can be looked up in CASE. */
function checkKnownGaps(gapCaseGuids: readonly string[], guids: ReadonlySet<string>): Shortfall | undefined {
  return gapCaseGuids.every((guid) => guids.has(guid)) ? undefined : shortfall('unknownGap');
}

/**
 * The report as a view shows it, at the moment of its answer. Views differ in `mastery` and `omitted`, in nothing else [RP-075].
 * @param problemsUrl base of the types of the problems inside it
 */
export function projectAttemptReport(
  { header, mastery, sources, enrichmentProblems }: ComposedAttempt,
  view: View,
  moment: Moment,
  problemsUrl: string,
): z.input<typeof attemptReport> {
  return {
    object: 'attempt_report',
    ...header,
    mastery: projectMastery(mastery, view),
    sources: [...sources],
    omitted: [...omittedBy[view]],
    incompleteSections: enrichmentProblems.map((problem) =>
      reportsDocument(problem, { ...moment, problemsUrl }),
    ),
    ...moment,
  };
}

function projectMastery(mastery: readonly ComposedRow[], view: View): AttemptReport['mastery'] {
  switch (view) {
    case 'summary':
      return [];
    case 'standards':
      return mastery.map(({ row }) => row);
    case 'evidence':
      return mastery.map(({ row, evidence }) => ({ ...row, evidence }));
  }
}
