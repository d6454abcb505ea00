import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';

function recovery(...args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, 'recovery.ts'), ...args],
    { encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } },
  );
  return { status, stdout, stderr };
}

const tiny = ['--worlds', '1', '--learners', '6', '--items', '24', '--kcs', '4', '--length', '6'];
const folder = mkdtempSync(join(tmpdir(), 'recovery-'));

describe('npm run recovery', () => {
  it('writes the same results for the same arguments, and exits 0 when every aim is met', () => {
    const [first, second] = [join(folder, 'a/b'), join(folder, 'c')];
    const run = recovery(...tiny, '--bar', '0.05', '--out', first);
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(run.stdout.match(/^met /gm)).toHaveLength(7);
    expect(run.stdout).toContain('The aims are 20 times as lax');
    expect(run.stdout.trimEnd().split('\n').slice(-2)).toEqual([
      join(first, 'report.html'),
      join(first, 'results.json'),
    ]);
    expect(recovery(...tiny, '--bar', '0.05', '--out', second).status).toBe(0);
    for (const name of ['report.html', 'results.json']) {
      expect(readFileSync(join(second, name), 'utf8')).toBe(readFileSync(join(first, name), 'utf8'));
    }
    expect(readFileSync(join(first, 'report.html'), 'utf8')).toMatch(/^<!doctype html>/);
  });

  it('shows exposure control beside the other rows and writes its parameters by world', () => {
    const out = join(folder, 'exposure');
    const methods = ['randomesque', 'progressive', 'sympson_hetter'];
    const run = recovery(...tiny, '--bar', '0.05', '--exposure', ...methods, '--out', out);
    expect(run).toMatchObject({ status: 0, stderr: '' });
    for (const method of methods) {
      expect(run.stdout).toContain(`exposure: ${method}`);
      expect(run.stdout).toMatch(new RegExp(`^(met|missed) +overlap, ${method} `, 'm'));
    }
    expect(run.stdout.trimEnd().split('\n').at(-1)).toBe(join(out, 'exposure.json'));
    const tables = JSON.parse(readFileSync(join(out, 'exposure.json'), 'utf8')) as Record<string, object>;
    const exposureTable = z.record(z.string(), z.number().min(0).max(1));
    expect(Object.keys(tables)).toEqual(['1 0']);
    expect(exposureTable.parse(tables['1 0'])).not.toEqual({});
    const { status, stderr } = recovery(...tiny, '--bar', '1000', '--exposure', 'progressive');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^\d of 7 aims/);
  });

  it('exits 1 and names the aims that are missed', () => {
    const { status, stdout, stderr } = recovery(...tiny, '--bar', '1000');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^\d of 7 aims missed: .*RMSE of ability/);
    expect(stdout).toMatch(/^missed {2}RMSE of ability/m);
  });

  it.each([
    [['--items', '10', '--kcs', '20'], 2, '--items must not be below --kcs'],
    [['--items', '25', '--kcs', '20'], 2, '--items must not be below --length'],
    [['--bar', '0'], 2, 'a number from 0.01 to 1000'],
    [['--bar', 'high'], 2, "'--bar <FACTOR>' argument 'high' is invalid"],
    [['--policy', 'best'], 2, 'Allowed choices are plain, floors'],
  ])('refuses %j', (args, status, message) => {
    const run = recovery(...args);
    expect(run).toMatchObject({ status, stdout: '' });
    expect(run.stderr).toContain(message);
  });

  it('fails before the computation when a folder cannot be created', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const run = recovery('--out', join(file, 'below'));
    expect(run).toMatchObject({ status: 1, stdout: '' });
    expect(run.stderr).toMatch(/^cannot create the folder .*: .*file is not a directory\n$/);
  });
});
