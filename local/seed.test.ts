import { mkdir, mkdtemp, readFile, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
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
const fromStudy = (out: string, ...more: readonly string[]) =>
  seed('from-responses', 'study', '--out', out, ...more);
const refused = (stderr: RegExp) => ({
  ...{ code: 1, stdout: '' },
  stderr: expect.stringMatching(stderr) as string,
});

describe('npm run seed', () => {
  it('writes a seed that loads, and writes it again, but spares what was changed there, and what it did not write', async () => {
    for (const written of ['first', 'again']) {
      const ended = await fromStudy('mine');
      expect(ended, written).toMatchObject({ code: 0, stderr: '' });
      expect(ended.stdout).toContain('npm start -- --seed mine');
    }
    const loaded = await loadSeed(join(directory, 'mine'));
    expect(loaded.ok && loaded.value.banks.map((bank) => [bank.name, bank.learners.length])).toEqual([
      ['study', 2],
    ]);
    const policy = JSON.parse(await read('mine/study/policy.json')) as Record<string, unknown>;
    // Layout alone is no change.
    await write('mine/study/policy.json', JSON.stringify(policy));
    expect((await fromStudy('mine')).code).toBe(0);
    await write('mine/study/policy.json', JSON.stringify({ ...policy, maxItems: 1 }));
    await mkdir(join(directory, 'mine/other'));
    await write('mine/other/bank.json', 'mine');
    expect(await fromStudy('mine')).toEqual(
      refused(/mine\/study\/policy\.json: not written by this command, or changed since: .* --force/),
    );
    expect(await fromStudy('mine', '--name', 'other')).toEqual(
      refused(/mine\/other\/bank\.json: not written/),
    );
    expect(await read('mine/study/policy.json')).toContain('"maxItems":1');
    expect(await read('mine/other/bank.json')).toBe('mine');
    const titled = JSON.parse(await read('mine/seed.json')) as object;
    await write('mine/seed.json', JSON.stringify({ ...titled, title: 'My own title' }));
    expect(await fromStudy('mine')).toEqual(refused(/^mine\/seed\.json, /));
  });

  it.each([
    [
      'a directory that is no seed',
      'notes.txt',
      { 'notes.txt': 'mine' },
      /^theirs is not empty and is not a seed: .* --force/,
    ],
    [
      'a seed made by hand',
      'seed.json',
      {
        'seed.json': '{"name":"hand","title":"By hand","banks":[{"name":"study"}]}',
        'study/policy.json': '{}',
      },
      /^theirs contains a seed that this command did not write: .* --force/,
    ],
  ])('spares %s, unless it is forced', async (_, kept, files, stderr) => {
    await mkdir(join(directory, 'theirs/study'), { recursive: true });
    for (const [file, text] of Object.entries(files)) await write(`theirs/${file}`, text);
    expect(await fromStudy('theirs')).toEqual(refused(stderr));
    for (const [file, text] of Object.entries(files)) expect(await read(`theirs/${file}`)).toBe(text);
    expect((await fromStudy('theirs', '--force')).code).toBe(0);
    // Forced, it writes over a file of a seed, and leaves any other.
    expect(await readdir(join(directory, 'theirs'))).toEqual(expect.arrayContaining(['study', kept]));
  });

  it('deletes nothing, even when forced', async () => {
    await mkdir(join(directory, 'hand/study'), { recursive: true });
    await write('hand/study/generator.json', '{}');
    expect(await fromStudy('hand', '--force')).toEqual(
      refused(/^hand\/study\/generator\.json would override/),
    );
    expect(await readdir(join(directory, 'hand/study'))).toEqual(['generator.json']);
    expect((await fromStudy('hand', '--force', '--name', 'new')).code).toBe(0);
    expect(await read('hand/study/generator.json')).toBe('{}');
  });

  it('names a mistake in one line, without a stack trace, and writes nothing', async () => {
    await write('study/responses.csv', ',I1,I2\n1,1,x\n');
    expect(await fromStudy('mine')).toEqual(
      refused(
        /^responses\.csv: row 2, column "I2": found two values, .*: state which one is correct, with --correct 1 or --correct x\n$/,
      ),
    );
    expect((await loadSeed(join(directory, 'mine'))).ok).toBe(false);
    expect(await seed('from-responses', 'nowhere', '--out', 'mine')).toEqual(
      refused(/^cannot read nowhere\/responses\.csv: no such file or directory\n$/),
    );
    expect(await fromStudy('study/responses.csv')).toMatchObject({ code: 1 });
  });

  it('needs its action and where to write', async () => {
    expect((await seed('from-responses', 'study')).stderr).toMatch(/^missing: --out$/m);
    expect(await seed('from-answers', 'study', '--out', 'mine')).toMatchObject({ code: 2 });
    expect(await seed('from-responses')).toMatchObject({ code: 2 });
  });
});
