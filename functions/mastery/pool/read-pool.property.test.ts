import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import type { Manifest, ManifestMember } from '#shared/platform/owners/bank.ts';
import type { BankMembers, Blueprint } from '#shared/platform/owners/content.ts';
import type { DeliveryJson } from '#shared/platform/owners/qti.ts';
import { scriptedOwners, type Script, type Scripted } from '#test/support/scripted-owners.ts';
import { verifyCaseMappings } from './case-mappings.ts';
import { readPool, revalidatePool } from './read-pool.ts';

const tenantId = 'tenant-1';
const ids = { testSpecId: 'spec-1', testBankId: 'bank-1', bankOperationId: 'operation-1' };
const { testSpecId, testBankId, bankOperationId } = ids;
const STANDARDS = ['00000000-0000-4000-9000-000000000001', '00000000-0000-4000-9000-000000000002'];
const LAST_KC = '00000000-0000-4000-8000-000000000009';

interface World {
  readonly blueprint: Blueprint;
  readonly bank: BankMembers;
  readonly manifest: Manifest & { root: NonNullable<Manifest['root']>; members: ManifestMember[] };
  readonly root: DeliveryJson;
}

/** What Content, Bank and QTI hold of a valid pool. */
function validWorld(size = 4): World {
  const root = {
    packageId: 'package-1',
    packageHash: 'a'.repeat(64),
    artifactId: 'root',
    artifactVersionId: 'root@1',
    qtiIdentifier: 'pool',
  };
  const members = Array.from({ length: size }, (_, number) => ({
    artifactId: `item-${number}`,
    artifactVersionId: `item-${number}@1`,
    qtiIdentifier: `qti-${number}`,
    caseGuids: [...STANDARDS],
    kcGuids: [`00000000-0000-4000-8000-00000000000${number % 2}`, LAST_KC],
  }));
  const itemRefs = members.map(({ qtiIdentifier, artifactVersionId }) => ({
    identifier: qtiIdentifier,
    artifactVersionId,
  }));
  return {
    blueprint: {
      ...{ tenantId, itemId: testSpecId, role: 'spec', version: '3', subject: 'mathematics' },
      ...{ gradeLevels: ['05'], caseFrameworkGuid: 'framework', slots: [] },
    },
    bank: {
      ...{ tenantId, bankId: testBankId, specId: testSpecId, role: 'bank', updateVersion: '7', data: [] },
      membershipRule: 'qti_adaptive_selection',
    },
    manifest: {
      ...{ tenantId, operationId: bankOperationId, state: 'succeeded', testSpecId, testBankId },
      root: { ...root },
      members,
    },
    root: { tenantId, ...root, type: 'assessment-test', itemRefs },
  };
}

const changed = (change: (world: World) => void, size?: number): World => {
  const world = validWorld(size);
  change(world);
  return world;
};

const answer = (value: object): Exclude<Scripted, { readonly kind: unknown }> => {
  const bodyHash = sha256Hex(JSON.stringify(value));
  return { value, etag: `"${bodyHash}"`, bodyHash };
};
const scriptOf = ({ blueprint, bank, manifest, root }: World): Script => ({
  readTestSpec: answer(blueprint),
  validateAdaptiveBankIdentity: answer(bank),
  readAdaptivePoolManifest: answer(manifest),
  readAdaptivePoolRoot: answer(root),
});
/** Reads the pool of a world, of which some answers are others. */
const read = (world: World, change: Script = {}) =>
  readPool(scriptedOwners({ ...scriptOf(world), ...change }), ids, 'run');
async function pinsOf(world: World) {
  const result = await read(world);
  if (!result.ok) throw new Error(result.error.detail);
  return result.value.pins;
}
const broken = { ok: false, error: { status: 502, code: 'qti-adaptive-pool-invalid', retryable: false } };
const drift = { ok: false, error: { status: 409, code: 'adaptive-pool-version-drift', retryable: false } };

/** One way to spoil a valid pool at one or two places, given by indices below its size. */
type Mutation = (world: World, at: number, other: number) => void;

const mutations: Record<string, Mutation> = {
  'drop a member': ({ manifest }, at) => void manifest.members.splice(at, 1),
  'drop a reference': ({ root }, at) => void root.itemRefs.splice(at, 1),
  'repeat a member': ({ manifest }, at, other) =>
    void manifest.members.splice(other, 0, manifest.members[at]!),
  'repeat a reference': ({ root }, at, other) => void root.itemRefs.splice(other, 0, root.itemRefs[at]!),
  'swap two members': ({ manifest }, at, other) => swap(manifest.members, at, other),
  'swap two references': ({ root }, at, other) => swap(root.itemRefs, at, other),
  'cross two identifiers': ({ root: { itemRefs } }, at, other) => {
    const { identifier } = itemRefs[at]!;
    itemRefs[at]!.identifier = itemRefs[other]!.identifier;
    itemRefs[other]!.identifier = identifier;
  },
  'alter a member’s version': ({ manifest }, at) => void (manifest.members[at]!.artifactVersionId += 'x'),
  'alter a member’s identifier': ({ manifest }, at) => void (manifest.members[at]!.qtiIdentifier += 'x'),
  'alter a reference’s version': ({ root }, at) => void (root.itemRefs[at]!.artifactVersionId += 'x'),
  'alter a reference’s identifier': ({ root }, at) => void (root.itemRefs[at]!.identifier += 'x'),
  'repeat an identifier in both': ({ manifest: { members }, root }, at, other) =>
    void (members[at]!.qtiIdentifier = root.itemRefs[at]!.identifier = members[other]!.qtiIdentifier),
  'make the root its own member': ({ manifest, root }, at) =>
    void (manifest.members[at]!.artifactVersionId = root.itemRefs[at]!.artifactVersionId = 'root@1'),
  'drop every reference': ({ root }) => void (root.itemRefs = []),
  'drop every member and reference': ({ manifest, root }) => void (manifest.members = root.itemRefs = []),
  'drop the root': ({ manifest }) => void Reflect.deleteProperty(manifest, 'root'),
  'drop the list of members': ({ manifest }) => void Reflect.deleteProperty(manifest, 'members'),
  'unsort CASE GUIDs': ({ manifest }, at) => void manifest.members[at]!.caseGuids.reverse(),
  'unsort KC GUIDs': ({ manifest }, at) => void manifest.members[at]!.kcGuids.reverse(),
  'repeat a KC GUID': ({ manifest }, at) => void manifest.members[at]!.kcGuids.push(LAST_KC),
  'write a KC GUID in capitals': ({ manifest }, at) =>
    void (manifest.members[at]!.kcGuids = ['A0000000-0000-4000-8000-000000000009']),
  'name a KC by what is no UUID': ({ manifest }, at) => void (manifest.members[at]!.kcGuids = ['kc-1']),
  'empty the CASE GUIDs': ({ manifest }, at) => void (manifest.members[at]!.caseGuids = []),
  'empty the KC GUIDs': ({ manifest }, at) => void (manifest.members[at]!.kcGuids = []),
  'alter the package in Bank': ({ manifest }) => void (manifest.root.packageId += 'x'),
  'alter the package’s hash in QTI': ({ root }) => void (root.packageHash = 'b'.repeat(64)),
  'alter the artifact in Bank': ({ manifest }) => void (manifest.root.artifactId += 'x'),
  'alter the version in QTI': ({ root }) => void (root.artifactVersionId += 'x'),
  'alter the identifier in QTI': ({ root }) => void (root.qtiIdentifier += 'x'),
  'alter the type in QTI': ({ root }) => void (root.type = 'assessment-item'),
};

function swap(list: unknown[], at: number, other: number): void {
  [list[at], list[other]] = [list[other]!, list[at]!];
}

/** A size and two different places below it. */
const places = fc
  .integer({ min: 2, max: 30 })
  .chain((size) => fc.tuple(fc.constant(size), fc.nat(size - 1), fc.nat(size - 2)))
  .map(([size, at, step]) => ({ size, at, other: (at + 1 + step) % size }));

describe('a pool', () => {
  it('that is valid stands, with its members in the order of the root’s references', async () => {
    for (const size of [1, 2, 30]) {
      const { root } = validWorld(size);
      const result = await read(validWorld(size));
      const members = result.ok ? result.value.pool.members : [];
      expect(members.map(({ artifactVersionId }) => artifactVersionId)).toEqual(
        root.itemRefs.map(({ artifactVersionId }) => artifactVersionId),
      );
    }
  });

  it.each(Object.entries(mutations))(
    '%s: is refused, and nothing is left to select from [MA-024, MA-025, MA-026, MA-027, MA-221, MA-222]',
    async (_, mutate) => {
      await fc.assert(
        fc.asyncProperty(places, async ({ size, at, other }) => {
          // What a container has kept of a valid pool hides no defect.
          await read(validWorld(size));
          const result = await read(changed((world) => mutate(world, at, other), size));
          expect(result).toMatchObject(broken);
        }),
        { numRuns: 20 },
      );
    },
  );

  it.each(['drop every member and reference', 'empty the KC GUIDs', 'repeat an identifier in both'])(
    '%s: the refusal names Bank [MA-026, MA-212, MA-213, MA-221]',
    async (name) => {
      const result = await read(changed((world) => mutations[name]!(world, 0, 1)));
      const operation = 'bank.read_adaptive_pool_manifest';
      expect(result).toMatchObject({ error: { upstream: { service: 'bank', operation } } });
    },
  );

  it('that a container has kept stands for no other tag of its root, nor for another root of that tag [MA-071, MA-222]', async () => {
    const { root } = validWorld();
    const another = { ...root, itemRefs: root.itemRefs.slice(1) };
    const readAs = (value: object, etag: string) =>
      read(validWorld(), { readAdaptivePoolRoot: { ...answer(value), etag } });
    for (const qtiPoolEtag of ['"1"', '"2"'])
      expect(await readAs(root, qtiPoolEtag)).toMatchObject({ value: { pins: { qtiPoolEtag } } });
    expect(await readAs(another, '"2"')).toMatchObject(broken);
  });

  it('has another hash for every part of it, and for another ETag of its root [MA-071]', async () => {
    const named = ['packageHash', 'packageId', 'artifactId', 'artifactVersionId', 'qtiIdentifier'] as const;
    const worlds = [
      () => undefined,
      ...named.map((name) => ({ manifest, root }: World) => {
        manifest.root[name] = root[name] = 'b'.repeat(64);
      }),
      ({ manifest }: World) => (manifest.members[0]!.kcGuids = [LAST_KC]),
      ({ manifest }: World) => (manifest.members[0]!.caseGuids = [LAST_KC]),
      ({ manifest, root }: World) =>
        (manifest.members[0]!.qtiIdentifier = root.itemRefs[0]!.identifier = 'x'),
      ({ manifest, root }: World) =>
        (manifest.members[0]!.artifactVersionId = root.itemRefs[0]!.artifactVersionId = 'x'),
      ({ manifest, root }: World) => void (manifest.members.pop(), root.itemRefs.pop()),
      ({ manifest, root }: World) => void (manifest.members.reverse(), root.itemRefs.reverse()),
      // QTI's tag is that of all that it says.
      ({ root }: World) => (root['title'] = 'new'),
    ].map((change) => changed(change));
    const hashes = await Promise.all(worlds.map(async (world) => (await pinsOf(world)).resolvedPoolHash));
    expect(new Set(hashes).size).toBe(worlds.length);
  });
});

it('the hash of the blueprint is of all that it says in any order of names, that of the bank of its identity [MA-022, MA-067, MA-068]', async () => {
  const before = await pinsOf(validWorld());
  const { blueprint } = validWorld();
  const reversed = Object.fromEntries(Object.entries(blueprint).reverse()) as Blueprint;
  for (const [change, spec, bank] of [
    [{ blueprint: reversed }, true, true],
    [{ blueprint: { ...blueprint, note: 'new' } }, false, true],
    [{ bank: { ...validWorld().bank, title: 'renamed' } }, true, true],
    [{ bank: { ...validWorld().bank, updateVersion: '8' } }, true, false],
    [{ bank: { ...validWorld().bank, role: 'other' } }, true, false],
  ] as const) {
    const { testSpecHash, testBankIdentityHash } = await pinsOf({ ...validWorld(), ...change });
    expect([
      testSpecHash === before.testSpecHash,
      testBankIdentityHash === before.testBankIdentityHash,
    ]).toEqual([spec, bank]);
  }
});

describe.each(['readAdaptivePoolManifest', 'readAdaptivePoolRoot'] as const)('two readings: %s', (row) => {
  const { manifest, root } = validWorld();
  const value = row === 'readAdaptivePoolManifest' ? manifest : root;
  const other = { ...value, packageHash: 'b'.repeat(64), note: 'other' };
  const inTurn = (...readings: readonly Scripted[]) => read(validWorld(), { [row]: readings });
  const twice = (first: Scripted, second: Scripted) => inTurn(first, second);
  const tagged = (said: object, etag = '"1"'): Scripted => ({ ...answer(said), etag });

  it('without a strong ETag in either of them: 502 [MA-024, MA-027, MA-070]', async () => {
    for (const weak of [{ value }, tagged(value, 'W/"1"')]) {
      expect(await twice(weak, tagged(value))).toMatchObject(broken);
      expect(await twice(tagged(value), weak)).toMatchObject(broken);
      expect(await twice(weak, weak)).toMatchObject(broken);
    }
  });

  it('that differ under one ETag: 502, also when a third agrees, unless in the order of names alone [MA-069, MA-221]', async () => {
    for (const third of [tagged(value), tagged(other)])
      expect(await inTurn(tagged(value), tagged(other), third)).toMatchObject(broken);
    expect(await inTurn(tagged(value, '"0"'), tagged(other), tagged(value))).toMatchObject(broken);
    const reversed = Object.fromEntries(Object.entries(value).reverse());
    expect(await twice(tagged(value), tagged(reversed))).toMatchObject({ ok: true });
  });

  it('that differ are followed by a third one, which decides with the one that it equals; else drift, whatever is wrong [MA-024, MA-027, MA-152]', async () => {
    const now = tagged(value);
    const before = tagged(other, '"0"');
    expect(await inTurn(before, now, now)).toMatchObject({ ok: true });
    expect(await inTurn(now, before, now)).toMatchObject({ ok: true });
    expect(await inTurn(before, now, tagged({ ...value, note: 'third' }, '"2"'))).toMatchObject(drift);
  });
});

it.each([
  ['readTestSpec', { ...validWorld().blueprint, version: '2' }],
  ['validateAdaptiveBankIdentity', { ...validWorld().bank, updateVersion: '6' }],
] as const)(
  'one lagging reading of Content pins nothing: %s [MA-022, MA-067, MA-068]',
  async (row, older) => {
    const pins = await pinsOf(validWorld());
    const now = scriptOf(validWorld())[row] as Scripted;
    const inTurn = (...readings: readonly Scripted[]) => read(validWorld(), { [row]: readings });
    for (const readings of [
      [answer(older), now, now],
      [now, answer(older), now],
      // What one replica does not find or take is no answer to the caller.
      [now, { kind: 'not-found' }, now],
      [now, { kind: 'refused-id' }, now],
    ] as const)
      expect(await inTurn(...readings)).toMatchObject({ value: { pins } });
    expect(
      await inTurn(answer(older), now, answer({ ...older, version: '9', updateVersion: '9' })),
    ).toMatchObject({
      error: { status: 409, code: 'stream-conflict' },
    });
  },
);

it('a simulation has no stream: Content that keeps changing is a retryable 424 [MA-181]', async () => {
  const { blueprint } = validWorld();
  const readings = ['1', '2', '3'].map((version) => answer({ ...blueprint, version }));
  const owners = () => scriptedOwners({ ...scriptOf(validWorld()), readTestSpec: readings });
  expect(await readPool(owners(), ids, 'simulation')).toMatchObject({
    error: { status: 424, retryable: true, upstream: { service: 'content' } },
  });
  expect(await readPool(owners(), ids, 'run')).toMatchObject({
    error: { status: 409, code: 'stream-conflict' },
  });
});

it('a refused id is 400 whether or not the other ids exist [MA-214]', async () => {
  const refused = { validateAdaptiveBankIdentity: { kind: 'refused-id' } } as const;
  const alone = await read(validWorld(), refused);
  expect(alone).toMatchObject({ error: { status: 400, invalidParams: [{ name: '/body/testBankId' }] } });
  const absent = {
    readTestSpec: { kind: 'not-found' },
    readAdaptivePoolManifest: { kind: 'not-found' },
  } as const;
  expect(await read(validWorld(), { ...refused, ...absent })).toEqual(alone);
});

it('a pinned pool is read again with the same pins, and refused without a strong ETag of its root [MA-066, MA-070]', async () => {
  const pins = await pinsOf(validWorld());
  const script = scriptOf(validWorld());
  const again = (change: Script) => revalidatePool(scriptedOwners({ ...script, ...change }), pins, true);
  expect(await again({})).toMatchObject({ ok: true, value: { pins, content: { ok: true } } });
  // Broken and changed is changed; broken under the pinned tag is broken.
  const spoiled = changed(({ manifest }) => void (manifest.members[0]!.kcGuids = []));
  for (const manifest of [spoiled.manifest, { ...validWorld().manifest, root: undefined }]) {
    expect(await again({ readAdaptivePoolManifest: answer(manifest) })).toMatchObject(drift);
    const lagging = [answer(manifest), answer(validWorld().manifest)];
    expect(await again({ readAdaptivePoolManifest: lagging })).toMatchObject({ ok: true });
    // Two readings that differ from the pin and from each other are no drift yet.
    const another = answer({ ...validWorld().manifest, testSpecId: 'another' });
    expect(
      await again({
        readAdaptivePoolManifest: [...lagging.slice(0, 1), another, answer({ ...manifest, note: 'x' })],
      }),
    ).toMatchObject({ error: { status: 424, retryable: true } });
  }
  const { root } = changed((world) => void world.root.itemRefs.pop());
  expect(await again({ readAdaptivePoolRoot: { ...answer(root), etag: pins.qtiPoolEtag } })).toMatchObject(
    broken,
  );
  const weak = { ...answer(validWorld().root), etag: `W/${pins.qtiPoolEtag}` };
  expect(await again({ readAdaptivePoolRoot: weak })).toMatchObject(broken);
  const own = answer(validWorld().root);
  expect(await again({ readAdaptivePoolRoot: [weak, own] })).toMatchObject({ ok: true });
});

it.each<[string, (world: World) => void, string]>([
  ['a bank of another spec [MA-054]', (w) => (w.bank.specId = 'spec-2'), 'testBankId'],
  ['an operation of another spec [MA-055]', (w) => (w.manifest.testSpecId = 'spec-2'), 'bankOperationId'],
  ['an operation of another bank [MA-055]', (w) => (w.manifest.testBankId = 'bank-2'), 'bankOperationId'],
])('%s is the caller’s mistake', async (_, change, name) => {
  const result = await read(changed(change));
  const invalidParams = [{ name: `/body/${name}`, reason: 'mismatch' }];
  expect(result).toMatchObject({ error: { status: 400, code: 'invalid-request', invalidParams } });
  expect(JSON.stringify(result)).not.toContain('-2');
});

it('a component with another URI or framework in CASE is read again, and then not the calibration’s [MA-031]', async () => {
  const pinned = { guid: 'kc-1', uri: 'https://case/1' };
  const item = (uri: string, framework: string) => ({
    value: {
      ...{ identifier: 'kc-1', uri, fullStatement: 's', lastChangeDateTime: '2026-01-01T00:00:00Z' },
      CFDocumentURI: { title: 't', identifier: framework, uri: 'https://case/framework' },
    },
  });
  const verified = (...readCfItem: readonly Scripted[]) =>
    verifyCaseMappings(scriptedOwners({ readCfItem }), 'framework', [pinned]);
  const own = item(pinned.uri, 'framework');
  for (const other of [item('https://case/2', 'framework'), item(pinned.uri, 'another')]) {
    expect(await verified(own)).toMatchObject({ ok: true });
    expect(await verified(other, own)).toMatchObject({ ok: true });
    expect(await verified(other, other)).toMatchObject({
      error: { status: 422, code: 'calibration-invalid' },
    });
  }
});

it('CASE is asked for hundreds of components in lanes, and for no more after a failure', async () => {
  const mappings = Array.from({ length: 100 }, (_, n) => ({ guid: `kc-${n}`, uri: `https://case/${n}` }));
  const owners = scriptedOwners({ readCfItem: { kind: 'unavailable' } });
  expect((await verifyCaseMappings(owners, 'framework', mappings)).ok).toBe(false);
  expect(owners.asked).toHaveLength(32);
});
