/** The bodies that the rows of the routes, and so the OpenAPI document, show as examples. */
import type * as z from 'zod';
import type { attemptReport, attemptReportPage } from './attempt-report.ts';
import type { cohortReport } from './cohort-report.ts';
import type { equivalenceReport } from './equivalence-report.ts';
import type { materializeResponse } from './materialize.ts';
import type { readinessReport } from './readiness-report.ts';

const observedAt = '2026-03-02T10:15:30.412Z';
const correlation = {
  requestId: '0f8e6d1c-6f0b-4a57-9d3e-2b7f4c1a9e55',
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
};

const gapGuid = 'b7d3a1de-52f5-4b0c-8f8e-3d0a5a3f9c21';

const resultsReceipt = {
  service: 'results',
  resourceId: 'result-record-5521',
  observedAt: '2026-03-02T10:15:30.377Z',
  version: '7',
  status: 'current',
} as const;
const contentReceipt = {
  service: 'content',
  resourceId: 'spec-fractions-grade-5',
  observedAt: '2026-03-02T10:15:30.371Z',
  version: '12',
  status: 'current',
} as const;
const rosterReceipt = {
  service: 'oneroster',
  resourceId: 'student-0417',
  observedAt: '2026-03-02T10:15:30.366Z',
  version: '"9f2c"',
  status: 'current',
} as const;

const identity = {
  object: 'attempt_report',
  attemptId: 'attempt-90311',
  qtiSessionId: 'session-48102',
  qtiTestId: 'form-fractions-5-a',
  resultRecordId: 'result-record-5521',
  candidateSourcedId: 'student-0417',
  administrationId: 'administration-spring-5',
  contentTestSpecId: 'spec-fractions-grade-5',
  testKind: 'mastery_gate',
  status: 'scored',
  score: { value: 31, minimum: 0, maximum: 40, unit: 'points', scaleVersion: null },
} as const;

const gate = {
  status: 'fail',
  criteriaVersion: 'criteria-4',
  achieved: 0.775,
  required: 0.8,
  gapCaseGuids: [gapGuid],
  coverageEvidenceId: 'coverage-771',
} as const;

export const failedGate: z.input<typeof attemptReport> = {
  ...identity,
  mastery: [
    {
      kind: 'standard',
      caseGuid: gapGuid,
      parentCaseGuid: null,
      state: 'gap',
      estimate: 0.42,
      threshold: 0.8,
      uncertainty: 0.06,
      uncertaintyKind: 'standard_error',
      policyId: 'mastery-policy-g5',
      policyVersion: '3',
      evidence: [
        {
          qtiItemId: 'item-1107',
          qtiOutcomeId: 'outcome-1107-1',
          resultComponentId: 'component-88',
          contribution: -0.21,
          observedAt: '2026-03-01T08:29:11.000Z',
        },
      ],
    },
  ],
  gate: { ...gate, gapCaseGuids: [...gate.gapCaseGuids] },
  diagnostic: null,
  sources: [
    {
      service: 'qti',
      resourceId: 'attempt-90311',
      observedAt: '2026-03-02T10:15:30.352Z',
      version: '3',
      status: 'current',
    },
    resultsReceipt,
    contentReceipt,
    rosterReceipt,
    {
      service: 'case',
      resourceId: '8b1f7a30-90d4-4d0e-8f0e-51b6b0f7e9d2',
      observedAt: '2026-03-02T10:15:30.401Z',
      version: '"case-package-2026-01"',
      status: 'current',
    },
  ],
  omitted: ['readiness'],
  incompleteSections: [],
  observedAt,
  ...correlation,
};

export const materialized: z.input<typeof materializeResponse> = {
  operationId: 'op_4n1rVqLzq0Wk3yq9f2dT8A',
  report: {
    ...failedGate,
    mastery: [],
    sources: [
      ...failedGate.sources,
      {
        service: 'caliper',
        resourceId: 'urn:uuid:6f1d0f0c-6b1e-8d6a-9d3e-2b7f4c1a9e55',
        observedAt: '2026-03-02T10:15:30.409Z',
        version: '"event-1"',
        status: 'current',
      },
    ],
    omitted: ['mastery', 'itemEvidence', 'readiness'],
  },
};

export const page: z.input<typeof attemptReportPage> = {
  data: [
    {
      ...failedGate,
      mastery: [],
      sources: [resultsReceipt, contentReceipt, rosterReceipt],
      omitted: ['mastery', 'itemEvidence', 'readiness'],
    },
  ],
  nextCursor: null,
  hasMore: false,
  observedAt,
  sources: [
    {
      service: 'results',
      resourceId: 'student-0417',
      observedAt: '2026-03-02T10:15:30.377Z',
      version: '418',
      status: 'current',
    },
    rosterReceipt,
    contentReceipt,
  ],
};

export const notReady: z.input<typeof readinessReport> = {
  object: 'readiness_report',
  attemptId: 'attempt-90311',
  entries: [
    {
      decision: 'not_ready',
      sourceTest: 'State Assessment Mathematics 5',
      sourceVersion: '2026',
      crosswalkVersion: 'crosswalk-9',
      coverageFraction: 1,
      dokDominance: 'satisfied',
      qualifyingBlueprintSlotIds: ['slot-1', 'slot-2'],
      decisionRuleId: 'gate-implies-readiness',
      decisionRuleVersion: '2',
      limitations: [],
    },
  ],
  sources: [
    resultsReceipt,
    contentReceipt,
    {
      service: 'blueprint',
      resourceId: 'crosswalks-spec-fractions-grade-5',
      observedAt: '2026-03-02T10:15:30.381Z',
      version: '9',
      status: 'current',
    },
  ],
  observedAt,
  ...correlation,
};

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

export const equivalentForms: z.input<typeof equivalenceReport> = {
  object: 'equivalence_report',
  qtiTestId: 'form-fractions-5-a',
  comparisonQtiTestIds: ['form-fractions-5-b'],
  contentTestSpecId: 'spec-fractions-grade-5',
  coverageMatch: true,
  dokMatch: true,
  sampleSizes: { 'form-fractions-5-a': 412, 'form-fractions-5-b': 398 },
  method: 'two one-sided tests',
  analysisVersion: 'equivalence-4',
  statistic: 0.012,
  confidenceInterval: { lower: -0.008, upper: 0.031 },
  tolerance: 0.05,
  decision: 'equivalent',
  evidenceArtifactUrl: 'https://analytics.platform.example/artifacts/equivalence-fractions-5',
  sources: [
    {
      service: 'qti',
      resourceId: 'form-fractions-5-a',
      observedAt: '2026-03-02T10:15:30.352Z',
      version: '2',
      status: 'current',
    },
    { ...analyticsReceipt, resourceId: 'equivalence-fractions-5', version: '4' },
    contentReceipt,
    {
      service: 'blueprint',
      resourceId: 'form-evidence-fractions-5-a',
      observedAt: '2026-03-02T10:15:30.381Z',
      version: '12',
      status: 'current',
    },
  ],
  observedAt,
  ...correlation,
};
