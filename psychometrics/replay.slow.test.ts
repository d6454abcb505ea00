import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { useCommands } from '#test/support/commands.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'replay-'));
});

const dina = [
  { item: 'I1', kcs: ['A'], guess: 0.1, slip: 0.1 },
  { item: 'I2', kcs: ['B', 'A'], guess: 0.2, slip: 0.1 },
];

async function replay(
  items: readonly object[],
  { responses = ',"I2",I1\r\nL1,1,0\r\nL2,0,1\r\nL3,1,1\r\n', options = [] as readonly string[] } = {},
) {
  const parameters = {
    theta: { nodes: 11, min: -3, max: 3, mean: 0, sd: 1 },
    kcs: [
      { kc: 'A', slope: 1, location: 0 },
      { kc: 'B', slope: 1.5, location: 0.5, label: 'Borrowing' },
    ],
    items,
  };
  await writeFile(join(directory, 'responses.csv'), responses);
  await writeFile(join(directory, 'q-matrix.csv'), ',A,B\nI1,1,0\nI2,1,1\n');
  await writeFile(join(directory, 'parameters.json'), JSON.stringify(parameters));
  return run('--data', directory, '--json', '--verify', ...options);
}

const command = useCommands();
const run = (...argv: readonly string[]) => command('psychometrics/replay.ts', argv);

describe('npm run replay', () => {
  it('replays each learner and agrees with brute force', async () => {
    const { code, stdout, stderr } = await replay(dina, { options: ['--confidence', '0.6'] });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const figures = JSON.parse(stdout) as { verification: { largestDifference: number } };
    expect(figures).toMatchObject({
      learners: 3,
      pool: 2,
      skills: [{ skill: 'A' }, { skill: 'B: Borrowing' }],
    });
    expect(figures.verification.largestDifference).toBeLessThan(1e-12);
  });

  it('offers only answered items, and leaves out and counts learners without any answer', async () => {
    const full = {
      responses: 'learner;I1;I2\nL1;;1,0\nL2;NA;\nL3;1;1\n',
      options: ['--confidence', '0.999'],
    };
    const { code, stdout, stderr } = await replay(dina, full);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const figures = JSON.parse(stdout) as { verification: object };
    // L1 sits one item, L3 both: no classification is that sure.
    expect(figures).toMatchObject({ learners: 2, leftOut: 1, incomplete: 1, lengths: [0, 1, 1] });
    expect(figures.verification).toMatchObject({ largestDifference: expect.closeTo(0, 12) as number });
    const text = await run('--data', directory);
    expect(text.stdout).toMatch(/^left out +1 learners, because they answered no item$/m);
    expect(text.stdout).toMatch(/^missing answers +1 learners, who were offered only the items that/m);
  });

  it('takes success probabilities by pattern as well as guess and slip', async () => {
    const tables = [
      { item: 'I1', kcs: ['A'], probabilities: [0.1, 0.9] },
      { item: 'I2', kcs: ['B', 'A'], probabilities: [0.2, 0.2, 0.2, 0.9] },
    ];
    expect(await replay(tables)).toEqual(await replay(dina));
    const gdina = [tables[0] ?? {}, { item: 'I2', kcs: ['B', 'A'], probabilities: [0.2, 0.3, 0.6, 0.9] }];
    const other = await replay(gdina);
    expect(other.code).toBe(0);
    expect(other.stdout).not.toBe((await replay(dina)).stdout);
  });

  it('names the defects of a study', async () => {
    expect(await replay([{ ...dina[0], kcs: ['C'] }, dina[1] ?? {}])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('"C" is not listed under kcs') as string,
    });
  });
});
