import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as operations from '../operations.ts';
import { addressOf, encodeSegment } from './address.ts';

const target = { baseUrl: 'https://platform.example/base', tenantId: 'tenant-a' };
const nasty = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.string({ unit: fc.constantFrom(...Array.from('./\\%2eEf?#;:@ \t\n\0')), minLength: 1 }),
);

describe('path parameters', () => {
  it('are always exactly one segment that decodes to the identifier, wherever a URL parser stands in between [MA-040]', () => {
    fc.assert(
      fc.property(nasty, nasty, (tenantId, id) => {
        const address = addressOf(operations.readTestSpec, { ...target, tenantId }, { testSpecId: id }, {});
        if (address === undefined) {
          expect(encodeSegment(tenantId) === undefined || encodeSegment(id) === undefined).toBe(true);
          return;
        }
        const url = new URL(address);
        expect(url.origin).toBe('https://platform.example');
        expect(url.search + url.hash).toBe('');
        const segments = url.pathname.split('/');
        expect(segments).toHaveLength(9);
        expect(decodeURIComponent(segments[3]!)).toBe(tenantId);
        expect(decodeURIComponent(segments[7]!)).toBe(id);
      }),
    );
  });

  it('that no URL can carry are given up: empty, dot segments, lone surrogates', () => {
    for (const value of ['', '.', '..', '\ud800', 'a\udc00', '../x', 'a/../b', 'a\\..', 'a/./b'])
      expect(encodeSegment(value)).toBeUndefined();
    // Only a whole dot segment is special, and a text that looks encoded is encoded once more.
    expect(encodeSegment('...')).toBe('...');
    expect(encodeSegment('%2e%2e')).toBe('%252e%252e');
    expect(encodeSegment('a/b')).toBe('a%2Fb');
  });
});

describe('query parameters that a call may leave out', () => {
  const row = { ...operations.readEvidenceAck, optionalQuery: ['after', 'limit'] };

  it('stand in the row’s order behind the demanded ones, or not at all', () => {
    const text = fc.string({ unit: 'binary' }).filter((value) => value.isWellFormed());
    fc.assert(
      fc.property(text, fc.record({ limit: text, after: text }, { requiredKeys: [] }), (eventIri, given) => {
        const address = addressOf(row, target, {}, { ...given, eventIri });
        const expected = [['eventIri', eventIri]];
        if (given.after !== undefined) expected.push(['after', given.after]);
        if (given.limit !== undefined) expected.push(['limit', given.limit]);
        expect([...new URL(address!).searchParams]).toEqual(expected);
      }),
    );
  });

  it('are known by name, and carry only what a URL can carry', () => {
    expect(() => addressOf(row, target, {}, { eventIri: 'e', before: 'x' })).toThrow(/no parameter before/);
    expect(() => addressOf(row, target, {}, { limit: '1' })).toThrow(/eventIri is missing/);
    expect(addressOf(row, target, {}, { eventIri: 'e', after: '\ud800' })).toBeUndefined();
  });
});

describe('a call that does not fit its row', () => {
  it('is a defect', () => {
    const row = operations.readTestSpec;
    expect(() => addressOf(row, target, {}, {})).toThrow(/testSpecId is missing/);
    expect(() => addressOf(row, target, { testSpecId: 's', other: 'x' }, {})).toThrow(/no parameter other/);
    expect(() => addressOf(row, target, { testSpecId: 's' }, { limit: '1' })).toThrow(/no parameter limit/);
    expect(() => addressOf(operations.readEvidenceAck, target, {}, {})).toThrow(/eventIri is missing/);
  });

  it('never names another tenant than the profile [MA-009]', () => {
    const path = { tenantId: 'tenant-b', testSpecId: 's' };
    expect(addressOf(operations.readTestSpec, target, path, {})).toContain(`/tenants/${target.tenantId}/`);
  });
});
