import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSeed } from '#local/seeds/load.ts';
import { useCommands } from '#test/support/commands.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'seed-command-'));
  await mkdir(join(directory, 'study'));
  await write('study/responses.csv', ',I1,I2\n1,1,0\n2,0,0\n');
  await write('study/q-matrix.csv', ',A\nI1,1\nI2,1\n');
  await write('study/parameters.json', JSON.stringify(parameters));
});
afterEach(() => rm(directory, { recursive: true }));

const parameters = {
  theta: { nodes: 11, min: -3, max: 3, mean: 0, sd: 1 },
  kcs: [{ kc: 'A', slope: 1, location: 0 }],
  items: [
    { item: 'I1', kcs: ['A'], guess: 0.1, slip: 0.1 },
    { item: 'I2', kcs: ['A'], guess: 0.2, slip: 0.1 },
  ],
};

function read(path: string): Promise<string> {
  return readFile(join(directory, path), 'utf8');
}

function write(path: string, text: string): Promise<void> {
  return writeFile(join(directory, path), text);
}

const run = useCommands();
const seed = (...args: readonly string[]) => run('local/seed.ts', args, directory);

describe('npm run seed', () => {
  it('writes a seed that loads, and writes it again', async () => {
    for (const written of ['first', 'again']) {
      const ended = await seed('from-responses', 'study', '--out', 'mine');
      expect(ended, written).toMatchObject({ code: 0, stderr: '' });
      expect(ended.stdout).toContain('npm start -- --seed mine');
    }
    const loaded = await loadSeed(join(directory, 'mine'));
    expect(loaded.ok && loaded.value.banks.map((bank) => [bank.name, bank.learners.length])).toEqual([
      ['study', 2],
    ]);
  });

  it('spares a directory that is no seed, unless it is forced', async () => {
    await mkdir(join(directory, 'other'));
    await write('other/notes.txt', 'mine');
    const refused = await seed('from-responses', 'study', '--out', 'other');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^other is not empty and is not a seed: .* --force/);
    expect((await seed('from-responses', 'study', '--out', 'other', '--force')).code).toBe(0);
    expect(await readFile(join(directory, 'other/notes.txt'), 'utf8')).toBe('mine');
    expect((await seed('from-responses', 'study', '--out', 'other/notes.txt')).code).toBe(1);
  });

  it('spares a seed made by hand, unless it is forced', async () => {
    await mkdir(join(directory, 'hand/study'), { recursive: true });
    const text = '{"name":"hand","title":"By hand","banks":[{"name":"study"}]}';
    await write('hand/seed.json', text);
    await write('hand/study/policy.json', '{"mine":true}');
    const refused = await seed('from-responses', 'study', '--out', 'hand');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^hand contains a seed that this command did not write: .* --force/);
    expect(await read('hand/seed.json')).toBe(text);
    expect(await read('hand/study/policy.json')).toBe('{"mine":true}');
    expect((await seed('from-responses', 'study', '--out', 'hand', '--force')).code).toBe(0);
  });

  it('spares what was changed in a seed of its own, and what it did not write there', async () => {
    expect((await seed('from-responses', 'study', '--out', 'mine')).code).toBe(0);
    const policy = JSON.parse(await read('mine/study/policy.json')) as Record<string, unknown>;
    // Layout alone is no change.
    await write('mine/study/policy.json', JSON.stringify(policy));
    expect((await seed('from-responses', 'study', '--out', 'mine')).code).toBe(0);
    await write('mine/study/policy.json', JSON.stringify({ ...policy, maxItems: 1 }));
    await mkdir(join(directory, 'mine/other'));
    await write('mine/other/bank.json', 'mine');
    for (const [argv, path] of [
      [[], 'mine/study/policy.json'],
      [['--name', 'other'], 'mine/other/bank.json'],
    ] as const) {
      const refused = await seed('from-responses', 'study', '--out', 'mine', ...argv);
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toContain(
        `${path}: not written by this command, or changed since: choose another directory, or add --force`,
      );
    }
    expect(await read('mine/study/policy.json')).toContain('"maxItems":1');
    expect(await read('mine/other/bank.json')).toBe('mine');
    const titled = JSON.parse(await read('mine/seed.json')) as object;
    await write('mine/seed.json', JSON.stringify({ ...titled, title: 'My own title' }));
    expect((await seed('from-responses', 'study', '--out', 'mine')).stderr).toMatch(/^mine\/seed\.json, /);
  });

  it('deletes nothing, even when forced', async () => {
    await mkdir(join(directory, 'hand/study'), { recursive: true });
    await write('hand/study/generator.json', '{}');
    const refused = await seed('from-responses', 'study', '--out', 'hand', '--force');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^hand\/study\/generator\.json would override/);
    expect(await readdir(join(directory, 'hand/study'))).toEqual(['generator.json']);
    expect((await seed('from-responses', 'study', '--out', 'hand', '--force', '--name', 'new')).code).toBe(0);
    expect(await read('hand/study/generator.json')).toBe('{}');
  });

  it('names a mistake in one line, without a stack trace, and writes nothing', async () => {
    await write('study/responses.csv', ',I1,I2\n1,1,x\n');
    expect(await seed('from-responses', 'study', '--out', 'mine')).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^responses\.csv: row 2, column "I2": found "x"; .* add --missing x\n$/,
      ) as string,
    });
    expect((await loadSeed(join(directory, 'mine'))).ok).toBe(false);
    expect(await seed('from-responses', 'nowhere', '--out', 'mine')).toMatchObject({
      code: 1,
      stderr: 'cannot read nowhere/responses.csv: no such file or directory\n',
    });
  });

  it('needs its action and where to write, and explains itself', async () => {
    expect((await seed('from-responses', 'study')).stderr).toMatch(/^missing: --out$/m);
    expect(await seed('from-answers', 'study', '--out', 'mine')).toMatchObject({ code: 2 });
    expect((await seed('from-responses')).code).toBe(2);
    const help = await seed('--help');
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toContain('--out <SEED>');
  });
});
