import { describe, expect, it } from 'vitest';
import { plain } from '#tools/terminal/paint.ts';
import { browseEvidence } from './browse-evidence.ts';
import { sampleReport, sampleRow } from '#test/support/sample-report.ts';

const rows = [sampleRow('k-gap', 'gap', 0.04, ['q2']), ...sampleReport().mastery.slice(0, 1)];
const names = { component: (guid: string) => `Name ${guid}`, item: () => undefined };

/** What stays on the terminal, and what is drawn last below it, once these keys have been pressed. */
async function after(
  ...keys: string[]
): Promise<{ readonly kept: string; readonly offers: readonly string[] }> {
  const written: string[] = [];
  const pressed = (async function* () {
    yield* await Promise.resolve(keys);
  })();
  await browseEvidence(rows, names, pressed, {
    output: { isTTY: true, columns: 100, rows: 24, write: (text) => written.push(text) },
    paint: plain,
  });
  const pieces = written.map((text) => text.replace('\u001b[2A\u001b[0J', ''));
  return {
    kept: pieces.filter((text) => !text.includes('▸')).join(''),
    offers: pieces.flatMap((text) => /▸ (.*)\n/.exec(text)?.[1] ?? []),
  };
}

const first = 'Name k-gap  gap  1 of 2';
const second = 'Name k-mastered  mastered  2 of 2';

describe('browseEvidence', () => {
  it.each([
    ['offers the row that needs most first, and ends with the keys', [], [first]],
    [
      'chooses up and down, within the rows',
      ['down', 'down', 'up', 'up', 'j', 'k'],
      [first, second, second, first, first, second, first],
    ],
    ...['q', 'escape', 'ctrl-c', 'ctrl-d'].map((key): [string, string[], string[]] => [
      `ends with ${key}`,
      [key, 'j'],
      [first],
    ]),
  ])('%s, and takes its offer away', async (_, keys, offers) => {
    expect(await after(...keys)).toStrictEqual({ kept: '', offers });
  });

  it.each(['e', 'return'])('shows the evidence of the chosen row with %s, and keeps it', async (key) => {
    const { kept, offers } = await after('down', key);
    expect(kept.match(/outcome-q\d/g)).toEqual(['outcome-q1', 'outcome-q3']);
    expect(offers.at(-1)).toBe(second);
  });
});
