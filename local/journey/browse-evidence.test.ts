import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { plain } from '#tools/terminal/paint.ts';
import { browseEvidence } from './browse-evidence.ts';
import { keysOf } from './keys.ts';
import { sampleReport, sampleRow } from '#test/support/sample-report.ts';

const rows = [sampleRow('k-gap', 'gap', 0.04, ['q2']), ...sampleReport().mastery.slice(0, 1)];
const names = { component: (guid: string) => `Name ${guid}`, item: () => undefined };

/** What stays on the terminal, which offers were drawn below it, and in which modes the terminal was, once this has been typed. */
async function after(typed: string, { isOver = true } = {}) {
  const modes: boolean[] = [];
  const offers: string[] = [];
  let kept: readonly string[] = [];
  const stream = new PassThrough();
  const input = Object.assign(stream, { setRawMode: (raw: boolean) => modes.push(raw) });
  stream.write(typed);
  if (isOver) stream.end();
  const write = (piece: string): void => {
    const [, up = '0', text = ''] = /^(?:\u001b\[(\d+)A\u001b\[0J)?(.*)$/s.exec(piece) ?? [];
    offers.push(...(/▸ (.*)\n/.exec(text)?.slice(1) ?? []));
    kept = [...kept.slice(0, kept.length - Number(up)), ...text.split('\n').slice(0, -1)];
  };
  const keys = keysOf(input as unknown as Parameters<typeof keysOf>[0]);
  await browseEvidence(rows, names, keys, { output: { isTTY: true, columns: 100, write }, paint: plain });
  return { kept, offers, modes, isPaused: stream.isPaused() };
}

const first = 'Name k-gap  gap  1 of 2';
const second = 'Name k-mastered  mastered  2 of 2';

describe('browseEvidence', () => {
  it('offers the row that needs most first, chooses up and down within the rows, and takes its offer away', async () => {
    const { kept, offers } = await after('\u001b[B\u001b[B\u001b[A\u001b[Ajk');
    expect(offers).toStrictEqual([first, second, second, first, first, second, first]);
    expect(kept).toStrictEqual([]);
  });

  it.each(['q', '\u001b', '\u0003', '\u0004'])('ends at %j, and gives the terminal back', async (key) => {
    expect(await after(key, { isOver: false })).toStrictEqual({
      kept: [],
      offers: [first],
      modes: [true, false],
      isPaused: true,
    });
  });

  it.each(['e', '\r'])('shows the evidence of the chosen row at %j, and keeps it', async (key) => {
    const { kept, offers } = await after(`\u001b[B${key}`);
    expect(kept.join('\n').match(/outcome-q\d/g)).toEqual(['outcome-q1', 'outcome-q3']);
    expect(offers.at(-1)).toBe(second);
  });
});
