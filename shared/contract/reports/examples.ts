/** The bodies that the rows of the routes, and so the OpenAPI document, show as examples. */
import type * as z from 'zod';
import type { alignmentReport } from './alignment-report.ts';
import type { cohortReport } from './cohort-report.ts';
import type { improvementRun } from './improvement-run.ts';
import type { revisionOrderPage } from './revision-order.ts';
import * as sandbox from './sandbox-fixtures.ts';
import type { sourceRef, SourceRef } from './source-ref.ts';

const observedAt = '2026-03-02T10:15:30.412Z';
export const correlation = {
  requestId: '0f8e6d1c-6f0b-4a57-9d3e-2b7f4c1a9e55',
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
};

/** Returns the receipt of a fact that an owner has confirmed, at that second of the minute of the examples. */
function receipt(
  service: SourceRef['service'],
  resourceId: string,
  version: string,
  second: string,
): z.input<typeof sourceRef> {
  return { service, resourceId, observedAt: `2026-03-02T10:15:${second}Z`, version, status: 'current' };
}

const gapGuid = 'b7d3a1de-52f5-4b0c-8f8e-3d0a5a3f9c21';

export const failedGate = sandbox.viewOf(sandbox.masteryGate, 'evidence', correlation);
export const materialized = sandbox.materialized(correlation);
export const page = sandbox.pageWith([sandbox.masteryGate, sandbox.adaptiveDiagnostic], null, correlation);
export const notReady = { ...sandbox.notReady, ...correlation };
export const equivalentForms = { ...sandbox.equivalent, ...correlation };

const analyticsReceipt = {
  service: 'analytics',
  observedAt: '2026-03-02T10:15:30.377Z',
  status: 'current',
} as const;

export const classCohort: z.input<typeof cohortReport> = {
  object: 'cohort_report',
  scope: { type: 'class', classSourcedId: 'class-5b' },
  rollupId: 'rollup-5b-2026-03-01',
  formulaVersion: 'mastery-rate-2',
  asOf: '2026-03-01T22:00:00.000Z',
  populationCount: 27,
  suppression: { status: 'not_suppressed' },
  measures: [{ name: 'mastery_rate', value: 0.63, unit: 'proportion' }],
  source: { ...analyticsReceipt, resourceId: 'rollup-5b-2026-03-01', version: '61' },
  observedAt,
  ...correlation,
};

export const schoolGradeCohort: z.input<typeof cohortReport> = {
  object: 'cohort_report',
  scope: { type: 'school_grade', schoolSourcedId: 'school-north', grade: '05' },
  rollupId: 'rollup-north-05-2026-03-01',
  formulaVersion: 'mastery-rate-2',
  asOf: '2026-03-01T22:00:00.000Z',
  populationCount: 4,
  suppression: { status: 'suppressed' },
  source: { ...analyticsReceipt, resourceId: 'rollup-north-05-2026-03-01', version: '17' },
  observedAt,
  ...correlation,
};

const sourceSetReceipt = receipt('blueprint', 'alignment-sources-fractions-grade-5', '12', '30.352');
const difficultyReceipt = {
  ...analyticsReceipt,
  resourceId: 'artifact-item-difficulty-811',
  version: 'sha256:5f1c0a4bd3b6a4d7d2a1b0f86c35f2b0c5a9b59b7e3a4f0dd1c7b1c2f6e0a913',
} as const;

const available = {
  status: 'available',
  populationCount: 412,
  sampleCount: 405,
  suppressionStatus: 'not_suppressed',
  suppressionRule: null,
  analysisWindow: { start: '2026-02-01T00:00:00Z', end: '2026-02-28T23:59:59Z' },
  formulaVersion: 'classical-2',
  reasonCode: null,
} as const;

const run = {
  object: 'improvement_run',
  improvementRunId: 'run_6f0b4a57-9d3e-8b7f-8c1a-9e550f8e6d1c',
  administrationId: 'administration-spring-5',
  contentTestSpecId: 'spec-fractions-grade-5',
  contentTestSpecVersion: '12',
  analysisPolicyId: 'revision-thresholds',
  analysisPolicyVersion: '2026.1',
  formulaVersion: 'alignment-v1',
  namedSourceCount: 2,
  createdAt: '2026-03-02T10:15:30.331Z',
  observedAt,
  ...correlation,
} as const;

export const queuedRun: z.input<typeof improvementRun> = {
  ...run,
  status: 'queued',
  metricStatuses: [
    { metric: 'item_difficulty', artifactRef: 'artifact-item-difficulty-811', ...available },
    { metric: 'item_discrimination', artifactRef: 'artifact-item-discrimination-811', ...available },
    { metric: 'distractor_distribution', artifactRef: 'artifact-distractors-811', ...available },
    { metric: 'form_summary', artifactRef: 'artifact-form-summary-811', ...available },
  ],
  alignmentRecordCount: 0,
  revisionOrderCount: 0,
  blockedOrderCount: 0,
  omissions: [],
  receipt: null,
  completedAt: null,
  sourceKeys: ['state-math-5.2025', 'college-entrance.2024'],
  sources: [sourceSetReceipt, difficultyReceipt],
};

const bundle = 'a3c1f2b09d4e5a6b7c8d9e0f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d';
const link = {
  mediaType: 'application/json',
  sha256: bundle,
  downloadUrl: `https://receipts.mastery-reports.example/${bundle}?expires=1772446830&signature=eyJhbGciOiJkaXIi.AAAA`,
  expiresAt: '2026-03-02T10:20:30.000Z',
} as const;

export const completedRun: z.input<typeof improvementRun> = {
  ...queuedRun,
  status: 'completed_with_omissions',
  metricStatuses: [
    { metric: 'item_difficulty', artifactRef: 'artifact-item-difficulty-811', ...available },
    {
      ...available,
      metric: 'item_discrimination',
      status: 'suppressed',
      artifactRef: 'artifact-item-discrimination-811',
      populationCount: null,
      sampleCount: null,
      suppressionStatus: 'suppressed',
      suppressionRule: 'fewer than 10 responses',
      reasonCode: 'suppressed',
    },
    {
      metric: 'distractor_distribution',
      status: 'unavailable',
      artifactRef: null,
      populationCount: null,
      sampleCount: null,
      suppressionStatus: 'unknown',
      suppressionRule: null,
      analysisWindow: { start: null, end: null },
      formulaVersion: null,
      reasonCode: 'owner_artifact_missing',
    },
    { metric: 'form_summary', artifactRef: 'artifact-form-summary-811', ...available },
  ],
  alignmentRecordCount: 2,
  revisionOrderCount: 3,
  omissions: ['item_discrimination', 'distractor_distribution'],
  receipt: link,
  completedAt: '2026-03-02T10:15:33.902Z',
};

export const alignment: z.input<typeof alignmentReport> = {
  object: 'alignment_report',
  improvementRunId: run.improvementRunId,
  sourceKey: 'state-math-5.2025',
  sourceAssessment: 'State mathematics assessment, grade 5',
  sourceVersion: '2025',
  contentTestSpecId: 'spec-fractions-grade-5',
  contentTestSpecVersion: '12',
  crosswalkHash: '5f1c0a4bd3b6a4d7d2a1b0f86c35f2b0c5a9b59b7e3a4f0dd1c7b1c2f6e0a913',
  formulaVersion: 'alignment-v1',
  numerator: 2,
  denominator: 3.5,
  alignmentPercent: 57.142857,
  contributions: [
    {
      sourceRequirementId: 'requirement-5.NF.1',
      caseGuid: gapGuid,
      blueprintSlotId: 'slot-3',
      weight: 2,
      coverage: 1,
      rigor: 1,
      sourceDok: 2,
      targetDok: 3,
      weightedContribution: 2,
      reasonCode: null,
    },
    {
      sourceRequirementId: 'requirement-5.NF.7',
      caseGuid: null,
      blueprintSlotId: null,
      weight: 1.5,
      coverage: 0,
      rigor: 0,
      sourceDok: 2,
      targetDok: null,
      weightedContribution: 0,
      reasonCode: 'missing_mapping',
    },
  ],
  predictedActual: {
    artifactRef: 'artifact-comparison-811',
    populationCount: 390,
    suppressionStatus: 'not_suppressed',
    suppressionRule: null,
    method: 'pass classification',
    analysisVersion: 'external-2',
    predictedPassCount: 301,
    actualPassCount: 288,
    agreementCount: 371,
    observedAgreement: 0.951282,
  },
  limitations: ['1 of 2 source requirements has no mapping to the blueprint.'],
  receipt: link,
  sources: [
    { ...sourceSetReceipt, resourceId: 'crosswalk-state-math-5' },
    { ...analyticsReceipt, resourceId: 'artifact-comparison-811', version: '1' },
  ],
  observedAt,
  ...correlation,
};

export const revisionOrders: z.input<typeof revisionOrderPage> = {
  data: [
    {
      revisionOrderId: 'order_2b7f4c1a-9e55-8f8e-8d1c-6f0b4a579d3e',
      improvementRunId: run.improvementRunId,
      administrationId: 'administration-spring-5',
      targetModule: 'bank',
      requestedAction: 'rotate_item',
      qtiItemId: 'item-fractions-17',
      qtiFormId: 'form-fractions-5-a',
      qtiTestId: 'form-fractions-5-a',
      contentTestSpecId: 'spec-fractions-grade-5',
      contentTestSpecVersion: '12',
      caseGuids: [gapGuid],
      sourceKeys: [],
      reasonCodes: ['difficulty_out_of_band'],
      observedMetric: { name: 'proportion_correct', value: 0.97, unit: 'proportion' },
      threshold: { operator: 'gt', value: 0.95 },
      analysisPolicyId: 'revision-thresholds',
      analysisPolicyVersion: '2026.1',
      evidenceRefs: [difficultyReceipt],
      status: 'accepted',
      targetReceipt: receipt('bank', 'bank-receipt-3310', '1', '33.714'),
      supersedesRevisionOrderId: null,
      createdAt: '2026-03-02T10:15:30.331Z',
      updatedAt: '2026-03-02T10:15:33.714Z',
    },
  ],
  nextCursor: null,
  hasMore: false,
  observedAt,
  sources: [sourceSetReceipt, difficultyReceipt],
};
