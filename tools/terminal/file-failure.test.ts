import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { err, ok } from '#shared/kernel/result.ts';
import { readIfThere } from './file-failure.ts';

it('tells a file that is absent from one that cannot be read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'file-failure-'));
  const file = join(folder, 'file');
  await writeFile(file, 'text');
  expect(await readIfThere(file)).toEqual(ok('text'));
  expect(await readIfThere(join(folder, 'nowhere'))).toEqual(ok(undefined));
  expect(await readIfThere(join(file, 'below'))).toEqual(ok(undefined));
  expect(await readIfThere(folder)).toEqual(err(`cannot read ${folder}: it is a directory`));
});
