import { describe, expect, it } from 'vitest';
import { paintFor } from './paint.ts';

describe('paintFor', () => {
  it('colours a terminal', () => {
    expect(paintFor({ isTTY: true }, {})('red', 'no')).toBe('\u001b[31mno\u001b[39m');
  });

  it.each([
    ['a pipe', {}, {}],
    ['NO_COLOR', { isTTY: true }, { NO_COLOR: '1' }],
    ['a dumb terminal', { isTTY: true }, { TERM: 'dumb' }],
  ])('sends no ANSI code to %s', (_name, stream, environment) => {
    expect(paintFor(stream, environment)('red', 'no')).toBe('no');
  });

  it('takes an empty NO_COLOR for none', () => {
    expect(paintFor({ isTTY: true }, { NO_COLOR: '' })('red', 'no')).not.toBe('no');
  });
});
