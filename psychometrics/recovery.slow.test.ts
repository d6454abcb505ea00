import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fittedTable } from '#shared/records/fitted-table.ts';
import { exposureMethodNames } from './recovery/exposure.ts';
import { useCommands } from '#test/support/commands.ts';

const command = useCommands();
const recovery = (...args: readonly string[]) => command('psychometrics/recovery.ts', args);

const tiny = ['--worlds', '1', '--learners', '6', '--items', '24', '--kcs', '4', '--length', '6'];
const folder = mkdtempSync(join(tmpdir(), 'recovery-'));

describe('npm run recovery', () => {
  it('writes the same results for the same arguments, and exits 0 when every aim is met', async () => {
    const [first, second] = [join(folder, 'a/b'), join(folder, 'c')];
    const run = await recovery(...tiny, '--bar', '0.05', '--out', first);
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(run.stdout.match(/^met /gm)?.length).toBeGreaterThanOrEqual(7);
    expect(run.stdout).not.toMatch(/^missed (?!.*does not affect the exit code)/m);
    expect(run.stdout).toContain('The aims are 20 times as lax');
    expect(run.stdout.trimEnd().split('\n').slice(-2)).toEqual([
      join(first, 'report.html'),
      join(first, 'results.json'),
    ]);
    expect((await recovery(...tiny, '--bar', '0.05', '--out', second)).code).toBe(0);
    for (const name of ['report.html', 'results.json']) {
      expect(readFileSync(join(second, name), 'utf8')).toBe(readFileSync(join(first, name), 'utf8'));
    }
    expect(readFileSync(join(first, 'report.html'), 'utf8')).toMatch(/^<!doctype html>/);
  });

  it('shows exposure control beside the other rows and writes its parameters by world', async () => {
    const out = join(folder, 'exposure');
    const run = await recovery(...tiny, '--bar', '0.05', '--exposure', ...exposureMethodNames, '--out', out);
    expect(run).toMatchObject({ code: 0, stderr: '' });
    for (const method of exposureMethodNames) {
      expect(run.stdout).toContain(`exposure: ${method}`);
      expect(run.stdout).toMatch(new RegExp(`^(met|missed) +overlap, ${method} `, 'm'));
    }
    expect(run.stdout.trimEnd().split('\n').at(-1)).toBe(join(out, 'exposure.json'));
    const tables = JSON.parse(readFileSync(join(out, 'exposure.json'), 'utf8')) as Record<string, object>;
    expect(Object.keys(tables)).toEqual(['1 0']);
    const table = fittedTable.parse(tables['1 0']);
    expect(table.probabilities).not.toEqual({});
    expect(table.fittedFor).toEqual({
      selection: { maxItems: 6, blueprintCoverage: 'none', selectionTarget: 'latent_state' },
      population: { mean: 0, sd: 1 },
    });
    const { code, stdout, stderr } = await recovery(...tiny, '--bar', '1000', '--exposure', 'progressive');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^\d of 7 aims missed: .*RMSE of ability/);
    expect(stdout).toMatch(/^missed {2}RMSE of ability/m);
  });

  it.each([
    [['--items', '10', '--kcs', '20'], 2, '--items must not be below --kcs'],
    [['--items', '25', '--kcs', '20'], 2, '--items must not be below --length'],
    [['--bar', '0'], 2, 'a number from 0.01 to 1000'],
    [['--bar', 'high'], 2, "'--bar <FACTOR>' argument 'high' is invalid"],
    [['--policy', 'best'], 2, 'Allowed choices are plain, floors'],
  ])('refuses %j', async (args, code, message) => {
    const run = await recovery(...args);
    expect(run).toMatchObject({ code, stdout: '' });
    expect(run.stderr).toContain(message);
  });

  it('fails before the computation when a folder cannot be created', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const run = await recovery('--out', join(file, 'below'));
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/^cannot create the folder .*: .*file is not a directory\n$/);
  });
});
