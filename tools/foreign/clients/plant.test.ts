import { describe, expect, it } from 'vitest';
import { LATER_VALUE, lost, planted } from './plant.ts';

const open = { type: 'string', enum: ['a'], 'x-extensible-enum': ['a'] };
const document = {
  paths: {},
  components: {
    schemas: {
      Row: { type: 'object', properties: { id: { type: 'string' }, kind: open } },
      Other: { type: 'object', properties: { name: { type: 'string' } } },
    },
  },
};
const later = { aLaterMember: { aLaterMember: 1 } };

describe('what a later version may return', () => {
  it.each([
    [
      'a member in each object',
      { $ref: '#/components/schemas/Other' },
      { name: 'x' },
      { name: 'x', ...later },
    ],
    ['a value in an open enumeration', open, 'a', LATER_VALUE],
    ['the same text elsewhere', { type: 'string' }, 'a', 'a'],
    ['a value once where items are unique', { items: open, uniqueItems: true }, ['a', 'a'], [LATER_VALUE]],
    ['null', { anyOf: [open, { type: 'null' }] }, null, null],
    ['a value where null is possible', { anyOf: [open, { type: 'null' }] }, 'a', LATER_VALUE],
    ['no member in a map', { additionalProperties: { type: 'integer' } }, { x: 1 }, { x: 1 }],
    [
      'rows, in the form that they have',
      { items: { anyOf: [{ $ref: '#/components/schemas/Other' }, { $ref: '#/components/schemas/Row' }] } },
      [{ id: 'i', kind: 'a' }],
      [{ id: 'i', kind: LATER_VALUE, ...later }],
    ],
  ])('has %s', (_, schema, value, expected) => {
    expect(planted(document, schema, value)).toEqual(expected);
  });
});

describe('what a client loses', () => {
  it('is listed by its place', () => {
    expect(lost({ a: [{ b: 1, c: null }] }, { a: [{ c: null }] })).toEqual(['/a/0/b: 1 became undefined']);
    expect(lost([1, 2], [1])).toEqual([': [1,2] became [1]']);
    expect(lost({ a: null }, {})).toEqual(['/a: null became undefined']);
    expect(lost({ a: 0.1 }, { a: 0.10000000149011612 })).toHaveLength(1);
  });

  it('is no member of a later version, and no other form of the same instant', () => {
    expect(lost({ a: 1, ...later }, { a: 1, b: 2 })).toEqual([]);
    const at = '2026-01-31T09:30:00';
    expect(lost({ at: `${at}.000Z` }, { at: `${at}+00:00` })).toEqual([]);
    expect(lost({ at: `${at}Z` }, { at: '2026-01-31T09:30:01Z' })).toHaveLength(1);
  });
});
