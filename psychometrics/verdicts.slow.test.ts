import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useCommands } from '#test/support/commands.ts';
import { damages } from './verdicts/damages.ts';
import { structureStudies } from './verdicts/structures.ts';

const command = useCommands();
const verdicts = (...args: readonly string[]) => command('psychometrics/verdicts.ts', args);

/** Some two minutes on an idle machine. */
const PATIENCE = 900_000;

describe('npm run verdicts', () => {
  it(
    'meets no finding in 10 sound studies of each design',
    async () => {
      const { code, stdout, stderr } = await verdicts('--studies', 'sound', '--seeds', '300-309');
      expect([code, stderr]).toEqual([0, '']);
      expect(
        stdout.match(/^(english|fractions|didactic) +sound +\(no finding\) +10\/10 .* 0\/10 /gm),
      ).toHaveLength(3);
    },
    PATIENCE,
  );

  it(
    'finds every damage by its own condition and the right items, and writes the counts',
    async () => {
      const out = join(mkdtempSync(join(tmpdir(), 'verdicts-')), 'verdicts.json');
      const { code, stdout, stderr } = await verdicts(
        '--designs',
        'english',
        '--seeds',
        '300-302',
        '--out',
        out,
      );
      expect([code, stderr]).toEqual([0, '']);
      const counts = JSON.parse(readFileSync(out, 'utf8')) as { name: string; right: number }[];
      const names = ['sound', ...Object.keys(damages)];
      expect(counts.map(({ name, right }) => [name, right])).toEqual(names.map((name) => [name, 3]));
      expect(stdout.match(/^english +[a-z_]+ +[a-z_]+ +3\/3 /gm)).toHaveLength(names.length - 2);
      expect(stdout).toMatch(/^english +hidden_group +\(cannot be found\) +0\/3 /m);
    },
    PATIENCE,
  );

  it(
    'accepts one ability, and finds prerequisites and two abilities',
    async () => {
      const names = Object.keys(structureStudies);
      const { code, stdout } = await verdicts('--studies', names.join(','), '--seeds', '300-302');
      expect(code).toBe(0);
      for (const name of names) expect(stdout).toMatch(new RegExp(`^structures +${name} .* 3/3 `, 'm'));
    },
    PATIENCE,
  );

  it('damages a real study, without aims', async () => {
    const args = ['--data', 'examples/study', '--studies', 'sound,reversed_item', '--seeds', '1'];
    const { code, stdout } = await verdicts(...args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^examples\/study +sound +\(no finding\) +1\/1 /m);
    expect(stdout).toMatch(/^examples\/study +reversed_item +reversed_items +/m);
  });

  it.each([
    [['--studies', 'sound,broken'], 'unknown study "broken": expected sound, reversed_item'],
    [['--designs', 'french'], 'unknown design "french": expected english, fractions, didactic'],
    [['--seeds', '9-1'], 'It must be one seed, or A-B'],
    [['--seeds', 'x'], 'It must be one seed, or A-B'],
  ])('rejects %j', async (args, message) => {
    const { code, stdout, stderr } = await verdicts(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });
});
