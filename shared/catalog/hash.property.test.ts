import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { blockedCatalog, pointersOf, readyCatalog } from '#test/support/catalog.ts';
import { checkCatalog } from './check.ts';
import { catalogHash, hashScope, isHashVerifiable } from './hash.ts';
import { readCatalog, readJson } from './read.ts';

/** The same value with the members of every object in another order. */
function reordered(value: unknown, next: () => number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element: unknown) => reordered(element, next));
  const entries = Object.entries(value as Readonly<Record<string, unknown>>).map(([name, member]) => ({
    name,
    member,
    at: next(),
  }));
  return Object.fromEntries(
    entries.toSorted((a, b) => a.at - b.at).map(({ name, member }) => [name, reordered(member, next)]),
  );
}

describe('the hash of a catalog', () => {
  it('is 64 lower-case hexadecimal characters over everything but itself [RC-007]', () => {
    const { catalog_revision_hash: stated, ...covered } = blockedCatalog();
    expect(catalogHash(blockedCatalog())).toBe(stated);
    expect(stated).toBe(hashCanonical(covered));
    expect(catalogHash({ ...covered, catalog_revision_hash: 'x' })).toBe(stated);
  });

  it('does not depend on the order of members or on white space', () => {
    fc.assert(
      fc.property(
        fc.infiniteStream(fc.nat()),
        fc.constantFrom(0, 1, 4, '\t'),
        fc.boolean(),
        (numbers, indent, ready) => {
          const record = ready ? readyCatalog() : blockedCatalog();
          const text = JSON.stringify(
            reordered(record, () => numbers.next().value as number),
            null,
            indent,
          );
          expect(readCatalog(Buffer.from(`\r\n${text} `))).toEqual({ ok: true, value: record });
        },
      ),
      { numRuns: 30 },
    );
  });

  it('depends on everything else, members that no table lists included', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), (name, value) => {
        fc.pre(!Object.hasOwn(blockedCatalog(), name) && name !== '__proto__');
        expect(pointersOf({ ...blockedCatalog(), [name]: value })).toEqual(['/catalog_revision_hash']);
      }),
    );
  });

  it('covers a member named __proto__ as well', () => {
    const text = JSON.stringify(blockedCatalog()).replace('{', '{"__proto__":{"release_state":"ready"},');
    const record = readJson(Buffer.from(text));
    expect(record.ok && pointersOf(record.value)).toEqual(['/catalog_revision_hash']);
  });

  it('is told where it is wrong', () => {
    const checked = checkCatalog({ ...blockedCatalog(), catalog_revision_hash: '0'.repeat(64) });
    expect(checked.ok ? [] : checked.error).toEqual([
      {
        pointer: '/catalog_revision_hash',
        message: `is not the hash of this catalog, which is ${String(blockedCatalog()['catalog_revision_hash'])}`,
      },
    ]);
  });

  it('is held to nothing under another scope text: what it covers is not known [RC-008]', () => {
    const other = {
      ...blockedCatalog(),
      catalog_revision_hash_scope: `${hashScope}.`,
      catalog_revision_hash: '0'.repeat(64),
    };
    expect(isHashVerifiable(blockedCatalog())).toBe(true);
    expect(isHashVerifiable(other)).toBe(false);
    expect(pointersOf(other)).toEqual([]);
  });
});
