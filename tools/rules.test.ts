import { describe, expect, it } from 'vitest';
import { useCommands } from '#test/support/commands.ts';

const run = useCommands();
const rules = (...argv: readonly string[]) => run('tools/rules.ts', argv);

describe('npm run rules', () => {
  it('counts by document, or by the prefixes that are named', async () => {
    const all = await rules('--quiet');
    expect(all).toMatchObject({ code: 0, stderr: '' });
    expect(all.stdout).toMatch(/^RP: \d+ of \d+ rules .*\nMA: \d+ of \d+ .*\nRC: \d+ of \d+ .*\n$/);
    expect((await rules('RP-1', 'MA-0', '--quiet')).stdout).toMatch(/^RP-1: .*\nMA-0: .*\n$/);
  });

  it('lists what no test cites', async () => {
    const [heading = '', ...missing] = (await rules('MA')).stdout.trimEnd().split('\n');
    const [cited = NaN, all = NaN] = (/(\d+) of (\d+)/.exec(heading) ?? []).slice(1).map(Number);
    expect(missing).toHaveLength(all - cited);
    for (const line of missing) expect(line).toMatch(/^ {2}MA-\d{3} {2}\[.*\] {2}./);
  });

  it('fails for a prefix of no rule, after what it can say', async () => {
    expect(await rules('ZZ', 'RC', '--quiet')).toEqual({
      code: 2,
      stdout: expect.stringMatching(/^RC: .*\n$/) as string,
      stderr: 'ZZ: no rule of docs/rules.tsv starts with this prefix\n',
    });
  });
});
