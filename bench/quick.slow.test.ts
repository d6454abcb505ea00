import { describe, expect, it } from 'vitest';
import { runProgram } from '#test/support/commands.ts';
import { figuresOf } from './figures.ts';
import { names } from './parts.ts';

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
