import { describe, expect, it } from 'vitest';
import type { DeliverySession } from '#shared/platform/owners/qti.ts';
import { priorUse, priorUsesOfStart } from './prior-use.ts';

const session = (rootArtifactVersionId: string, createdAt: string): DeliverySession => ({
  deliverySessionId: `session of ${rootArtifactVersionId} at ${createdAt}`,
  rootArtifactVersionId,
  status: 'open',
  createdAt,
  attempts: [],
});

describe('priorUse', () => {
  const others = [
    session('a', '2026-03-01T08:00:00Z'),
    session('b', '2026-03-01T08:00:00.0000001Z'),
    session('c', '2026-03-01T08:00:00.000000200Z'),
    session('d', '2026-03-02T08:00:00Z'),
    session('a', '2026-03-03T08:00:00Z'),
  ];

  const first = '2026-03-01T08:00:00.00000015Z';
  const late = '2026-03-05T08:00:00Z';
  it.each([
    ['all that other runs hold while this run has no session', [], [], 'abcd'],
    [
      'what they held when QTI created this run’s first session, to the last digit of its clock',
      [session('y', first), session('x', late)],
      [session('z', '2026-02-01T08:00:00Z')],
      'ab',
    ],
    ['the same while the continuation names none of its sessions', [], [session('y', first)], 'ab'],
    [
      'what the start has read where QTI’s clock tells no difference',
      [session('x', '2026-03-01T08:00:00.0Z')],
      [],
      'a',
    ],
    [
      'the same if this run has been offered some of it again, so that a replay chooses as the first request did [MA-190]',
      [session('y', first), session('a', late)],
      [session('b', late)],
      'ab',
    ],
  ])('is %s', (_, sessions, unnamed, met) => {
    expect(priorUse({ sessions, unnamed, others })).toEqual(new Set(met));
  });
});

describe('priorUsesOfStart', () => {
  const others = [
    session('b', '2026-03-01T08:00:20Z'),
    session('old', '2026-02-01T08:00:00Z'),
    session('a', '2026-03-01T08:00:10Z'),
    session('later', '2026-03-01T08:00:31Z'),
  ];

  it('is what other runs hold; later it leaves out, one after the other, the latest that the start may not have read any more', () => {
    const all = new Set(['old', 'a', 'b', 'later']);
    expect(priorUsesOfStart({ sessions: [], unnamed: [], others })).toEqual([all]);
    const unnamed = [session('x', '2026-03-01T08:00:30Z')];
    expect(priorUsesOfStart({ sessions: [], unnamed, others })).toEqual([
      new Set(['old', 'a', 'b']),
      new Set(['old', 'a']),
      new Set(['old']),
    ]);
  });
});
