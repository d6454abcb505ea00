import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { paintFor, plain } from './paint.ts';
import { column, columnsOf, fit, gauge } from './line.ts';

const coloured = paintFor({ isTTY: true }, {});
const anyText = fc.string({ unit: 'grapheme' });

describe('columnsOf', () => {
  it.each([
    ['plain', 5],
    ['Brüche', 6],
    ['Bru\u0308che', 6],
    ['分数', 4],
    ['ｆ', 2],
    ['👩‍🏫', 2],
    ['✓', 1],
  ])('counts the columns of %j', (text, columns) => {
    expect(columnsOf(text)).toBe(columns);
  });
});

describe('column', () => {
  it('takes exactly the columns that it is given, whatever the text', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 40 }), (text, width) => {
        expect(columnsOf(column(text, width))).toBe(width);
      }),
    );
  });
});

describe('fit', () => {
  it('never exceeds the width, with or without colours', () => {
    fc.assert(
      fc.property(fc.array(anyText), fc.integer({ min: 1, max: 40 }), (texts, width) => {
        for (const paint of [plain, coloured]) {
          const line = fit(
            { width, paint },
            texts.map((text) => ['bold', text]),
          );
          expect(columnsOf(stripVTControlCharacters(line))).toBeLessThanOrEqual(width);
        }
      }),
    );
  });

  it('lets no text steer the terminal', () => {
    const hostile = 'a\u001b[2Jb\rc\nd\u009be\u202ef';
    expect(fit({ width: 80, paint: plain }, [['none', hostile]])).toBe('a�[2Jb�c�d�e�f');
  });
});

describe('gauge', () => {
  const unit = { low: 0, high: 1 };
  const drawn = (...args: Parameters<typeof gauge>): string =>
    gauge(...args)
      .map(([, text]) => text)
      .join('');

  it('shows value, uncertainty and threshold where they are', () => {
    expect(drawn(unit, 11, { value: 0.3, error: 0.2 }, 'red')).toBe('─━━●━━─────');
    expect(drawn(unit, 11, { value: 0.3, error: 0.1, threshold: 0.8 }, 'red')).toBe('──━●━───┃──');
    expect(drawn(unit, 11, { value: 0.5, error: 0.5, threshold: 0.8 }, 'red')).toBe('━━━━━●━━┃━━');
    expect(drawn(unit, 11, { value: 0.8, error: 0, threshold: 0.8 }, 'red')).toBe('────────◆──');
  });

  it('keeps what lies outside the axis at its ends, and has exactly its width', () => {
    const any = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(any, any, any, fc.integer({ min: 0, max: 40 }), (value, error, threshold, width) => {
        const text = drawn(unit, width, { value, error: Math.abs(error), threshold }, 'red');
        expect(text).toHaveLength(width);
        if (width > 0) expect(text).toMatch(/[●◆]/);
      }),
    );
  });

  it('has a place on an axis without extent', () => {
    expect(drawn({ low: 3, high: 3 }, 5, { value: 3, error: 0 }, 'red')).toBe('●────');
  });
});
