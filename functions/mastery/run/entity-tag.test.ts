import { describe, expect, it } from 'vitest';
import { isStrongEntityTag } from '#shared/kernel/entity-tag.ts';
import type { Attempt } from '#shared/platform/owners/qti.ts';
import { runEntityTag } from './entity-tag.ts';
import type { NamedRuntime } from './outcomes.ts';
import type { AdaptiveRunState } from '../continuation/run-state.ts';

const HASH = 'a'.repeat(64);
const OTHER_HASH = 'b'.repeat(64);

const state: AdaptiveRunState = {
  version: 1,
  tenantId: 'tenant-a',
  runMode: 'owner_conformance',
  selectionPolicyId: 'policy-1',
  selectionPolicyChecksum: HASH,
  scaleCalibrationId: 'calibration-1',
  scaleCalibrationChecksum: HASH,
  pins: {
    testSpecId: 'spec-1',
    testSpecHash: HASH,
    testBankId: 'bank-1',
    testBankIdentityHash: HASH,
    bankOperationId: 'operation-1',
    qtiPoolPackageId: 'package-1',
    qtiPoolArtifactId: 'artifact-1',
    qtiPoolArtifactVersionId: 'version-1',
    qtiPoolPackageHash: HASH,
    qtiPoolEtag: '"root"',
    resolvedPoolHash: HASH,
  },
  candidateRef: 'candidate-1',
  runSeed: HASH,
  startedAt: 0,
  offers: [],
  consumed: { count: 0, digest: HASH },
  stopReason: null,
  acknowledgements: {},
};

const attempt: Attempt = {
  attemptId: 'attempt-1',
  attemptNumber: 1,
  status: 'scored',
  outcomes: { SCORE: 1 },
  scoredAt: '2026-03-01T08:00:00Z',
};

function runtime(...attempts: readonly Attempt[]): NamedRuntime {
  const offer = { deliverySessionId: 'session-1', artifactVersionId: 'item-1' };
  return { sessions: [{ offer, createdAt: '2026-03-01T07:59:00Z', attempts }], unnamed: [], others: [] };
}

const tag = runEntityTag(state, runtime(attempt));

describe('runEntityTag', () => {
  it('is strong, and the same for the same run [MA-048]', () => {
    expect(isStrongEntityTag(tag)).toBe(true);
    expect(runEntityTag(structuredClone(state), runtime({ ...attempt }))).toBe(tag);
  });

  it.each(Object.keys(state.pins) as (keyof AdaptiveRunState['pins'])[])(
    'is another one under another %s [MA-048]',
    (pin) => {
      const pins = { ...state.pins, [pin]: `${state.pins[pin]}-other` };
      expect(runEntityTag({ ...state, pins }, runtime(attempt))).not.toBe(tag);
    },
  );

  it.each<[string, Partial<AdaptiveRunState>]>([
    ['tenant', { tenantId: 'tenant-b' }],
    ['run', { runSeed: OTHER_HASH }],
    ['mode', { runMode: 'production_learner' }],
    ['policy', { selectionPolicyId: 'policy-2' }],
    ['calibration', { scaleCalibrationId: 'calibration-2' }],
    ['number of consumed outcomes', { consumed: { count: 1, digest: HASH } }],
    ['digest of consumed outcomes', { consumed: { count: 0, digest: OTHER_HASH } }],
    ['stop', { stopReason: 'max_items' }],
    ['acknowledgement', { acknowledgements: { resultRecordId: 'record-1' } }],
  ])('is another one after another %s', (_, change) => {
    expect(runEntityTag({ ...state, ...change }, runtime(attempt))).not.toBe(tag);
  });

  it.each<[string, readonly Attempt[]]>([
    ['no attempt', []],
    ['a further attempt', [attempt, { ...attempt, attemptId: 'attempt-2', attemptNumber: 2 }]],
    ['another attempt', [{ ...attempt, attemptId: 'attempt-2' }]],
    ['another number', [{ ...attempt, attemptNumber: 2 }]],
    ['another status', [{ ...attempt, status: 'submitted' }]],
    ['another outcome', [{ ...attempt, outcomes: { SCORE: 0 } }]],
    [
      'a completed processing',
      [{ ...attempt, processingTrace: { traceRef: 'trace-1', status: 'completed' } }],
    ],
    ['another time', [{ ...attempt, scoredAt: '2026-03-01T08:00:01Z' }]],
  ])('is another one when a named session has %s [MA-048]', (_, attempts) => {
    expect(runEntityTag(state, runtime(...attempts))).not.toBe(tag);
  });

  it('is not moved by a session that the continuation does not name [MA-028, MA-048]', () => {
    const unnamed = [
      {
        deliverySessionId: 'session-2',
        rootArtifactVersionId: 'item-2',
        status: 'open',
        createdAt: '2026-03-01T08:00:00Z',
        attempts: [attempt],
      },
    ];
    const beside: NamedRuntime = { ...runtime(attempt), unnamed, others: unnamed };
    expect(runEntityTag(state, beside)).toBe(tag);
  });
});
