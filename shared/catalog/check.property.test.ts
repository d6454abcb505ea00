import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defectiveCatalog } from '#test/support/catalog-defects.ts';
import { blockedCatalog, pointersOf } from '#test/support/catalog.ts';
import { checkCatalog } from './check.ts';

describe('checkCatalog', () => {
  it('finds every defect that is put into a sound catalog, one or many, each in its place and no other', () => {
    fc.assert(
      fc.property(defectiveCatalog, ({ record, pointers }) => {
        expect(pointersOf(record).toSorted()).toEqual([...pointers].toSorted());
      }),
      { numRuns: 500 },
    );
  });

  it('answers defects, never an exception, whatever JSON stands anywhere', () => {
    const names = Object.keys(blockedCatalog());
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.dictionary(fc.constantFrom(...names), fc.jsonValue()),
        (value, members) => {
          expect(checkCatalog(value).ok).toBe(false);
          expect(checkCatalog({ ...blockedCatalog(), ...members, release_state: value }).ok).toBe(false);
        },
      ),
    );
  });
});
