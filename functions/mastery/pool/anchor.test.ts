import { expect, it } from 'vitest';
import type { ScaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { AnchorTable } from '#shared/platform/owners/extmap.ts';
import type { Platform } from '#shared/platform/platform.ts';
import { readAnchor, type AnchorDoubt } from './anchor.ts';

const anchor: ScaleCalibration['anchor'] = {
  ...{ source: 'source-1', version: '7', checksum: 'a'.repeat(64), licenseScope: 'research' },
};
const point = { source: 'source-1', checksum: anchor.checksum, licenseScope: 'research', sourceRef: 'ref-1' };
const sound: AnchorTable = { tenantId: 'tenant-1', tableVersion: '7', sourcePoints: [point] };

it.each<[string, object, AnchorDoubt['kind'] | undefined, status: number]>([
  [
    'verified, beside points of other sources',
    { sourcePoints: [{ ...point, source: 'another' }, point] },
    undefined,
    0,
  ],
  ['absent from another version of the table', { tableVersion: '8' }, 'absent', 422],
  ['absent from the table', { sourcePoints: [{ ...point, source: 'another' }] }, 'absent', 422],
  ['in doubt, where it stands twice', { sourcePoints: [point, point] }, 'unavailable', 424],
  [
    'in doubt, while it is not verified',
    { sourcePoints: [{ ...point, sourceRef: null }] },
    'unavailable',
    424,
  ],
  [
    'unusable under another checksum',
    { sourcePoints: [{ ...point, checksum: 'b'.repeat(64) }] },
    'unusable',
    422,
  ],
  ['unusable without its licence', { sourcePoints: [{ ...point, licenseScope: null }] }, 'unusable', 422],
  [
    'unusable under another licence',
    { sourcePoints: [{ ...point, licenseScope: 'trial' }] },
    'unusable',
    422,
  ],
])('an anchor is %s [MA-032]', async (_, change, kind, status) => {
  const answer = {
    value: { ...sound, ...change },
    etag: undefined,
    status: 200,
    upstreamRequestId: 'up-1',
    bodyHash: '',
  };
  const call = () => Promise.resolve(ok(answer));
  const doubt = await readAnchor({ call } as unknown as Platform, anchor);
  if (kind === undefined) expect(doubt).toBeUndefined();
  else expect(doubt).toMatchObject({ kind, problem: { status } });
});

it('an anchor is in doubt while its source does not answer', async () => {
  const call = () => Promise.resolve(err({ kind: 'unavailable', transient: true, service: 'anchor' }));
  expect(await readAnchor({ call } as unknown as Platform, anchor)).toMatchObject({
    kind: 'unavailable',
    problem: { status: 424, retryable: true },
  });
});
