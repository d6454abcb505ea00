import * as z from 'zod';
import { defineRoute } from '../route.ts';
import { adaptiveRun, continuationRequest, startAdaptiveRunRequest } from './adaptive-run.ts';
import { identifier } from './primitives.ts';
import { scaleCalibration } from './scale-calibration.ts';
import { selectionPolicy } from './selection-policy.ts';

const KIBIBYTE = 1024;

/** A run's start, inspection and advance all read the pinned pool again: what can be wrong with it is the same for all three. */
const runProblems = [
  '409 adaptive-pool-version-drift',
  '409 stream-conflict',
  '422 calibration-invalid',
  '502 qti-adaptive-pool-invalid',
] as const;

/** What a run's functions touch: the pinned records, the control record, and the keys of token, control record and pseudonym. */
const runGrants = [
  'records:read',
  'control:write',
  'keys:continuation',
  'keys:idempotency',
  'keys:pseudonym',
  'profiles:read',
] as const;

const examplePins = {
  testSpecId: 'spec-fractions-grade-5-v7',
  testSpecHash: '5b0c0f9f2d3f7f3e4c1f5bb0d7bb2c8f7f4c9f8f0a9a3f6a2b1d6e5c4f3a2b1c',
  testBankId: 'bank-fractions-adaptive-v3',
  testBankIdentityHash: '0f4a7f6f9b2f4a8e8a4d2b7c6e5f4d3c2b1a0f9e8d7c6b5a4f3e2d1c0b9a8f7e',
  bankOperationId: 'bankop-2026-01-14-000417',
  qtiPoolPackageId: 'pkg-fractions-adaptive-3',
  qtiPoolArtifactId: 'artifact-fractions-pool',
  qtiPoolArtifactVersionId: 'artifact-fractions-pool@12',
  qtiPoolPackageHash: '9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab',
  qtiPoolEtag: '"qti-root-12"',
  resolvedPoolHash: 'c775e7b757ede630cd0aa1113bd102661ab38829ca52a6422ab782862f268646',
};

const exampleToken =
  'eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoiY29udGludWF0aW9uLTEiLCJ0eXAiOiJydW4ranNvbiJ9..48V1_ALb6US04U3b.5eym8TW_c8SuK0ltJ3rpYIzOeDQz7TALvtu6UG9oMo4vpzs9tX_EFShS8iB7j6jiSdiwkIr3ajwQzaBtQD_A.XFBoMYUZodetZdvTiFvSkQ';

const exampleStarted = {
  continuationToken: exampleToken,
  continuationExpiresAt: '2026-02-03T09:30:00.000Z',
  status: 'in_progress',
  runMode: 'production_learner',
  selectionPolicyId: 'policy-kc-gaps-v4',
  scaleCalibrationId: 'calibration-fractions-2026-01',
  executionPins: examplePins,
  offeredItem: {
    deliverySessionId: 'ds-7c1e0a52',
    artifactVersionId: 'artifact-item-0311@2',
    sequence: 1,
  },
  kcClassifications: [
    {
      caseCompetencyGuid: '2f0a6d0c-6a1b-4c55-9a3e-0b8f2b7d9c11',
      caseFrameworkGuid: '8b1f7a30-90d4-4d0e-8f0e-51b6b0f7e9d2',
      caseMappingVersion: 'case-map-2026-01',
      classification: 'not_yet',
      posteriorProbability: 0.5,
      evidenceItemRefs: [],
    },
  ],
  scaleReportability: 'pending',
  scale: null,
  stopReason: null,
  remainingUncertainty: 1,
  receiptId: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
} as const satisfies z.input<typeof adaptiveRun>;

const exampleAnchor = {
  source: 'extmap-r90',
  version: '2025.2',
  checksum: '4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce',
  licenseScope: 'k8-mathematics',
};

const exampleAdvanced = {
  ...exampleStarted,
  continuationExpiresAt: '2026-02-03T09:41:12.000Z',
  offeredItem: {
    deliverySessionId: 'ds-91b3d6f0',
    artifactVersionId: 'artifact-item-0128@1',
    sequence: 2,
  },
  kcClassifications: [
    {
      ...exampleStarted.kcClassifications[0],
      classification: 'mastered',
      posteriorProbability: 0.934,
      evidenceItemRefs: ['item-0311'],
    },
  ],
  scaleReportability: 'reportable',
  scale: {
    scaleScore: 512.4,
    standardError: 21.7,
    scaleId: 'mastery-mathematics',
    scaleCalibrationId: 'calibration-fractions-2026-01',
    anchor: exampleAnchor,
    validFrom: '2026-01-01T00:00:00.000Z',
    validUntil: '2027-01-01T00:00:00.000Z',
    limitations: ['Comparable within this scale id only; not a percentile or a rank.'],
  },
  remainingUncertainty: 0.352,
} as const satisfies z.input<typeof adaptiveRun>;

/** POST /v1/adaptive-runs */
export const startAdaptiveRun = defineRoute({
  service: 'mastery',
  operationId: 'startAdaptiveRun',
  method: 'POST',
  path: '/v1/adaptive-runs',
  summary: 'Start an adaptive run',
  description:
    'Resolves and reconciles the item pool, pins it, and offers the first item as a native QTI delivery session. The answer holds the only handle of the run: its continuation token. A repeated request with the same Idempotency-Key finds the same run and offer again.',
  scope: 'mastery:run',
  gates: [],
  handler: 'functions/mastery/endpoints/start-adaptive-run/handler.ts',
  request: {
    path: z.strictObject({}),
    query: z.strictObject({}),
    body: startAdaptiveRunRequest,
    maxBodyBytes: 256 * KIBIBYTE,
    idempotencyKey: true,
    ifMatch: false,
  },
  success: { status: 201, schema: adaptiveRun, headers: ['ETag'], example: exampleStarted },
  requestExample: {
    selectionPolicyId: 'policy-kc-gaps-v4',
    scaleCalibrationId: 'calibration-fractions-2026-01',
    testSpecId: 'spec-fractions-grade-5-v7',
    testBankId: 'bank-fractions-adaptive-v3',
    bankOperationId: 'bankop-2026-01-14-000417',
    runMode: 'production_learner',
    resultsStudentId: 'student-5f2c',
  },
  problems: runProblems,
  budget: { calls: 12, depth: 8 },
  lambda: {
    memoryMb: 1024,
    timeoutSeconds: 29,
    grants: runGrants,
    impact: 'Learners cannot begin an adaptive test; running tests go on.',
  },
});

/** POST /v1/adaptive-runs:inspect */
export const inspectAdaptiveRun = defineRoute({
  service: 'mastery',
  operationId: 'inspectAdaptiveRun',
  method: 'POST',
  path: '/v1/adaptive-runs:inspect',
  summary: 'Inspect an adaptive run',
  description:
    'Reads the pinned pool and the QTI attempts of the run again and answers its state and current entity tag. Nothing is written upstream, and the continuation and its expiry stay the same.',
  scope: 'mastery:read',
  gates: [],
  handler: 'functions/mastery/endpoints/inspect-adaptive-run/handler.ts',
  request: {
    path: z.strictObject({}),
    query: z.strictObject({}),
    body: continuationRequest,
    maxBodyBytes: 256 * KIBIBYTE,
    idempotencyKey: true,
    ifMatch: false,
  },
  success: { status: 200, schema: adaptiveRun, headers: ['ETag'], example: exampleStarted },
  requestExample: { continuationToken: exampleToken },
  problems: runProblems,
  budget: { calls: 12, depth: 8 },
  lambda: {
    memoryMb: 1024,
    timeoutSeconds: 29,
    grants: runGrants,
    impact: 'Clients cannot read where a running test stands; after a 412 they cannot go on.',
  },
});

/** POST /v1/adaptive-runs:advance */
export const advanceAdaptiveRun = defineRoute({
  service: 'mastery',
  operationId: 'advanceAdaptiveRun',
  method: 'POST',
  path: '/v1/adaptive-runs:advance',
  summary: 'Advance an adaptive run',
  description:
    'Consumes the scored QTI attempt of the offered item, answers the classifications and the scale result, and offers at most one next item or finalizes the run. `If-Match` holds the entity tag of the last answer.',
  scope: 'mastery:run',
  gates: [],
  handler: 'functions/mastery/endpoints/advance-adaptive-run/handler.ts',
  request: {
    path: z.strictObject({}),
    query: z.strictObject({}),
    body: continuationRequest,
    maxBodyBytes: 256 * KIBIBYTE,
    idempotencyKey: true,
    ifMatch: true,
  },
  success: { status: 200, schema: adaptiveRun, headers: ['ETag'], example: exampleAdvanced },
  requestExample: { continuationToken: exampleToken },
  problems: [
    ...runProblems,
    '412 stream-conflict',
    '424 finalization-incomplete',
    '428 precondition-required',
  ],
  budget: { calls: 18, depth: 14 },
  lambda: {
    memoryMb: 1024,
    timeoutSeconds: 29,
    grants: runGrants,
    impact:
      'Learners in the middle of an adaptive test get no next item, and finished tests are not published.',
  },
});

/** GET /v1/selection-policies/{policyId} */
export const readSelectionPolicy = defineRoute({
  service: 'mastery',
  operationId: 'readSelectionPolicy',
  method: 'GET',
  path: '/v1/selection-policies/{policyId}',
  summary: 'Read a selection policy',
  description:
    'One immutable version by its exact id. A policy of another tenant answers like an absent one. A deprecated version says so in its headers and stays as it is.',
  scope: 'mastery:read',
  gates: [],
  handler: 'functions/mastery/endpoints/read-selection-policy/handler.ts',
  request: {
    path: z.strictObject({ policyId: identifier }),
    query: z.strictObject({}),
    body: undefined,
    maxBodyBytes: 0,
    idempotencyKey: false,
    ifMatch: false,
  },
  success: {
    status: 200,
    schema: selectionPolicy,
    headers: ['Deprecation', 'Sunset', 'Link'],
    example: {
      id: 'policy-kc-gaps-v4',
      visibility: 'tenant',
      algorithm: 'constrained_information_gain',
      kcCutScore: 0.5,
      confidenceThreshold: 0.9,
      precisionTarget: 0.15,
      maxItems: 30,
      timeBudgetSeconds: 2700,
      coverageFloors: [
        { caseCompetencyGuid: '2f0a6d0c-6a1b-4c55-9a3e-0b8f2b7d9c11', minimumEvidenceItems: 2 },
      ],
      eligibilityRules: {
        exposure: { method: 'randomesque', size: 3 },
        priorUse: 'exclude',
        poolMembership: 'manifest',
      },
      checksum: '2c624232cdd221771294dfbb310aca000a0df6ac8b66b696d90ef06fdefb64a3',
    },
  },
  problems: [],
  budget: { calls: 0, depth: 0 },
  lambda: {
    memoryMb: 512,
    timeoutSeconds: 10,
    grants: ['records:read', 'profiles:read'],
    impact: 'Clients cannot look up a selection policy; tests go on.',
  },
});

/** GET /v1/scale-calibrations/{calibrationId} */
export const readScaleCalibration = defineRoute({
  service: 'mastery',
  operationId: 'readScaleCalibration',
  method: 'GET',
  path: '/v1/scale-calibrations/{calibrationId}',
  summary: 'Read a scale calibration',
  description:
    'The public descriptor of one immutable version by its exact id; model parameters stay on the server. An expired version stays readable. A calibration of another tenant answers like an absent one.',
  scope: 'mastery:read',
  gates: [],
  handler: 'functions/mastery/endpoints/read-scale-calibration/handler.ts',
  request: {
    path: z.strictObject({ calibrationId: identifier }),
    query: z.strictObject({}),
    body: undefined,
    maxBodyBytes: 0,
    idempotencyKey: false,
    ifMatch: false,
  },
  success: {
    status: 200,
    schema: scaleCalibration,
    headers: ['Deprecation', 'Sunset', 'Link'],
    example: {
      id: 'calibration-fractions-2026-01',
      scaleId: 'mastery-mathematics',
      visibility: 'tenant',
      modelFamily: 'ho-cdm-grid',
      modelVersion: 'ho-cdm-grid/1',
      numericPrecision: 12,
      runtimeVersion: 'ho-cdm-grid-1',
      caseFrameworkGuid: '8b1f7a30-90d4-4d0e-8f0e-51b6b0f7e9d2',
      caseMappingVersion: 'case-map-2026-01',
      subject: 'mathematics',
      gradeCoverage: ['04', '05', '06'],
      validFrom: '2026-01-01T00:00:00.000Z',
      validUntil: '2027-01-01T00:00:00.000Z',
      anchor: exampleAnchor,
      recoveryTolerance: 25,
      limitations: ['Comparable within this scale id only; not a percentile or a rank.'],
      checksum: '19581e27de7ced00ff1ce50b2047e7a567c76b1cbaebabe5ef03f7c3017bb5b7',
    },
  },
  problems: ['422 calibration-invalid'],
  budget: { calls: 0, depth: 0 },
  lambda: {
    memoryMb: 512,
    timeoutSeconds: 10,
    grants: ['records:read', 'profiles:read'],
    impact: 'Clients cannot look up a scale calibration; tests go on.',
  },
});

/** The routes of the mastery engine, in the order of its document. */
export const masteryRoutes = [
  startAdaptiveRun,
  inspectAdaptiveRun,
  advanceAdaptiveRun,
  readSelectionPolicy,
  readScaleCalibration,
] as const;
