import {
  diagnosticDetail,
  MAX_MASTERY_ROWS,
  score,
  testKind,
  type AttemptReport,
  type DiagnosticDetail,
  type GateDecision,
  type Score,
  type TestKind,
} from '#shared/contract/reports/attempt-report.ts';
import { summaryInvariants } from '#shared/contract/reports/invariants/attempt-report.ts';
import { firstBroken } from '#shared/contract/reports/invariants/invariant.ts';
import { compareInstants } from '#shared/kernel/instant.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type { SettledScore } from '#shared/platform/owners/results.ts';
import { contradictory, disagreeing, fallsShort, shortfall, type Shortfall } from '../facts/incomplete.ts';
import { nameOrUnknown } from '../facts/name-or-unknown.ts';
import { decideGate } from './gate-decision.ts';
import type { Framework, HeaderFacts, Moment, Released } from '../facts/facts.ts';

/** The members that every view of a report has on its attempt, without those that the response, a projection and sources add. */
export type ComposedHeader = Omit<
  AttemptReport,
  'object' | 'mastery' | 'sources' | 'omitted' | 'incompleteSections' | keyof Moment
>;

/** Returns the kind of a settled attempt: the one on which Results and Content agree, never a caller's [RP-008]. */
export function settledKind({
  record,
  criteria,
}: Pick<HeaderFacts, 'record' | 'criteria'>): Result<TestKind, Shortfall> {
  if (!record.settled) return fallsShort('notSettled');
  if (record.testKind !== criteria.testKind) return err(disagreeing('one-test-kind'));
  return ok(nameOrUnknown(testKind.options, criteria.testKind));
}

/** Composes the gate. Only a mastery gate has a decision; for any other kind it is null, even if an owner holds one [RP-009, RP-014, RP-015]. */
export function composeGate(
  kind: TestKind,
  { record, criteria }: Pick<HeaderFacts, 'record' | 'criteria'>,
): Result<GateDecision | null, Shortfall> {
  return kind === 'mastery_gate' ? decideGate(record.gate, criteria.criteria) : ok(null);
}

/** Composes the settled score as Results holds it. It reads no outcome, so it cannot compute another value [RP-003, RP-080]. */
function composeScore(settled: SettledScore | null): Result<Score, Shortfall> {
  if (settled === null) return fallsShort('noScore');
  const { value, minimum, maximum, scaleVersion } = settled;
  const unit = nameOrUnknown(score.shape.unit.options, settled.unit);
  if (unit === 'mastery_scale' && scaleVersion === null) return fallsShort('noScale');
  return ok({ value, minimum, maximum, unit, scaleVersion });
}

/** Checks that the diagnostic may be shown: not before the mastery engine is proved with production learners [RP-026]. */
export function checkReleased(proved: Released['proved']): Shortfall | undefined {
  return proved.has('mastery_engine_production_learner') ? undefined : shortfall('unreleased');
}

/**
 * Composes a scale score with its uncertainty, as Results measured it and QTI counted the items; never a pass or fail [RP-012, RP-068]. It names the
 * external scale only if the blueprint has a crosswalk to it [RP-106..RP-108].
 */
function composeDiagnostic({
  attempt: { administeredItemCount },
  record: { diagnostic: settled },
  criteria,
  proved,
}: HeaderFacts & Released): Result<DiagnosticDetail, Shortfall> {
  const unreleased = checkReleased(proved);
  if (unreleased !== undefined) return err(unreleased);
  if (settled === null) return fallsShort('noDiagnostic');
  if (administeredItemCount < 1) return fallsShort('noItem');
  return ok({
    ...settled,
    stoppingReason: nameOrUnknown(diagnosticDetail.shape.stoppingReason.options, settled.stoppingReason),
    administeredItemCount,
    extNormsSet: criteria.externalScale?.normsSet ?? null,
  });
}

/** Returns whether the criteria of a gate cover a standard or knowledge component: all of them, unless Content names some (an assumption). */
export function governedBy({ criteria }: Pick<ReportCriteria, 'criteria'>): (caseGuid: string) => boolean {
  const named = criteria?.governedCaseGuids;
  if (named === undefined) return () => true;
  const governed = new Set(named);
  return (caseGuid) => governed.has(caseGuid);
}

/**
 * Composes the identity of an attempt and its candidate, with score, gate and diagnostic as its kind supports them. Report and page compose the same
 * header from the same facts, and check it against CASE with `checkFramework`. So a page lists no attempt without a report, as these facts show it.
 */
export function composeHeader(facts: HeaderFacts & Released): Result<ComposedHeader, Shortfall> {
  const { attempt, record, criteria, gapRows } = facts;
  const kind = settledKind(facts);
  if (!kind.ok) return kind;
  const settled = composeScore(record.score);
  if (!settled.ok) return settled;
  const gate = composeGate(kind.value, facts);
  if (!gate.ok) return gate;
  const diagnostic = kind.value === 'adaptive_diagnostic' ? composeDiagnostic(facts) : ok(null);
  if (!diagnostic.ok) return diagnostic;
  if (gate.value !== null && gapRows === undefined) return fallsShort('noGapRows');
  if (gapRows !== undefined && gapRows.length > MAX_MASTERY_ROWS) return fallsShort('tooManyRows');
  const broken = firstBroken(summaryInvariants, {
    score: settled.value,
    gate: gate.value,
    diagnostic: diagnostic.value,
    gapRows: gapRows ?? [],
    isGoverned: governedBy(criteria),
  });
  if (broken !== undefined) return err(contradictory(broken));
  return ok({
    attemptId: attempt.attemptId,
    qtiSessionId: attempt.qtiSessionId,
    qtiTestId: attempt.qtiTestId,
    resultRecordId: record.resultRecordId,
    candidateSourcedId: record.candidateSourcedId,
    administrationId: attempt.administrationId,
    contentTestSpecId: attempt.contentTestSpecId,
    testKind: kind.value,
    status: statusOf(gate.value),
    score: settled.value,
    gate: gate.value,
    diagnostic: diagnostic.value,
  });
}

/** Returns the status of an attempt with a report. The attempt is settled: only a gate can leave it open (the reading of RP-104). */
function statusOf(gate: GateDecision | null): AttemptReport['status'] {
  return gate?.status === 'indeterminate' || gate?.status === 'unknown' ? gate.status : 'scored';
}

/** Returns why CASE contradicts a header: a framework older than the one that the test spec was built on is stale; a gap is missing from it. */
export function checkFramework(
  { gate }: Pick<ComposedHeader, 'gate'>,
  { criteria, gapRows = [] }: Pick<HeaderFacts, 'criteria' | 'gapRows'>,
  { changedAt, guids }: Framework,
): Shortfall | undefined {
  if (compareInstants(changedAt, criteria.caseFrameworkChangedAt) < 0) return shortfall('oldFramework');
  return [...(gate?.gapCaseGuids ?? []), ...gapRows].every((guid) => guids.has(guid))
    ? undefined
    : shortfall('unknownGap');
}
