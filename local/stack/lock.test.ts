import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { takeLock } from './lock.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lock-'));
  file = join(folder, '.local', 'lock');
});

const held = (): Promise<boolean> => Promise.resolve(true);
const left = (): Promise<boolean> => Promise.resolve(false);

describe('the lock of a folder', () => {
  it('is one process’s at a time, and names it to the others', async () => {
    const first = await takeLock(file, 11, held);
    expect(await takeLock(file, 12, held)).toEqual({ ok: false, error: { pid: 11 } });
    if (first.ok) await first.value.release();
    expect(await readdir(join(folder, '.local'))).toEqual([]);
    expect((await takeLock(file, 12, held)).ok).toBe(true);
    expect(await readFile(file, 'utf8')).toBe('12\n');
  });

  it('goes to one of many that want it at once, also when a dead one left it behind', async () => {
    for (const before of [undefined, '9\n']) {
      await rm(file, { force: true });
      if (before !== undefined) await writeFile(file, before);
      const alive = (pid: number): Promise<boolean> => Promise.resolve(pid !== 9);
      const taken = await Promise.all(
        Array.from({ length: 20 }, (_, index) => takeLock(file, 100 + index, alive)),
      );
      const winners = taken.flatMap((result, index) => (result.ok ? [100 + index] : []));
      expect(winners).toHaveLength(1);
      expect(await readFile(file, 'utf8')).toBe(`${winners[0] ?? 0}\n`);
    }
  });

  it.each([
    ['of a process that has ended', '11\n', left],
    ['of an earlier process with the same id', '12\n', held],
    ['that names nobody', 'x', held],
  ])('replaces a file %s', async (_, text, isHeld) => {
    const first = await takeLock(file, 1, held);
    if (first.ok) await writeFile(file, text);
    expect((await takeLock(file, 12, isHeld)).ok).toBe(true);
    expect(await readFile(file, 'utf8')).toBe('12\n');
    expect(await readdir(join(folder, '.local'))).toEqual(['lock']);
  });

  it('is not given back by one who has lost it', async () => {
    const first = await takeLock(file, 11, held);
    expect((await takeLock(file, 12, left)).ok).toBe(true);
    if (first.ok) await first.value.release();
    expect(await readFile(file, 'utf8')).toBe('12\n');
  });
});
