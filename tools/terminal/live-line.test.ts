import { describe, expect, it } from 'vitest';
import { liveLine } from './live-line.ts';
import type { LineStream, LiveLine } from './live-line.ts';

function written(terminal: Omit<LineStream, 'write'>, use: (line: LiveLine) => void): string[] {
  const texts: string[] = [];
  use(liveLine({ ...terminal, write: (text) => texts.push(text) }));
  return texts;
}

/** What a terminal shows after these writes: each erases the line that it is on. */
function seen(texts: readonly string[]): string[] {
  for (const text of texts) expect(text.startsWith('\r\u001B[K')).toBe(true);
  return texts.map((text) => text.slice('\r\u001B[K'.length));
}

describe('a live line', () => {
  it('puts each text in place of the one before, and leaves nothing', () => {
    const texts = written({ isTTY: true, columns: 40 }, ({ show, clear }) => {
      show('a long beginning');
      show('end');
      clear();
    });
    expect(seen(texts)).toEqual(['a long beginning', 'end', '']);
  });

  it('writes only what is new, also after it was cleared', () => {
    const texts = written({ isTTY: true, columns: 40 }, ({ show, clear }) => {
      clear();
      for (const text of ['a', 'a', 'b', 'b']) show(text);
      clear();
      clear();
      show('b');
    });
    expect(seen(texts)).toEqual(['a', 'b', '', 'b']);
  });

  it.each([
    [20, 19],
    [undefined, 79],
    [0, 79],
  ])('of a terminal with %s columns has at most %i characters, none of them halved', (columns, length) => {
    const terminal = columns === undefined ? { isTTY: true } : { isTTY: true, columns };
    const texts = written(terminal, ({ show }) => {
      show('😀'.repeat(200));
    });
    expect(seen(texts)).toEqual(['😀'.repeat(length)]);
  });

  it('follows a terminal that is made narrower', () => {
    const terminal = { isTTY: true, columns: 40, texts: [] as string[] };
    const { show } = liveLine({
      isTTY: true,
      get columns() {
        return terminal.columns;
      },
      write: (text) => terminal.texts.push(text),
    });
    show('x'.repeat(60));
    terminal.columns = 10;
    show('x'.repeat(60));
    expect(seen(terminal.texts).map(({ length }) => length)).toEqual([39, 9]);
  });

  it('stays one line, whatever it is told', () => {
    const texts = written({ isTTY: true, columns: 40 }, ({ show }) => {
      show('two\nlines\u001B[2J');
    });
    expect(seen(texts)).toEqual(['two\u{fffd}lines\u{fffd}[2J']);
  });

  it.each([{}, { isTTY: false, columns: 40 }])('is silent on %j', (stream) => {
    const texts = written(stream, ({ show, clear }) => {
      show('a');
      clear();
    });
    expect(texts).toEqual([]);
  });
});
