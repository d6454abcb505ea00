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
  it('offers the row that needs most first, and ends with the keys', async () => {
    expect(await after()).toStrictEqual({ kept: '', offers: [first] });
  });

  it('chooses up and down, within the rows', async () => {
    expect((await after('down', 'down', 'up', 'up', 'j', 'k')).offers).toStrictEqual([
      first,
      second,
      second,
      first,
      first,
      second,
      first,
    ]);
  });

  it.each(['e', 'return'])('shows the evidence of the chosen row with %s, and keeps it', async (key) => {
    const { kept, offers } = await after('down', key);
    expect(kept).toContain('outcome-q1');
    expect(kept).toContain('outcome-q3');
    expect(kept).not.toContain('outcome-q2');
    expect(offers.at(-1)).toBe(second);
  });

  it.each(['q', 'escape', 'ctrl-c', 'ctrl-d'])('ends with %s, and takes its offer away', async (key) => {
    expect(await after(key, 'a')).toStrictEqual({ kept: '', offers: [first] });
  });
});
