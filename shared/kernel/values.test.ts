import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, hashCanonical, sha256Hex, sha256OfChunks } from './canonical-json.ts';
import {
  compareInstants,
  formatInstant,
  normalizeInstant,
  parseInstant,
  parseUtcInstant,
} from './instant.ts';
import { roundSignificant } from './numbers.ts';

describe('canonical JSON', () => {
  it('gives the RFC 8785 form of the standard’s own example', () => {
    const value = {
      numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000f\nA\'B"\\"/',
      literals: [null, true, false],
    };
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\"/"}',
    );
  });

  it('hashes the same value to the same 64 lower-case hexadecimal characters, whatever the key order [MA-043]', () => {
    expect(hashCanonical({ b: 1, a: [true] })).toBe(hashCanonical({ a: [true], b: 1 }));
    expect(hashCanonical({ b: 1, a: [true] })).toMatch(/^[0-9a-f]{64}$/);
    expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(sha256OfChunks([Buffer.from('a'), Buffer.from('bc')])).toBe(sha256Hex('abc'));
  });

  it('throws on what no parser gives', () => {
    for (const value of [NaN, Infinity, '\ud800', undefined]) expect(() => canonicalJson(value)).toThrow();
  });
});

describe('instants', () => {
  const time = Date.parse('2026-01-31T09:30:00.123Z');

  it('are read with any number of digits, and with +00:00 where that is asked for [MA-042]', () => {
    for (const text of ['2026-01-31T09:30:00Z', '2026-01-31T09:30:00.123Z', '2024-02-29T23:59:59.000001Z'])
      expect(parseInstant(text)).toBe(Date.parse(text));
    expect(parseInstant(`2026-01-31T09:30:00.123${'9'.repeat(5_000)}Z`)).toBe(time);
    expect(parseInstant('2026-01-31T09:30:00+00:00')).toBeUndefined();
    expect(parseUtcInstant(`2026-01-31T09:30:00.123${'9'.repeat(5_000)}+00:00`)).toBe(time);
  });

  it.each([
    '2026-01-31t09:30:00Z',
    '2026-01-31T09:30:00z',
    '2026-02-30T00:00:00+00:00',
    '2026-01-31T09:30:60Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31',
    '2026-01-31T09:30:00.Z',
    '2026-01-31T09:30:00-00:00',
    '2026-01-31T09:30:00+01:00',
    '',
  ])('are not %j: it is not read, and to compare it is a defect [MA-042]', (text) => {
    expect([parseInstant(text), parseUtcInstant(text)]).toEqual([undefined, undefined]);
    expect(() => compareInstants(text, '2026-01-31T09:30:00Z')).toThrow(TypeError);
    expect(() => compareInstants('2026-01-31T09:30:00Z', text)).toThrow(TypeError);
  });

  it('are those of the days that exist [MA-042]', () => {
    const two = (part: number): string => String(part).padStart(2, '0');
    // The calendar repeats itself every 400 years.
    for (const year of [...Array.from({ length: 401 }, (_, at) => 1800 + at), 0, 4, 100, 9999])
      for (let month = 0; month <= 13; month += 1)
        for (const day of [0, 1, 9, 10, 19, 20, 28, 29, 30, 31, 32]) {
          const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
          const time = new Date(0).setUTCFullYear(year, month - 1, day);
          const exists = new Date(time).getUTCMonth() === month - 1 && new Date(time).getUTCDate() === day;
          if (parseInstant(`${date}T00:00:00Z`) !== (exists ? time : undefined)) expect.fail(date);
        }
  });

  it('are written as they are read', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), (one) => {
        expect(parseInstant(formatInstant(one))).toBe(one);
      }),
    );
  });

  describe('in order', () => {
    const BILLION = 1_000_000_000n;
    /** Nanoseconds since the epoch, often a few of them apart. */
    const nanoseconds = fc
      .tuple(
        fc.constantFrom(0n, 1_769_851_800n, 253_402_300_799n),
        fc.constantFrom(0n, 1n, 120_000_000n, 120_000_001n, 999_999_999n),
      )
      .map(([second, fraction]) => second * BILLION + fraction);
    /** One of the spellings of an instant: with as many closing zeros as `zeros` asks for. */
    const spell = (time: bigint, zeros: number): string => {
      const second = formatInstant(Number(time / BILLION) * 1000).slice(0, 19);
      const digits = (time % BILLION).toString().padStart(9, '0').replace(/0+$/, '');
      const fraction = digits.padEnd(digits.length + zeros, '0');
      return `${second}${fraction === '' ? '' : `.${fraction}`}Z`;
    };
    const zeros = fc.nat({ max: 30 });

    it('are compared to the nanosecond, in whatever spelling', () => {
      fc.assert(
        fc.property(nanoseconds, nanoseconds, zeros, zeros, (a, b, some, others) => {
          const expected = a < b ? -1 : a > b ? 1 : 0;
          expect(compareInstants(spell(a, some), spell(b, others))).toBe(expected);
        }),
      );
    });

    it('differ by what milliseconds cannot show, and not by zeros', () => {
      expect(compareInstants('2026-01-31T09:30:00.0000001Z', '2026-01-31T09:30:00.00000011Z')).toBe(-1);
      expect(compareInstants('2026-01-31T09:30:00.9Z', '2026-01-31T09:30:00.10Z')).toBe(1);
      expect(compareInstants('2026-01-31T09:30:00Z', '2026-01-31T09:30:00.000Z')).toBe(0);
      const [shorter, longer] = ['2026-01-31T09:30:00.123456789Z', '2026-01-31T09:30:00.12345678901Z'];
      expect(compareInstants(shorter, longer)).toBe(-1);
      expect(compareInstants(longer, '2026-01-31T09:30:00.1234567891Z')).toBe(-1);
      expect(compareInstants(longer, '2026-01-31T09:30:00.1234567890100+00:00')).toBe(0);
      expect(normalizeInstant('2026-01-31T09:30:00.50Z')).toBe('2026-01-31T09:30:00.500000000Z');
    });
  });
});

describe('numbers', () => {
  it('keeps as many decimal digits as it is told and writes the same text again [MA-117]', () => {
    expect(roundSignificant(0.123456789, 4)).toBe(0.1235);
    expect(roundSignificant(-0, 4)).toBe(0);
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer({ min: 1, max: 15 }),
        (value, digits) => {
          const once = roundSignificant(value, digits);
          expect(roundSignificant(once, digits)).toBe(once);
        },
      ),
    );
  });
});
