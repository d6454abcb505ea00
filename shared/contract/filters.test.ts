import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import { filteredQuery, isSelectable, ownerQuery } from './filters.ts';

const { filters } = filteredQuery(
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

// What they select, and that a cursor is bound to them, on every list: test/contract/lists.test.ts.

describe('the filters of a list', () => {
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
});
