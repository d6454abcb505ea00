import { describe, expect, it } from 'vitest';
import { readAnchor } from './anchor.ts';
import { platformOf, validWorld } from '#test/support/example-pool.ts';
import type { World } from '#test/support/example-pool.ts';

const anchor = { source: 'vendor', version: '2', checksum: 'c'.repeat(64), licenseScope: 'research' };
const read = (change: (table: World['anchors']) => void) => {
  const world = validWorld();
  change(world.anchors);
  return readAnchor(platformOf(world), anchor);
};

describe('readAnchor', () => {
  it('verifies the exact source point [MA-032]', async () => {
    expect(await read(() => undefined)).toEqual({ kind: 'verified' });
  });

  it.each<[string, (table: World['anchors']) => void]>([
    ['no source reference [MA-032]', ({ sourcePoints }) => (sourcePoints[0]!.sourceRef = null)],
    ['the same point twice', ({ sourcePoints }) => sourcePoints.push({ ...sourcePoints[0]! })],
    [
      'an unverified point with another checksum',
      ({ sourcePoints }) => Object.assign(sourcePoints[0]!, { sourceRef: null, checksum: 'e'.repeat(64) }),
    ],
  ])('leaves the question open with %s: 424, which waiting does not repair', async (_, change) => {
    expect(await read(change)).toMatchObject({
      kind: 'unavailable',
      problem: {
        status: 424,
        code: 'upstream-unavailable',
        retryable: false,
        upstream: { service: 'anchor', operation: 'extmap.verify_anchor', requestId: 'up-verifyAnchor' },
      },
    });
  });

  it.each([
    ['unavailable', true],
    ['malformed', false],
    ['wrong-tenant', false],
    ['not-found', false],
    ['rejected', false],
  ] as const)(
    'leaves the question open when the table is %s: 424, retryable: %s [MA-218]',
    async (fault, retryable) => {
      const platform = platformOf(validWorld(), () => ({ fault }));
      expect(await readAnchor(platform, anchor)).toMatchObject({
        kind: 'unavailable',
        problem: { status: 424, code: 'upstream-unavailable', retryable, upstream: { service: 'anchor' } },
      });
    },
  );

  it.each<[string, (table: World['anchors']) => void]>([
    ['no such point [MA-032]', ({ sourcePoints }) => sourcePoints.shift()],
    ['no point of this source [MA-032]', ({ sourcePoints }) => (sourcePoints[0]!.source = 'Vendor')],
    ['an empty table', ({ sourcePoints }) => sourcePoints.splice(0)],
    ['another version [MA-032]', (table) => (table.tableVersion = '3')],
  ])('is absent with %s: 422', async (_, change) => {
    expect(await read(change)).toMatchObject({
      kind: 'absent',
      problem: { status: 422, code: 'calibration-invalid', retryable: false },
    });
  });

  it.each<[string, (table: World['anchors']) => void]>([
    ['another checksum', ({ sourcePoints }) => (sourcePoints[0]!.checksum = 'e'.repeat(64))],
    ['no licence', ({ sourcePoints }) => (sourcePoints[0]!.licenseScope = null)],
    ['another licence scope', ({ sourcePoints }) => (sourcePoints[0]!.licenseScope = 'operational')],
  ])('is unusable for %s of its verified point: 422', async (_, change) => {
    expect(await read(change)).toMatchObject({
      kind: 'unusable',
      problem: { status: 422, code: 'calibration-invalid', retryable: false },
    });
  });
});
