import { decideGate } from '#functions/reports/composition/gate-decision.ts';
import { masteryRow, score, testKind, type AttemptReport } from '#shared/contract/reports/attempt-report.ts';
import { stopReason } from '#shared/contract/stop-reason.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type { AttemptEvidence } from '#shared/platform/owners/qti.ts';
import type { SettledRecord } from '#shared/platform/owners/results.ts';

/** A report without what names its request, its sources and its view. */
export type ReportedFacts = Omit<
  AttemptReport,
  'sources' | 'omitted' | 'incompleteSections' | 'observedAt' | 'requestId' | 'traceId'
>;

const nameIn = <Name extends string>(names: readonly Name[], value: string): Name | 'unknown' =>
  names.find((name) => name === value) ?? 'unknown';

/** What the view `evidence` shows of an attempt, member by member, as the owners' own facts make it. */
export function expectedReport(
  evidence: Omit<AttemptEvidence, 'tenantId'>,
  record: Omit<SettledRecord, 'tenantId'>,
  criteria: Omit<ReportCriteria, 'tenantId'>,
): ReportedFacts {
  const decided = record.testKind === 'mastery_gate' ? decideGate(record.gate, criteria.criteria) : undefined;
  const gate = decided?.ok ? decided.value : null;
  const diagnostic = record.testKind === 'adaptive_diagnostic' ? record.diagnostic : null;
  const outcomes = new Map(
    evidence.outcomes.map(({ qtiItemId, qtiOutcomeId, scoredAt }) => [
      JSON.stringify([qtiItemId, qtiOutcomeId]),
      scoredAt,
    ]),
  );
  return {
    object: 'attempt_report',
    attemptId: evidence.attemptId,
    qtiSessionId: evidence.qtiSessionId,
    qtiTestId: evidence.qtiTestId,
    resultRecordId: record.resultRecordId,
    candidateSourcedId: evidence.candidateSourcedId,
    administrationId: evidence.administrationId,
    contentTestSpecId: evidence.contentTestSpecId,
    testKind: nameIn(testKind.options, record.testKind),
    status: gate?.status === 'indeterminate' || gate?.status === 'unknown' ? gate.status : 'scored',
    score: { ...record.score!, unit: nameIn(score.shape.unit.options, record.score!.unit) },
    mastery: record.mastery.map((row) => ({
      ...row,
      state: nameIn(masteryRow.shape.state.options, row.state),
      estimate: row.estimate!,
      threshold: row.threshold!,
      confidence: row.confidence ?? null,
      uncertaintyKind: nameIn(masteryRow.shape.uncertaintyKind.options, row.uncertaintyKind),
      evidence: row.evidence.map((part) => ({
        ...part,
        observedAt: outcomes.get(JSON.stringify([part.qtiItemId, part.qtiOutcomeId]))!,
      })),
    })),
    gate,
    diagnostic: diagnostic && {
      ...diagnostic,
      stoppingReason: nameIn(stopReason.options, diagnostic.stoppingReason),
      administeredItemCount: evidence.administeredItemCount,
      extNormsSet: criteria.externalScale?.normsSet ?? null,
    },
  };
}
