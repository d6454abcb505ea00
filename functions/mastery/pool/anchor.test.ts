import { describe, expect, it } from 'vitest';
import { requireAnchor, verifyAnchor } from './anchor.ts';
import { platformOf, validWorld } from '#test/support/example-pool.ts';
import type { Override, World } from '#test/support/example-pool.ts';

const anchor = { source: 'vendor', version: '2', checksum: 'c'.repeat(64), licenseScope: 'research' };
type Points = World['anchors']['sourcePoints'];
const verify = (change: (points: Points) => void) => {
  const world = validWorld();
  change(world.anchors.sourcePoints);
  return verifyAnchor(platformOf(world), anchor);
};

describe('verifyAnchor', () => {
  it('verifies the exact source point [MA-032]', async () => {
    expect(await verify(() => undefined)).toEqual({ ok: true, value: 'verified' });
  });

  const open: [string, (points: Points) => void][] = [
    ['no such point [MA-032]', (points) => points.shift()],
    ['no point of this source [MA-032]', (points) => (points[0]!.source = 'Vendor')],
    ['no source reference [MA-032]', (points) => (points[0]!.sourceRef = null)],
    ['the same point twice', (points) => points.push({ ...points[0]! })],
    [
      'an unverified point with another checksum',
      (points) => Object.assign(points[0]!, { sourceRef: null, checksum: 'e'.repeat(64) }),
    ],
    ['an empty table', (points) => points.splice(0)],
  ];
  it.each(open)('is unavailable with %s', async (_, change) => {
    expect(await verify(change)).toEqual({ ok: true, value: 'unavailable' });
  });

  it('is unavailable when the table has another version [MA-032]', async () => {
    const world = validWorld();
    world.anchors.tableVersion = '3';
    expect(await verifyAnchor(platformOf(world), anchor)).toEqual({ ok: true, value: 'unavailable' });
  });

  it.each(['unavailable', 'malformed', 'wrong-tenant', 'not-found', 'rejected'] as const)(
    'is unavailable when the table is %s',
    async (fault) => {
      expect(
        await verifyAnchor(
          platformOf(validWorld(), () => ({ fault })),
          anchor,
        ),
      ).toEqual({
        ok: true,
        value: 'unavailable',
      });
    },
  );

  const bad: [string, (points: Points) => void][] = [
    ['another checksum', (points) => (points[0]!.checksum = 'e'.repeat(64))],
    ['no licence', (points) => (points[0]!.licenseScope = null)],
    ['another licence scope', (points) => (points[0]!.licenseScope = 'operational')],
  ];
  it.each(bad)('refuses the calibration for %s of its verified point', async (_, change) => {
    expect(await verify(change)).toMatchObject({
      ok: false,
      error: { status: 422, code: 'calibration-invalid', retryable: false },
    });
  });
});

describe('requireAnchor', () => {
  const required = (change: (world: World) => void, fault?: Override['fault']) => {
    const world = validWorld();
    change(world);
    return requireAnchor(
      platformOf(world, () => (fault === undefined ? undefined : { fault })),
      anchor,
    );
  };

  it('is content with the exact source point [MA-032]', async () => {
    expect(await required(() => undefined)).toEqual({ ok: true, value: undefined });
  });

  it.each<[string, (world: World) => void]>([
    ['another version', (world) => (world.anchors.tableVersion = '3')],
    ['no such point', (world) => world.anchors.sourcePoints.shift()],
    ['no source reference', (world) => (world.anchors.sourcePoints[0]!.sourceRef = null)],
  ])('is 424 of the anchor, which waiting does not repair, with %s [MA-032, MA-218]', async (_, change) => {
    expect(await required(change)).toMatchObject({
      ok: false,
      error: {
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
  ] as const)(
    'is 424 of the anchor when the table is %s, retryable: %s [MA-218]',
    async (fault, retryable) => {
      expect(await required(() => undefined, fault)).toMatchObject({
        ok: false,
        error: { status: 424, code: 'upstream-unavailable', retryable, upstream: { service: 'anchor' } },
      });
    },
  );

  it('is 422 for another checksum of its verified point', async () => {
    expect(
      await required((world) => (world.anchors.sourcePoints[0]!.checksum = 'e'.repeat(64))),
    ).toMatchObject({ ok: false, error: { status: 422, code: 'calibration-invalid' } });
  });
});
