import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { ids, platformOf, validWorld } from '#test/support/example-pool.ts';
import type { World } from '#test/support/example-pool.ts';
import { blueprintHash } from './content.ts';
import { createPoolCache, readPool } from './read-pool.ts';
import { reconcile } from './reconcile.ts';

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
  'cross two identifiers': ({ root }, at, other) => {
    const { identifier } = root.itemRefs[at]!;
    root.itemRefs[at]!.identifier = root.itemRefs[other]!.identifier;
    root.itemRefs[other]!.identifier = identifier;
  },
  'alter a member’s version': ({ manifest }, at) => void (manifest.members[at]!.artifactVersionId += 'x'),
  'alter a member’s identifier': ({ manifest }, at) => void (manifest.members[at]!.qtiIdentifier += 'x'),
  'alter a reference’s version': ({ root }, at) => void (root.itemRefs[at]!.artifactVersionId += 'x'),
  'alter a reference’s identifier': ({ root }, at) => void (root.itemRefs[at]!.identifier += 'x'),
  'repeat a member’s identifier': ({ manifest: { members } }, at, other) =>
    void (members[at]!.qtiIdentifier = members[other]!.qtiIdentifier),
  'make the root its own member': ({ manifest }, at) =>
    void (manifest.members[at]!.artifactVersionId = 'root@1'),
  'make the root its own member and reference': ({ manifest, root }, at) =>
    void (manifest.members[at]!.artifactVersionId = root.itemRefs[at]!.artifactVersionId = 'root@1'),
  'drop every reference': ({ root }) => void (root.itemRefs = []),
  'drop the root': ({ manifest }) => void Reflect.deleteProperty(manifest, 'root'),
  'drop the list of members': ({ manifest }) => void Reflect.deleteProperty(manifest, 'members'),
  'unsort CASE GUIDs': ({ manifest }, at) => void manifest.members[at]!.caseGuids.reverse(),
  'unsort KC GUIDs': ({ manifest }, at) => void manifest.members[at]!.kcGuids.reverse(),
  'repeat a KC GUID': ({ manifest }, at) =>
    void manifest.members[at]!.kcGuids.push('00000000-0000-4000-8000-000000000009'),
  'write a KC GUID in capitals': ({ manifest }, at) =>
    void (manifest.members[at]!.kcGuids = ['a0000000-0000-4000-8000-000000000009'.toUpperCase()]),
  'name a KC by what is no UUID': ({ manifest }, at) => void (manifest.members[at]!.kcGuids = ['kc-1']),
  'empty the CASE GUIDs': ({ manifest }, at) => void (manifest.members[at]!.caseGuids = []),
  'empty the KC GUIDs': ({ manifest }, at) => void (manifest.members[at]!.kcGuids = []),
  'alter the package in Bank': ({ manifest }) => void (manifest.root.packageId += 'x'),
  'alter the package in QTI': ({ root }) => void (root.packageId += 'x'),
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

describe('a single mutation of a valid pool', () => {
  it.each(Object.entries(mutations))(
    '%s: is refused and nothing is left to select from [MA-024, MA-025, MA-026, MA-027, MA-221, MA-222]',
    async (_, mutate) => {
      await fc.assert(
        fc.asyncProperty(places, async ({ size, at, other }) => {
          const world = validWorld(size);
          mutate(world, at, other);
          const result = await readPool(platformOf(world), createPoolCache(), ids);
          expect(result).toMatchObject({
            ok: false,
            error: { status: 502, code: 'qti-adaptive-pool-invalid' },
          });
          expect(result).not.toHaveProperty('value');
        }),
        { numRuns: 20 },
      );
    },
  );

  it('is what the refusal is about: without it the pool stands', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), (size) => {
        const { manifest, root } = validWorld(size);
        const result = reconcile(manifest, root, '"1"');
        expect(result.ok && result.value.members.length).toBe(size);
      }),
    );
  });
});

/** The same JSON with its names in another order, at every depth. */
function shuffled(value: unknown, seed: number): unknown {
  if (Array.isArray(value)) return value.map((entry) => shuffled(entry, seed));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, entry]) => [name, shuffled(entry, seed)] as const);
  const rank = (name: string): string => hashCanonical([seed, name]);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (rank(a) < rank(b) ? -1 : 1)));
}

describe('the order of names', () => {
  it('does not change a hash [MA-022, MA-071]', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const world = validWorld();
        const other = shuffled(world, seed) as World;
        expect(blueprintHash(other.blueprint)).toBe(blueprintHash(world.blueprint));
        const pins = [world, other].map(({ manifest, root }) => {
          const result = reconcile(manifest, root, '"1"');
          return result.ok ? result.value.pins : undefined;
        });
        expect(pins[0]).toBeDefined();
        expect(pins[1]).toEqual(pins[0]);
      }),
    );
  });
});
