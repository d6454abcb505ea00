import { attemptReport } from '#shared/contract/reports/attempt-report.ts';
import type { AttemptReport, MasteryRow } from '#shared/contract/reports/attempt-report.ts';
import { failedGate } from '#shared/contract/reports/examples.ts';
import { advanceAdaptiveRun } from '#shared/contract/mastery/routes/advance-adaptive-run.ts';
import type { AdaptiveRun } from '#client/index.ts';

/** A run of two measured components and one without evidence, for tests. */
const { success } = advanceAdaptiveRun;
const example: AdaptiveRun = success.schema.parse(success.example);
const reported = example.scale!;

export const sampleRun: AdaptiveRun = {
  ...example,
  status: 'completed',
  selectionPolicyId: 'policy-1',
  scaleCalibrationId: 'calibration-1',
  offeredItem: null,
  kcClassifications: [
    sampleComponent('k-mastered', 'mastered', 0.97, ['q1', 'q3']),
    sampleComponent('k-gap', 'gap', 0.04, ['q2']),
    sampleComponent('k-unasked', 'not_yet', 0.5, []),
  ],
  scaleReportability: 'reportable',
  scale: { ...reported, scaleScore: 512.4375, standardError: 18.25, scaleId: 'scale-1' },
  stopReason: 'max_items',
  remainingUncertainty: 0.6,
  resultRecordRef: 'record-1',
  caliperEventRef: 'urn:uuid:1',
  receiptId: 'receipt-1',
};

/** A classification of the sample's kind. */
export function sampleComponent(
  caseCompetencyGuid: string,
  classification: string,
  posteriorProbability: number,
  evidenceItemRefs: string[],
): AdaptiveRun['kcClassifications'][number] {
  return {
    caseCompetencyGuid,
    caseFrameworkGuid: 'framework-1',
    caseMappingVersion: 'mapping-1',
    classification,
    posteriorProbability,
    cutScore: 0.5,
    confidenceThreshold: 0.8,
    evidenceItemRefs,
  };
}

/** A mastery row of the sample's kind. */
export function sampleRow(
  caseGuid: string,
  state: MasteryRow['state'],
  estimate: number,
  items: readonly string[],
): MasteryRow {
  return {
    ...failedGate.mastery[0]!,
    kind: 'knowledge_component',
    caseGuid,
    parentCaseGuid: 'standard-1',
    state,
    estimate,
    uncertainty: 0.2,
    policyId: 'policy-1',
    evidence: items.map((qtiItemId) => ({
      qtiItemId,
      qtiOutcomeId: `outcome-${qtiItemId}`,
      resultComponentId: `component-${caseGuid}`,
      contribution: state === 'gap' ? -1 : 1,
      observedAt: '2026-03-02T10:15:11.000Z',
    })),
  };
}

/** The report of the sample run as the service gives it, held against its contract. */
export function sampleReport(change: Partial<AttemptReport> = {}): AttemptReport {
  return attemptReport.parse({
    ...failedGate,
    observedAt: '2026-03-02T10:15:30.412Z',
    attemptId: 'attempt-1',
    administrationId: 'administration-1',
    qtiSessionId: null,
    qtiTestId: 'pool-1',
    resultRecordId: 'record-1',
    candidateSourcedId: 'student-1',
    testKind: 'adaptive_diagnostic',
    score: { value: 512.4375, minimum: null, maximum: null, unit: 'mastery_scale', scaleVersion: 'scale-1' },
    mastery: [
      sampleRow('k-mastered', 'mastered', 0.97, ['q1', 'q3']),
      sampleRow('k-gap', 'gap', 0.04, ['q2']),
    ],
    gate: null,
    diagnostic: {
      scaleScore: 512.4375,
      scaleVersion: 'scale-1',
      calibrationVersion: 'calibration-1',
      standardError: 18.25,
      stoppingReason: 'max_items',
      administeredItemCount: 3,
      extNormsSet: null,
    },
    sources: [
      {
        ...failedGate.sources[0]!,
        resourceId: 'attempt-1',
        observedAt: '2026-03-02T10:15:30.352Z',
        version: '"3"',
      },
      {
        ...failedGate.sources[1]!,
        resourceId: 'record-1',
        observedAt: '2026-03-02T10:15:28.312Z',
        version: null,
      },
    ],
    ...change,
  });
}
