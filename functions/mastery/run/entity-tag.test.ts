import { describe, expect, it } from 'vitest';
import { isStrongEntityTag } from '#shared/kernel/entity-tag.ts';
import type { Attempt } from '#shared/platform/owners/qti.ts';
import { exampleState as state } from '#test/support/example-run.ts';
import { runEntityTag } from './entity-tag.ts';
import type { NamedRuntime } from './outcomes.ts';
import type { AdaptiveRunState } from '../continuation/run-state.ts';

const attempt: Attempt = {
  attemptId: 'attempt-1',
  attemptNumber: 1,
  status: 'scored',
  outcomes: { SCORE: 1 },
  scoredAt: '2026-03-01T08:00:00Z',
};
const tagOf = (change: Partial<AdaptiveRunState>, ...attempts: readonly Attempt[]): string => {
  const offer = { deliverySessionId: 'session-1', artifactVersionId: 'item-1' };
  const sessions = [{ offer, createdAt: '2026-03-01T07:59:00Z', attempts }];
  return runEntityTag({ ...state, ...change }, { sessions });
};
const tag = tagOf({}, attempt);

describe('runEntityTag', () => {
  it('is strong, and the same for the same run, whatever sessions it does not name [MA-028, MA-048]', () => {
    expect(isStrongEntityTag(tag)).toBe(true);
    expect(tagOf(structuredClone(state), { ...attempt })).toBe(tag);
    const unnamed: NamedRuntime['unnamed'] = [
      {
        deliverySessionId: 'session-2',
        rootArtifactVersionId: 'item-2',
        status: 'open',
        createdAt: '2026-03-01T08:00:00Z',
        attempts: [attempt],
      },
    ];
    const runtime: NamedRuntime = { sessions: [], unnamed, others: unnamed };
    expect(runEntityTag(state, runtime)).toBe(runEntityTag(state, { sessions: [] }));
  });

  it.each<[string, Partial<AdaptiveRunState>]>([
    ...Object.entries(state.pins).map(([pin, value]): [string, Partial<AdaptiveRunState>] => [
      pin,
      { pins: { ...state.pins, [pin]: `${value}-other` } },
    ]),
    ['tenant', { tenantId: 'tenant-b' }],
    ['run', { runSeed: 'b'.repeat(64) }],
    ['mode', { runMode: 'owner_conformance' }],
    ['policy', { selectionPolicyId: 'policy-2' }],
    ['calibration', { scaleCalibrationId: 'calibration-2' }],
    ['number of consumed outcomes', { consumed: { ...state.consumed, count: 1 } }],
    ['digest of consumed outcomes', { consumed: { count: 0, digest: 'b'.repeat(64) } }],
    ['stop', { stopReason: 'max_items' }],
    ['acknowledgement', { acknowledgements: { resultRecordId: 'record-1' } }],
  ])('changes with another %s [MA-048]', (_, change) => {
    expect(tagOf(change, attempt)).not.toBe(tag);
  });

  it.each<[string, readonly Attempt[]]>([
    ['no attempt', []],
    ['a further attempt', [attempt, { ...attempt, attemptId: 'attempt-2', attemptNumber: 2 }]],
    ['another attempt', [{ ...attempt, attemptId: 'attempt-2' }]],
    ['another number', [{ ...attempt, attemptNumber: 2 }]],
    ['another status', [{ ...attempt, status: 'submitted' }]],
    ['another outcome', [{ ...attempt, outcomes: { SCORE: 0 } }]],
    ['a completed processing', [{ ...attempt, processingTrace: { traceRef: 't', status: 'completed' } }]],
    ['another time', [{ ...attempt, scoredAt: '2026-03-01T08:00:01Z' }]],
  ])('changes when a named session has %s [MA-048]', (_, attempts) => {
    expect(tagOf({}, ...attempts)).not.toBe(tag);
  });
});
