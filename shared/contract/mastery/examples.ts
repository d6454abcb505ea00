/** The bodies that the rows of the routes, and so the OpenAPI document, show as examples. */
import type * as z from 'zod';
import type { adaptiveRun, continuationRequest, startAdaptiveRunRequest } from './adaptive-run.ts';
import type { scaleCalibration } from './scale-calibration.ts';
import type {
  scoreRecoverySimulation,
  simulationRequest as simulationRequestSchema,
} from './score-recovery.ts';
import type { selectionPolicy } from './selection-policy.ts';

const pins = {
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

const token =
  'eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoiY29udGludWF0aW9uLTEiLCJ0eXAiOiJydW4ranNvbiJ9..48V1_ALb6US04U3b.5eym8TW_c8SuK0ltJ3rpYIzOeDQz7TALvtu6UG9oMo4vpzs9tX_EFShS8iB7j6jiSdiwkIr3ajwQzaBtQD_A.XFBoMYUZodetZdvTiFvSkQ';

export const startedRun = {
  continuationToken: token,
  continuationExpiresAt: '2026-02-03T09:30:00.000Z',
  status: 'in_progress',
  runMode: 'production_learner',
  selectionPolicyId: 'policy-kc-gaps-v4',
  scaleCalibrationId: 'calibration-fractions-2026-01',
  executionPins: pins,
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
      cutScore: 0.5,
      confidenceThreshold: 0.9,
      evidenceItemRefs: [],
    },
  ],
  scaleReportability: 'pending',
  scale: null,
  stopReason: null,
  remainingUncertainty: 1,
  receiptId: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
} as const satisfies z.input<typeof adaptiveRun>;

/** The learner has submitted the answer, and QTI has not scored it yet. */
export const waitingRun = {
  ...startedRun,
  waitingFor: {
    service: 'qti',
    operation: 'qti.read_candidate_runtime',
    since: '2026-02-02T09:31:07.000Z',
  },
} as const satisfies z.input<typeof adaptiveRun>;

const anchor = {
  source: 'extmap-r90',
  version: '2025.2',
  checksum: '4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce',
  licenseScope: 'k8-mathematics',
};

export const advancedRun = {
  ...startedRun,
  continuationExpiresAt: '2026-02-03T09:41:12.000Z',
  offeredItem: {
    deliverySessionId: 'ds-91b3d6f0',
    artifactVersionId: 'artifact-item-0128@1',
    sequence: 2,
  },
  kcClassifications: [
    {
      ...startedRun.kcClassifications[0],
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
    anchor,
    validFrom: '2026-01-01T00:00:00.000Z',
    validUntil: '2027-01-01T00:00:00.000Z',
    limitations: ['Comparable within this scale id only; not a percentile or a rank.'],
  },
  remainingUncertainty: 0.352,
} as const satisfies z.input<typeof adaptiveRun>;

export const startRequest = {
  selectionPolicyId: 'policy-kc-gaps-v4',
  scaleCalibrationId: 'calibration-fractions-2026-01',
  testSpecId: 'spec-fractions-grade-5-v7',
  testBankId: 'bank-fractions-adaptive-v3',
  bankOperationId: 'bankop-2026-01-14-000417',
  runMode: 'production_learner',
  resultsStudentId: 'student-5f2c',
} as const satisfies z.input<typeof startAdaptiveRunRequest>;

export const continuation = { continuationToken: token } satisfies z.input<typeof continuationRequest>;

export const policy = {
  id: 'policy-kc-gaps-v4',
  visibility: 'tenant',
  algorithm: 'constrained_information_gain',
  kcCutScore: 0.5,
  confidenceThreshold: 0.9,
  precisionTarget: 0.15,
  maxItems: 30,
  timeBudgetSeconds: 2700,
  coverageFloors: [{ caseCompetencyGuid: '2f0a6d0c-6a1b-4c55-9a3e-0b8f2b7d9c11', minimumEvidenceItems: 2 }],
  eligibilityRules: {
    exposure: { method: 'randomesque', size: 3 },
    priorUse: 'avoid',
    poolMembership: 'manifest',
  },
  checksum: '2c624232cdd221771294dfbb310aca000a0df6ac8b66b696d90ef06fdefb64a3',
} as const satisfies z.input<typeof selectionPolicy>;

export const calibration = {
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
  anchor,
  recoveryTolerance: 25,
  limitations: ['Comparable within this scale id only; not a percentile or a rank.'],
  checksum: '19581e27de7ced00ff1ce50b2047e7a567c76b1cbaebabe5ef03f7c3017bb5b7',
} as const satisfies z.input<typeof scaleCalibration>;

export const simulationRequest = {
  selectionPolicyId: 'policy-kc-gaps-v4',
  scaleCalibrationId: 'calibration-fractions-2026-01',
  testSpecId: 'spec-fractions-grade-5-v7',
  testBankId: 'bank-fractions-adaptive-v3',
  bankOperationId: 'bankop-2026-01-14-000417',
  profiles: [
    {
      syntheticProfileId: 'synthetic:novice',
      knownMastery: {
        '2f0a6d0c-6a1b-4c55-9a3e-0b8f2b7d9c11': 0,
        '7d3c1b52-0f4e-4a7c-8a55-3f1d2c9e6b08': 0.25,
      },
    },
    {
      syntheticProfileId: 'synthetic:expert',
      knownMastery: {
        '2f0a6d0c-6a1b-4c55-9a3e-0b8f2b7d9c11': 1,
        '7d3c1b52-0f4e-4a7c-8a55-3f1d2c9e6b08': 1,
      },
    },
  ],
} satisfies z.input<typeof simulationRequestSchema>;

export const simulation = {
  profilesTotal: 2,
  replications: 32,
  recoveryErrors: [
    {
      syntheticProfileId: 'synthetic:novice',
      knownScale: 431.2,
      recoveredScale: 437.9,
      absoluteError: 6.7,
      standardError: 3.1,
    },
    {
      syntheticProfileId: 'synthetic:expert',
      knownScale: 588.4,
      recoveredScale: 579.1,
      absoluteError: 9.3,
      standardError: 2.8,
    },
  ],
  tolerance: 25,
  maxAbsoluteError: 9.3,
  withinTolerance: true,
  executionPins: pins,
  receiptId: '6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b',
  eventIri: 'urn:uuid:3c9f0d52-7f4c-8e1b-9a06-5d2e8b7c4f10',
  envelopeHash: 'd4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35',
} satisfies z.input<typeof scoreRecoverySimulation>;
