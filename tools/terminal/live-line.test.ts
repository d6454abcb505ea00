import { describe, expect, it } from 'vitest';
import { withLiveLine, type LineStream, type ShowLine } from './live-line.ts';

async function written(
  terminal: Omit<LineStream, 'write'>,
  use: (show: ShowLine) => void,
): Promise<string[]> {
  const texts: string[] = [];
  await withLiveLine({ ...terminal, write: (text) => texts.push(text) }, use);
  return texts;
}

/** What a terminal shows after these writes: each erases the line that it is on. */
function seen(texts: readonly string[]): string[] {
  for (const text of texts) expect(text.startsWith('\r\u001B[K')).toBe(true);
  return texts.map((text) => text.slice('\r\u001B[K'.length));
}

describe('a live line', () => {
  it('puts each new text in place of the one before, and leaves nothing', async () => {
    const texts = await written({ isTTY: true, columns: 40 }, (show) => {
      for (const text of ['a long beginning', 'b', 'b', 'end']) show(text);
    });
    expect(seen(texts)).toEqual(['a long beginning', 'b', 'end', '']);
  });

  it('leaves nothing when the work throws', async () => {
    const texts: string[] = [];
    const work = withLiveLine({ isTTY: true, write: (text) => texts.push(text) }, (show) => {
      show('half');
      throw new Error('stopped');
    });
    await expect(work).rejects.toThrow('stopped');
    expect(seen(texts)).toEqual(['half', '']);
  });

  it.each([
    [20, 'x', 18],
    [20, '漢', 9],
    [undefined, 'x', 78],
  ])('of a terminal with %s columns shows of many "%s" only %i', async (columns, text, shown) => {
    const terminal = columns === undefined ? { isTTY: true } : { isTTY: true, columns };
    const texts = await written(terminal, (show) => show(text.repeat(200)));
    expect(seen(texts)).toEqual([`${text.repeat(shown)}…`, '']);
  });

  it('stays one line, whatever it is given', async () => {
    const texts = await written({ isTTY: true, columns: 40 }, (show) => show('two\nlines\u001B[2J'));
    expect(seen(texts)).toEqual(['two\u{fffd}lines\u{fffd}[2J', '']);
  });

  it.each([{}, { isTTY: false, columns: 40 }])('is silent on %j', async (stream) => {
    expect(await written(stream, (show) => show('a'))).toEqual([]);
  });
});
