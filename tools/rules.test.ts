import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

function rules(...argv: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, 'rules.ts'), ...argv],
    { encoding: 'utf8' },
  );
  return { status, stdout, stderr };
}

describe('npm run rules', () => {
  it('counts by document, or by the prefixes that are named', () => {
    const all = rules('--quiet');
    expect(all).toMatchObject({ status: 0, stderr: '' });
    expect(all.stdout).toMatch(/^RP: \d+ of \d+ rules .*\nMA: \d+ of \d+ .*\nRC: \d+ of \d+ .*\n$/);
    expect(rules('RP-1', 'MA-0', '--quiet').stdout).toMatch(/^RP-1: .*\nMA-0: .*\n$/);
  });

  it('lists what no test cites', () => {
    const [heading = '', ...missing] = rules('MA').stdout.trimEnd().split('\n');
    const [cited = NaN, all = NaN] = (/(\d+) of (\d+)/.exec(heading) ?? []).slice(1).map(Number);
    expect(missing).toHaveLength(all - cited);
    for (const line of missing) expect(line).toMatch(/^ {2}MA-\d{3} {2}\[.*\] {2}./);
  });

  it('fails for a prefix of no rule, after what it can say', () => {
    expect(rules('ZZ', 'RC', '--quiet')).toEqual({
      status: 2,
      stdout: expect.stringMatching(/^RC: .*\n$/) as string,
      stderr: 'ZZ: no rule of docs/rules.tsv starts with this prefix\n',
    });
  });
});
