import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { digestOutcomes, type ScoredOutcome } from '#functions/mastery/run/outcomes.ts';

const HASH = 'a'.repeat(64);
const AT = '2026-03-01T08:00:00Z';

/** A learner's run that has just begun and has no offer yet. */
export const exampleState: AdaptiveRunState = {
  version: 1,
  tenantId: 'tenant-a',
  runMode: 'production_learner',
  selectionPolicyId: 'policy-1',
  selectionPolicyChecksum: HASH,
  scaleCalibrationId: 'calibration-1',
  scaleCalibrationChecksum: HASH,
  pins: {
    testSpecId: 'spec/ä 1',
    testSpecHash: HASH,
    testBankId: 'bank/1',
    testBankIdentityHash: HASH,
    bankOperationId: 'operation-1',
    qtiPoolPackageId: 'package-1',
    qtiPoolArtifactId: 'artifact-1',
    qtiPoolArtifactVersionId: 'version-1',
    qtiPoolPackageHash: HASH,
    qtiPoolEtag: '"root"',
    resolvedPoolHash: HASH,
  },
  candidateRef: 'candidate-pseudonym',
  runSeed: HASH,
  startedAt: Date.parse(AT),
  resultsStudentId: 'student-1',
  offers: [],
  consumed: { count: 0, digest: digestOutcomes([]) },
  stopReason: null,
  acknowledgements: {},
};

/** The outcome of the first offer. */
export const exampleOutcome: ScoredOutcome = {
  sequence: 1,
  artifactVersionId: 'version-1',
  attemptId: 'attempt-1',
  attemptNumber: 1,
  correct: true,
  scoredAt: AT,
  scoredAtMs: Date.parse(AT),
  traceRef: 'trace-1',
  handedInMs: Date.parse(AT),
};
