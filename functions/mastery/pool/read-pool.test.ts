import { describe, expect, it } from 'vitest';
import { executionPins } from '#shared/contract/mastery/adaptive-run.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { ids, platformOf, validWorld } from '#test/support/example-pool.ts';
import type { Override, Row, World } from '#test/support/example-pool.ts';
import { createPoolCache, readPool, revalidatePool } from './read-pool.ts';
import { reconcile } from './reconcile.ts';

const read = (world: World, change?: (row: Row, nth: number) => Override | undefined) =>
  readPool(platformOf(world, change), createPoolCache(), ids);
const only =
  (row: Row, override: Override, times: readonly number[] = [1, 2]) =>
  (asked: Row, nth: number): Override | undefined =>
    asked === row && times.includes(nth) ? override : undefined;
const changed = (change: (world: World) => void): World => {
  const world = validWorld();
  change(world);
  return world;
};
async function pinsOf(world: World) {
  const result = await read(world);
  if (!result.ok) throw new Error(result.error.detail);
  return result.value.pins;
}

describe('readPool', () => {
  it('pins everything that a run depends on [MA-022, MA-025, MA-065, MA-069, MA-070]', async () => {
    const world = validWorld();
    const result = await read(world);
    if (!result.ok) throw new Error(result.error.detail);
    const { pins, pool, blueprint } = result.value;
    expect(executionPins.parse(pins)).toEqual(pins);
    expect(pins).toMatchObject({
      ...ids,
      testSpecHash: hashCanonical(world.blueprint),
      qtiPoolPackageId: 'package-1',
      qtiPoolArtifactId: 'root',
      qtiPoolArtifactVersionId: 'root@1',
      qtiPoolPackageHash: 'a'.repeat(64),
    });
    expect(pins.qtiPoolEtag).toMatch(/^"[0-9a-f]{16}"$/);
    expect(pool.members.map(({ artifactVersionId }) => artifactVersionId)).toEqual(
      world.root.itemRefs.map(({ artifactVersionId }) => artifactVersionId),
    );
    expect(world.manifest.members[0]).toMatchObject({ ...pool.members[0] });
    expect(blueprint).toEqual(world.blueprint);
  });

  it('reads manifest and root twice, in six calls of which at most three follow one another [MA-027]', async () => {
    const platform = platformOf(validWorld());
    await readPool(platform, createPoolCache(), ids);
    expect(platform.calls.map(({ row, depth }) => `${depth} ${row}`).toSorted()).toEqual([
      '1 readAdaptivePoolManifest',
      '1 readTestSpec',
      '1 validateAdaptiveBankIdentity',
      '2 readAdaptivePoolManifest',
      '2 readAdaptivePoolRoot',
      '3 readAdaptivePoolRoot',
    ]);
    expect(platform.calls.find(({ row }) => row === 'readAdaptivePoolRoot')?.path['artifactVersionId']).toBe(
      'root@1',
    );
  });

  it('the bank’s hash is of its identity, not of what else Content says about it [MA-068]', async () => {
    const before = await pinsOf(validWorld());
    const same = await pinsOf(changed(({ bank }) => (bank['title'] = 'renamed')));
    expect(same.testBankIdentityHash).toBe(before.testBankIdentityHash);
    for (const change of [{ updateVersion: '8' }, { role: 'other' }]) {
      const other = await pinsOf(changed(({ bank }) => Object.assign(bank, change)));
      expect(other.testBankIdentityHash).not.toBe(before.testBankIdentityHash);
    }
  });

  it('the blueprint’s hash is of its complete projection [MA-022, MA-067]', async () => {
    const before = await pinsOf(validWorld());
    const after = await pinsOf(changed(({ blueprint }) => (blueprint['note'] = 'new member')));
    expect(after.testSpecHash).not.toBe(before.testSpecHash);
  });

  it('the pool’s hash changes with every part of it [MA-071]', () => {
    const rootMembers = [
      'packageHash',
      'packageId',
      'artifactId',
      'artifactVersionId',
      'qtiIdentifier',
    ] as const;
    const changes: ((world: World) => void)[] = [
      ...rootMembers.map((name) => ({ manifest, root }: World) => {
        manifest.root[name] = root[name] = 'b'.repeat(64);
      }),
      ({ manifest }) => (manifest.members[0]!.kcGuids = ['00000000-0000-4000-8000-000000000000']),
      ({ manifest }) => (manifest.members[0]!.caseGuids = ['00000000-0000-4000-9000-000000000001']),
      ({ manifest, root }) => (manifest.members[0]!.qtiIdentifier = root.itemRefs[0]!.identifier = 'x'),
      ({ manifest, root }) =>
        (manifest.members[0]!.artifactVersionId = root.itemRefs[0]!.artifactVersionId = 'x'),
      ({ manifest, root }) => void (manifest.members.pop(), root.itemRefs.pop()),
      ({ manifest, root }) => void (manifest.members.reverse(), root.itemRefs.reverse()),
    ];
    const hashOf = ({ manifest, root }: World, etag = '"1"'): string => {
      const result = reconcile(manifest, root, etag);
      if (!result.ok) throw new Error(result.error.detail);
      return result.value.pins.resolvedPoolHash;
    };
    const worlds = [validWorld(), ...changes.map(changed)];
    const hashes = [...worlds.map((world) => hashOf(world)), hashOf(validWorld(), '"2"')];
    expect(new Set(hashes).size).toBe(changes.length + 2);
  });
});

const broken = { status: 502, code: 'qti-adaptive-pool-invalid', retryable: false };
const poolDrift = { status: 409, code: 'adaptive-pool-version-drift', retryable: false };

describe('readPool refuses', () => {
  it.each<[string, (world: World) => void, string]>([
    ['a bank of another spec [MA-054]', (w) => (w.bank.specId = 'spec-2'), 'testBankId'],
    ['an operation of another spec [MA-055]', (w) => (w.manifest.testSpecId = 'spec-2'), 'bankOperationId'],
    ['an operation of another bank [MA-055]', (w) => (w.manifest.testBankId = 'bank-2'), 'bankOperationId'],
  ])('%s as the caller’s mistake', async (_, change, name) => {
    const result = await read(changed(change));
    const invalidParams = [{ name: `/body/${name}`, reason: 'mismatch' }];
    expect(result).toMatchObject({
      ok: false,
      error: { status: 400, code: 'invalid-request', invalidParams },
    });
    expect(JSON.stringify(result)).not.toContain('-2');
  });

  it.each(
    (['readAdaptivePoolManifest', 'readAdaptivePoolRoot'] as const).flatMap((row) =>
      [undefined, 'W/"1"'].flatMap((etag) => [[1, 2], [1], [2]].map((times) => ({ row, etag, times }))),
    ),
  )('$row with the ETag $etag in reading $times [MA-024, MA-027, MA-070]', async ({ row, etag, times }) => {
    expect(await read(validWorld(), only(row, { etag }, times))).toMatchObject({ ok: false, error: broken });
  });

  it.each(['readAdaptivePoolManifest', 'readAdaptivePoolRoot'] as const)(
    'other content under the same ETag in a second %s as unstable [MA-069, MA-221]',
    async (row) => {
      const other = changed(
        ({ manifest, root }) => (manifest.root.packageHash = root.packageHash = 'b'.repeat(64)),
      );
      const value = row === 'readAdaptivePoolManifest' ? other.manifest : other.root;
      const result = await read(validWorld(), (asked, nth) =>
        asked !== row ? undefined : nth === 1 ? { etag: '"1"' } : { etag: '"1"', value },
      );
      expect(result).toMatchObject({ ok: false, error: broken });
    },
  );

  it('a changing pool as drift although its first reading alone would look broken', async () => {
    const { manifest } = changed((world) => (world.manifest.root.packageHash = 'b'.repeat(64)));
    const { root } = changed((world) => (world.root.packageHash = 'b'.repeat(64)));
    for (const override of [
      only('readAdaptivePoolManifest', { value: manifest }, [1]),
      only('readAdaptivePoolRoot', { value: root }, [1]),
    ]) {
      expect(await read(validWorld(), override)).toMatchObject({ ok: false, error: poolDrift });
    }
  });

  it('what is wrong with Bank’s members, and names Bank, its operation and request, nothing more [MA-026, MA-212, MA-213, MA-221]', async () => {
    for (const change of [
      ({ manifest }: World) => (manifest.members = []),
      ({ manifest }: World) => (manifest.members[0]!.kcGuids = []),
      // QTI repeats it too, so that the two agree.
      ({ manifest, root }: World) =>
        (manifest.members[1]!.qtiIdentifier = root.itemRefs[1]!.identifier = 'qti-0'),
    ]) {
      const result = await read(changed(change));
      expect(!result.ok && result.error.upstream).toEqual({
        service: 'bank',
        operation: 'bank.read_adaptive_pool_manifest',
        requestId: 'up-readAdaptivePoolManifest',
      });
    }
  });
});

it('takes two readings for the same that have their names in another order', async () => {
  const { manifest } = validWorld();
  const value = Object.fromEntries(Object.entries(manifest).reverse());
  const result = await read(validWorld(), (row, nth) =>
    row === 'readAdaptivePoolManifest' ? { etag: '"1"', ...(nth === 2 && { value }) } : undefined,
  );
  expect(result.ok).toBe(true);
});

describe('revalidatePool', () => {
  const again = async (world: World, change?: (row: Row, nth: number) => Override | undefined) =>
    revalidatePool(platformOf(world, change), createPoolCache(), await pinsOf(validWorld()), 'binding');

  it('gives the pinned pool again, in four calls side by side [MA-066]', async () => {
    const pins = await pinsOf(validWorld());
    const platform = platformOf(validWorld());
    const result = await revalidatePool(platform, createPoolCache(), pins, 'binding');
    expect(result.ok && result.value.pins).toEqual(pins);
    expect(result.ok && result.value.pool.members).toHaveLength(4);
    expect(platform.calls.map(({ depth }) => depth)).toEqual([1, 1, 1, 1]);
  });

  it('refuses a root without a strong ETag [MA-070]', async () => {
    const weak = only('readAdaptivePoolRoot', { etag: 'W/"1"' });
    expect(await again(validWorld(), weak)).toMatchObject({ ok: false, error: broken });
  });
});

describe('the pool cache', () => {
  it('gives the same object for the same content, and reads all the same', async () => {
    const cache = createPoolCache();
    const first = await readPool(platformOf(validWorld()), cache, ids);
    if (!first.ok) throw new Error(first.error.detail);
    const platform = platformOf(validWorld());
    const second = await revalidatePool(platform, cache, first.value.pins, 'binding');
    expect(second.ok && second.value.pool).toBe(first.value.pool);
    expect(platform.calls).toHaveLength(4);
  });

  it('pins the ETag of this reading, not of the one before', async () => {
    const cache = createPoolCache();
    const pinned: (string | false)[] = [];
    for (const etag of ['"1"', '"2"']) {
      const result = await readPool(
        platformOf(validWorld(), only('readAdaptivePoolRoot', { etag })),
        cache,
        ids,
      );
      pinned.push(result.ok && result.value.pins.qtiPoolEtag);
    }
    expect(pinned).toEqual(['"1"', '"2"']);
  });

  it('never hides a defect of new content [MA-222]', async () => {
    const cache = createPoolCache();
    await readPool(platformOf(validWorld()), cache, ids);
    const world = changed(({ manifest }) => (manifest.members[0]!.kcGuids = []));
    expect(await readPool(platformOf(world), cache, ids)).toMatchObject({ ok: false, error: broken });
    const { root } = changed((other) => other.root.itemRefs.pop());
    const etag = '"1"';
    await readPool(platformOf(validWorld(), only('readAdaptivePoolRoot', { etag })), cache, ids);
    const sameTag = platformOf(validWorld(), only('readAdaptivePoolRoot', { etag, value: root }));
    expect(await readPool(sameTag, cache, ids)).toMatchObject({ ok: false, error: broken });
    const weak = platformOf(validWorld(), only('readAdaptivePoolRoot', { etag: 'W/"1"' }));
    expect(await readPool(weak, cache, ids)).toMatchObject({ ok: false, error: broken });
  });
});
