/** The reports of the synthetic sandbox. The OpenAPI document of production shows them too, so that a reader can ask for what it shows. */
import type * as z from 'zod';
import { omittedBy } from './attempt-report.ts';
import type { attemptReport, attemptReportPage, MasteryRow, View } from './attempt-report.ts';
import type { equivalenceReport } from './equivalence-report.ts';
import type { materializeResponse } from './materialize.ts';
import type { readinessReport } from './readiness-report.ts';
import type { SourceRef } from './source-ref.ts';

/** The ids to call the sandbox with. */
export const sandboxIds = {
  /** Its gate was failed. */
  masteryGateAttempt: 'sandbox-attempt-mastery-gate',
  adaptiveDiagnosticAttempt: 'sandbox-attempt-adaptive-diagnostic',
  /** The candidate of both attempts. */
  candidate: 'sandbox-candidate',
  /** The form of the mastery gate. */
  form: 'sandbox-form-a',
} as const;

/** The subjects of the sandbox's reports: standards and knowledge components with the names that people know them by. */
export const sandboxStandards = {
  /** The gap of the mastery gate. */
  gap: { caseGuid: '5a4d0b0c-0000-4000-8000-000000000001', name: 'Add fractions with unlike denominators' },
  /** The standard of the adaptive diagnostic, which consists of the two components below. */
  diagnosed: {
    caseGuid: '5a4d0b0c-0000-4000-8000-000000000010',
    name: 'Subtract fractions and mixed numbers',
  },
  masteredComponent: { caseGuid: '5a4d0b0c-0000-4000-8000-000000000011', name: 'Find a common denominator' },
  gapComponent: {
    caseGuid: '5a4d0b0c-0000-4000-8000-000000000012',
    name: 'Borrow one from the whole number',
  },
} as const;

/** The time at which every response was composed. */
export const composedAt = '2026-01-15T09:00:00.000Z';

type Report = z.input<typeof attemptReport>;
/** The ids of one response. */
export type Correlation = Pick<Report, 'requestId' | 'traceId'>;
type Uncorrelated<T> = Omit<T, keyof Correlation>;

/** A report with all that its views show, and the additional facts that the list of a candidate's reports has on it. */
export interface AttemptFixture {
  readonly report: Omit<Uncorrelated<Report>, 'omitted'>;
  /** When Results last changed its record. */
  readonly modifiedAt: string;
}

function receipt(service: SourceRef['service'], resourceId: string, version: string): SourceRef {
  return { service, resourceId, observedAt: composedAt, version, status: 'current' };
}

const candidateReceipt = receipt('oneroster', sandboxIds.candidate, '"sandbox-candidate-1"');
const frameworkReceipt = receipt('case', '5a4d0b0c-0000-4000-8000-0000000000f0', '"sandbox-framework-1"');
const gateSpecReceipt = receipt('content', 'sandbox-test-spec-gate', '4');
const diagnosticSpecReceipt = receipt('content', 'sandbox-test-spec-diagnostic', '2');
const gateAttemptReceipt = receipt('qti', sandboxIds.masteryGateAttempt, '3');
const gateRecordReceipt = receipt('results', 'sandbox-result-gate', '5');

const gapGuid = sandboxStandards.gap.caseGuid;

/** An attempt that failed its gate for one gap [RP-035]. */
export const masteryGate: AttemptFixture = {
  report: {
    object: 'attempt_report',
    attemptId: sandboxIds.masteryGateAttempt,
    qtiSessionId: 'sandbox-session-gate',
    qtiTestId: sandboxIds.form,
    resultRecordId: gateRecordReceipt.resourceId,
    candidateSourcedId: sandboxIds.candidate,
    administrationId: 'sandbox-administration-gate',
    contentTestSpecId: gateSpecReceipt.resourceId,
    testKind: 'mastery_gate',
    status: 'scored',
    score: { value: 14, minimum: 0, maximum: 20, unit: 'points', scaleVersion: null },
    mastery: [
      {
        kind: 'standard',
        caseGuid: gapGuid,
        parentCaseGuid: null,
        state: 'gap',
        estimate: 0.35,
        threshold: 0.8,
        uncertainty: 0.07,
        uncertaintyKind: 'standard_error',
        confidence: null,
        policyId: 'sandbox-mastery-policy',
        policyVersion: '1',
        evidence: [evidence('gate-7', -0.25), evidence('gate-8', -0.2)],
      },
    ],
    gate: {
      status: 'fail',
      criteriaVersion: 'sandbox-criteria-1',
      achieved: 0.7,
      required: 0.8,
      gapCaseGuids: [gapGuid],
      coverageEvidenceId: 'sandbox-coverage-1',
    },
    diagnostic: null,
    sources: [gateAttemptReceipt, gateRecordReceipt, gateSpecReceipt, candidateReceipt, frameworkReceipt],
    incompleteSections: [],
    observedAt: composedAt,
  },
  modifiedAt: '2026-01-14T15:20:00.000Z',
};

const standardGuid = sandboxStandards.diagnosed.caseGuid;
const diagnosticRow = {
  threshold: 0.8,
  uncertaintyKind: 'standard_error',
  confidence: 0.8,
  policyId: 'sandbox-selection-policy',
  policyVersion: '1',
} as const;

/** An attempt at an adaptive test: a standard not yet mastered, of which one component is and another is a gap [RP-036]. */
export const adaptiveDiagnostic: AttemptFixture = {
  report: {
    object: 'attempt_report',
    attemptId: sandboxIds.adaptiveDiagnosticAttempt,
    qtiSessionId: 'sandbox-session-diagnostic',
    qtiTestId: 'sandbox-form-adaptive',
    resultRecordId: 'sandbox-result-diagnostic',
    candidateSourcedId: sandboxIds.candidate,
    administrationId: 'sandbox-administration-diagnostic',
    contentTestSpecId: diagnosticSpecReceipt.resourceId,
    testKind: 'adaptive_diagnostic',
    status: 'scored',
    score: {
      value: 512.4,
      minimum: 200,
      maximum: 800,
      unit: 'mastery_scale',
      scaleVersion: 'sandbox-scale-1',
    },
    mastery: [
      {
        ...diagnosticRow,
        kind: 'standard',
        caseGuid: standardGuid,
        parentCaseGuid: null,
        state: 'not_yet',
        estimate: 0.62,
        uncertainty: 0.09,
        evidence: [evidence('adaptive-1', 0.14), evidence('adaptive-3', -0.11)],
      },
      {
        ...diagnosticRow,
        kind: 'knowledge_component',
        caseGuid: sandboxStandards.masteredComponent.caseGuid,
        parentCaseGuid: standardGuid,
        state: 'mastered',
        estimate: 0.94,
        uncertainty: 0.03,
        evidence: [evidence('adaptive-1', 0.31), evidence('adaptive-2', 0.22)],
      },
      {
        ...diagnosticRow,
        kind: 'knowledge_component',
        caseGuid: sandboxStandards.gapComponent.caseGuid,
        parentCaseGuid: standardGuid,
        state: 'gap',
        estimate: 0.12,
        uncertainty: 0.05,
        evidence: [evidence('adaptive-3', -0.34), evidence('adaptive-4', -0.19)],
      },
    ],
    gate: null,
    diagnostic: {
      scaleScore: 512.4,
      scaleVersion: 'sandbox-scale-1',
      calibrationVersion: 'sandbox-calibration-1',
      standardError: 21.6,
      stoppingReason: 'classifications_complete',
      administeredItemCount: 4,
      extNormsSet: null,
    },
    sources: [
      receipt('qti', sandboxIds.adaptiveDiagnosticAttempt, '9'),
      receipt('results', 'sandbox-result-diagnostic', '2'),
      diagnosticSpecReceipt,
      candidateReceipt,
      frameworkReceipt,
    ],
    incompleteSections: [],
    observedAt: composedAt,
  },
  modifiedAt: '2026-01-12T10:05:00.000Z',
};

function evidence(item: string, contribution: number): NonNullable<MasteryRow['evidence']>[number] {
  return {
    qtiItemId: `sandbox-item-${item}`,
    qtiOutcomeId: `sandbox-outcome-${item}`,
    resultComponentId: `sandbox-component-${item}`,
    contribution,
    observedAt: item.startsWith('gate') ? '2026-01-14T15:10:00.000Z' : '2026-01-12T09:55:00.000Z',
  };
}

export function viewOf({ report }: AttemptFixture, view: View, correlation: Correlation): Report {
  const omitted = omittedBy[view];
  const rows = omitted.includes('itemEvidence')
    ? report.mastery.map((row) => ({ ...row, evidence: undefined }))
    : report.mastery;
  return {
    ...report,
    mastery: omitted.includes('mastery') ? [] : rows,
    omitted: [...omitted],
    ...correlation,
  };
}

/** The receipts that a row of a list has: it is composed without QTI and CASE. */
const rowServices: readonly string[] = ['results', 'content', 'oneroster'];

export function pageWith(
  fixtures: readonly AttemptFixture[],
  nextCursor: string | null,
  correlation: Correlation,
): z.input<typeof attemptReportPage> {
  const data = fixtures
    .map((fixture) => viewOf(fixture, 'summary', correlation))
    .map((row) => ({ ...row, sources: row.sources.filter(({ service }) => rowServices.includes(service)) }));
  const specs = data.flatMap(({ sources }) => sources.filter(({ service }) => service === 'content'));
  const index = receipt('results', sandboxIds.candidate, '12');
  return {
    data,
    nextCursor,
    hasMore: nextCursor !== null,
    observedAt: composedAt,
    sources: [index, candidateReceipt, ...specs],
  };
}

/** What the failed gate implies: not ready, for every crosswalk [RP-040]. */
export const notReady: Uncorrelated<z.input<typeof readinessReport>> = {
  object: 'readiness_report',
  attemptId: sandboxIds.masteryGateAttempt,
  entries: [
    {
      decision: 'not_ready',
      sourceTest: 'Sandbox Mathematics Assessment 5',
      sourceVersion: '2026',
      crosswalkVersion: 'sandbox-crosswalk-1',
      coverageFraction: 1,
      dokDominance: 'satisfied',
      qualifyingBlueprintSlotIds: ['sandbox-slot-1', 'sandbox-slot-2'],
      decisionRuleId: 'gate-implies-readiness',
      decisionRuleVersion: '2',
      limitations: [],
    },
  ],
  sources: [
    gateAttemptReceipt,
    gateRecordReceipt,
    gateSpecReceipt,
    candidateReceipt,
    receipt('blueprint', 'sandbox-crosswalks', '1'),
  ],
  observedAt: composedAt,
};

/** The form of the gate and a parallel form [RP-041]. */
export const equivalent: Uncorrelated<z.input<typeof equivalenceReport>> = {
  object: 'equivalence_report',
  qtiTestId: sandboxIds.form,
  comparisonQtiTestIds: ['sandbox-form-b'],
  contentTestSpecId: gateSpecReceipt.resourceId,
  coverageMatch: true,
  dokMatch: true,
  sampleSizes: { [sandboxIds.form]: 240, 'sandbox-form-b': 236 },
  method: 'two one-sided tests',
  analysisVersion: 'sandbox-equivalence-1',
  statistic: 0.01,
  confidenceInterval: { lower: -0.012, upper: 0.032 },
  tolerance: 0.05,
  decision: 'equivalent',
  evidenceArtifactUrl: 'https://analytics.platform.example/artifacts/sandbox-equivalence-1',
  sources: [
    receipt('qti', sandboxIds.form, '1'),
    receipt('analytics', 'sandbox-equivalence', '1'),
    gateSpecReceipt,
    receipt('blueprint', 'sandbox-form-evidence', '1'),
  ],
  observedAt: composedAt,
};

/** Returns the one operation that every materialization is [RP-037]. */
export function materialized(correlation: Correlation): z.input<typeof materializeResponse> {
  const report = viewOf(masteryGate, 'summary', correlation);
  const event = receipt('caliper', 'urn:uuid:5a4d0b0c-0000-4000-8000-0000000000ca', '"sandbox-event-1"');
  return {
    operationId: 'op_SandboxFixedOperation0',
    report: { ...report, sources: [...report.sources, event] },
  };
}
