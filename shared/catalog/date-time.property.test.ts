import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDateTime } from './date-time.ts';

describe('isDateTime', () => {
  it('takes every instant in every offset and spelling', () => {
    const two = (number: number): string => String(number).padStart(2, '0');
    fc.assert(
      fc.property(
        fc.date({
          min: new Date('0000-01-01T00:00:00Z'),
          max: new Date('9999-12-31T23:59:59.999Z'),
          noInvalidDate: true,
        }),
        fc.constantFrom('T', 't'),
        fc.oneof(
          fc.constantFrom('Z', 'z', '-00:00'),
          fc
            .tuple(fc.constantFrom('+', '-'), fc.nat(23), fc.nat(59))
            .map(([sign, hour, minute]) => `${sign}${two(hour)}:${two(minute)}`),
        ),
        fc.constantFrom('', '.5', '.123456789012'),
        (date, separator, offset, fraction) => {
          expect(
            isDateTime(`${date.toISOString().slice(0, 19).replace('T', separator)}${fraction}${offset}`),
          ).toBe(true);
        },
      ),
    );
  });

  it.each(['2016-12-31T23:59:60Z', '2017-01-01T05:29:60+05:30', '2016-12-31T15:59:60.5-08:00'])(
    'takes the leap second %s',
    (text) => {
      expect(isDateTime(text)).toBe(true);
    },
  );

  // What the library refuses is refused here in a few samples only.
  it.each([
    '',
    '2026-04-17T09:30Z',
    '2026-04-17T09:30:00',
    '2026-04-17T24:00:00Z',
    '2026-04-17T09:30:60Z',
    '2016-12-31T23:59:60+01:00',
    '2016-12-31T23:59:61Z',
    '2026-04-17T09:30:00+0100',
    '2026-02-29T09:30:00Z',
    '2026-04-17T09:30:00Z\n',
    `2026-04-17T09:30:00.${'0'.repeat(1_000_000)}Z`,
  ])('refuses %j', (text) => {
    expect(isDateTime(text)).toBe(false);
  });
});
