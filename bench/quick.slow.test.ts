import { describe, expect, it } from 'vitest';
import { runProgram } from '#test/support/commands.ts';
import { figuresOf } from './figures.ts';
import { names } from './parts.ts';

describe('npm run bench', () => {
  it('refuses a commit that git does not know', async () => {
    const { code, stderr } = await runProgram('bench/index.ts', ['--against', 'no-such-commit']);
    expect(stderr).toBe('unknown commit "no-such-commit": git knows no commit of this name\n');
    expect(code).toBe(2);
  });
});

describe('one small round of the bench', () => {
  it.each(names)('runs %s, gets figures and holds its guards', async (name) => {
    const { code, stdout, stderr } = await runProgram('bench/index.ts', [
      '--quick',
      '--check',
      '--only',
      name,
    ]);
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    expect([...figuresOf(stdout).keys()], stdout).not.toEqual([]);
  });
});
