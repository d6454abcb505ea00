import { describe, expect, it } from 'vitest';
import type { DeliverySession } from '#shared/platform/owners/qti.ts';
import { priorUse } from './prior-use.ts';

const session = (rootArtifactVersionId: string, createdAt: string): DeliverySession => ({
  deliverySessionId: `session of ${rootArtifactVersionId} at ${createdAt}`,
  rootArtifactVersionId,
  status: 'open',
  createdAt,
  attempts: [],
});
const named = (artifactVersionId: string, createdAt: string) => ({
  offer: { deliverySessionId: `named ${artifactVersionId}`, artifactVersionId },
  attempts: [],
  createdAt,
});

describe('priorUse', () => {
  const others = [
    session('a', '2026-03-01T08:00:00Z'),
    session('b', '2026-03-01T08:00:00.0000001Z'),
    session('c', '2026-03-01T08:00:00.000000200Z'),
    session('d', '2026-03-02T08:00:00Z'),
    session('a', '2026-03-03T08:00:00Z'),
  ];

  it('is all that other runs hold while this run has no session', () => {
    expect(priorUse({ sessions: [], unnamed: [], others })).toEqual(new Set(['a', 'b', 'c', 'd']));
  });

  it('is what they held when QTI created this run’s first session, to the last digit of its clock', () => {
    const first = '2026-03-01T08:00:00.00000015Z';
    const sessions = [named('x', '2026-03-04T08:00:00Z'), named('y', first)];
    expect(priorUse({ sessions, unnamed: [], others })).toEqual(new Set(['a', 'b']));
    // Also while the continuation names none of its sessions.
    const unnamed = [session('y', first)];
    expect(priorUse({ sessions: [], unnamed, others })).toEqual(new Set(['a', 'b']));
  });

  it('keeps what the start has read where QTI’s clock tells no difference', () => {
    const sessions = [named('x', '2026-03-01T08:00:00.0Z')];
    expect(priorUse({ sessions, unnamed: [], others })).toEqual(new Set(['a']));
  });

  it('holds nothing of which this run has a session itself', () => {
    const at = '2026-03-05T08:00:00Z';
    const runtime = { sessions: [named('a', at)], unnamed: [session('d', at)], others };
    expect(priorUse(runtime)).toEqual(new Set(['b', 'c']));
  });
});
