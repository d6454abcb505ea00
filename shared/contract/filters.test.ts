import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import { canonicalQuery, filteredQuery, isSelectable, isSelected, ownerQuery } from './filters.ts';

const { filters, query } = filteredQuery(
  {
    kind: { schema: z.enum(['gate', 'formative']), appliedBy: 'service', fact: 'testKind' },
    since: {
      schema: z.string(),
      appliedBy: 'owner',
      fact: 'modified',
      admits: (modified, since) => modified >= since,
      canonical: (since) => since.toUpperCase(),
    },
  },
  { limit: z.string().transform(Number) },
);

describe('the filters of a list', () => {
  it('make optional parameters of its query, and no others pass', () => {
    expect(query.parse({ limit: '3' })).toEqual({ limit: 3 });
    expect(query.parse({ kind: 'gate', since: 'a', limit: '3' })).toEqual({
      kind: 'gate',
      since: 'a',
      limit: 3,
    });
    for (const wrong of [{ kind: 'other' }, { testKind: 'gate' }])
      expect(query.safeParse({ ...wrong, limit: '3' }).success).toBe(false);
  });

  it('admit a row that all of them admit; one that is not given admits every row [RP-305]', () => {
    const row = { testKind: 'gate', modified: 'k' };
    for (const values of [{}, { kind: 'gate' }, { since: 'k' }, { kind: 'gate', since: 'a' }] as const)
      expect(isSelected(filters, values, row)).toBe(true);
    for (const values of [{ kind: 'formative' }, { since: 'l' }, { kind: 'gate', since: 'l' }] as const)
      expect(isSelected(filters, values, row)).toBe(false);
    expect(isSelected(filters, { kind: 'gate' }, { ...row, testKind: null })).toBe(false);
  });

  it('refuse a row as soon as a known fact decides', () => {
    const values = { kind: 'gate', since: 'k' } as const;
    expect(isSelectable(filters, values, {})).toBe(true);
    expect(isSelectable(filters, values, { modified: 'k' })).toBe(true);
    expect(isSelectable(filters, values, { modified: 'a' })).toBe(false);
    expect(isSelectable(filters, values, { testKind: null })).toBe(false);
  });

  it('are sent to the owner that applies them as they were given, and nothing else of the query is', () => {
    expect(ownerQuery(filters, {})).toEqual({});
    const asked = { kind: 'gate', since: 'a', limit: 3 } as const;
    expect(ownerQuery(filters, asked)).toEqual({ since: 'a' });
  });

  it('bind a cursor to every parameter but itself, each in its one spelling [RP-303]', () => {
    const asked = { kind: 'gate', since: 'a', limit: 3, cursor: 'x', later: 'as it is' };
    expect(canonicalQuery(filters, asked)).toEqual({ kind: 'gate', since: 'A', limit: 3, later: 'as it is' });
  });

  it('do not compile where a fact is forgotten', () => {
    // @ts-expect-error the row lacks the fact of a filter
    isSelected(filters, {}, { testKind: 'gate' });
    // @ts-expect-error there is no such value
    isSelected(filters, { kind: 'other' }, { testKind: 'gate', modified: 'k' });
  });
});
