import type * as z from 'zod';
import { omittedBy } from '#shared/contract/reports/attempt-report.ts';
import type { AttemptReport, View, attemptReport } from '#shared/contract/reports/attempt-report.ts';
import { reportInvariants } from '#shared/contract/reports/invariants/attempt-report.ts';
import { firstBroken } from '#shared/contract/reports/invariants/invariant.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { reportsDocument } from '#shared/problems/document.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { AttemptFacts, Moment, ReportFacts } from '../facts/facts.ts';
import { checkFramework, composeHeader, governedBy, type ComposedHeader } from './header.ts';
import { checkScored, contradictory, requireCurrent, type Shortfall } from '../facts/incomplete.ts';
import { composeMastery, type ComposedRow } from './mastery-rows.ts';

/** A whole report before any projection and without the time of its response. */
export interface ComposedAttempt {
  readonly header: ComposedHeader;
  readonly mastery: readonly ComposedRow[];
  /** Rows in state `gap` that the criteria of the attempt's gate do not cover: assumed to be possible, and counted where it happens. */
  readonly ungovernedGapCount: number;
  readonly sources: readonly SourceRef[];
  /** Why optional sources could not be consulted. */
  readonly enrichmentProblems: readonly Problem[];
}

/**
 * Composes the report of an attempt whose owners agree on its versions (`disagreement`). Every fact is an owner's own. If a required one is absent,
 * not current or contradicts itself, the result is a 503 naming the owner, never a partial report [RP-001, RP-028].
 */
export function composeAttemptReport(facts: ReportFacts): Result<ComposedAttempt, Shortfall> {
  const { evidence, record, criteria, framework, enrichments, proved } = facts;
  const required = requiredReceipts(facts);
  const unfit = requireCurrent(required) ?? checkScored(facts);
  if (unfit !== undefined) return err(unfit);

  const gapRows = record.value.mastery.filter(({ state }) => state === 'gap').map(({ caseGuid }) => caseGuid);
  const headerFacts = { attempt: evidence.value, record: record.value, criteria: criteria.value, gapRows };
  const header = composeHeader({ ...headerFacts, proved });
  if (!header.ok) return header;
  const unverified = checkFramework(header.value, headerFacts, framework.value);
  if (unverified !== undefined) return err(unverified);
  const mastery = composeMastery(record.value.mastery, evidence.value, framework.value);
  if (!mastery.ok) return mastery;
  const { gate } = header.value;
  const { rows, scoredItemCount } = mastery.value;
  const isGoverned = governedBy(criteria.value);
  const broken = firstBroken(reportInvariants, {
    gate,
    mastery: rows,
    administeredItemCount: evidence.value.administeredItemCount,
    scoredItemCount,
  });
  if (broken !== undefined) return err(contradictory(broken));

  return ok({
    header: header.value,
    mastery: rows,
    ungovernedGapCount: gate === null ? 0 : gapRows.filter((guid) => !isGoverned(guid)).length,
    sources: [...required, ...enrichments.map(({ receipt }) => receipt)],
    enrichmentProblems: enrichments.flatMap(({ problem }) => problem ?? []),
  });
}

/** Returns the receipts of every source that a report of an attempt requires. */
export function requiredReceipts({
  evidence,
  record,
  criteria,
  candidate,
  framework,
}: Omit<AttemptFacts, 'enrichments'>): readonly SourceRef[] {
  return [evidence.receipt, record.receipt, criteria.receipt, candidate, framework.receipt];
}

/**
 * Returns the report as a view shows it, at the time of its response. Views differ only in `mastery` and `omitted` [RP-075].
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
