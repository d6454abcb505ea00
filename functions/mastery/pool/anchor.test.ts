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
    expect(await read(() => undefined)).toBeUndefined();
  });

  it.each<[string, (table: World['anchors']) => void]>([
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

  it('is absent without a point of this source: 422 [MA-032]', async () => {
    expect(await read(({ sourcePoints }) => (sourcePoints[0]!.source = 'Vendor'))).toMatchObject({
      kind: 'absent',
      problem: { status: 422, code: 'calibration-invalid', retryable: false },
    });
  });
});
