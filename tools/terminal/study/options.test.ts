import { open, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { program } from '../command.ts';
import { argument, namesOf } from './names.ts';
import { studyOptions, tableOptions } from './options.ts';
import { readTableFile } from './files.ts';

const folder = await mkdtemp(join(tmpdir(), 'study-options-'));

describe('the options', () => {
  it('take lists with spaces, scores and names', () => {
    const command = studyOptions(program('test', '')).exitOverride();
    command.parse(
      [
        '--missing',
        '99, .',
        '--ignore',
        'age,home language',
        '--correct-from',
        '80%',
        '--attempts',
        'best',
        '--missing',
      ].slice(0, -1),
      { from: 'user' },
    );
    expect(command.opts()).toMatchObject({
      missing: ['99', '.'],
      ignore: ['age', 'home language'],
      correctFrom: 0.8,
      attempts: 'best',
    });
  });

  it('read the file of the key', async () => {
    const path = join(folder, 'key.csv');
    await writeFile(path, 'item,key\nI1,A\n');
    expect(await tableOptions({ key: path, byPosition: true })).toEqual({
      ok: true,
      value: { byPosition: true, key: { name: path, text: 'item,key\nI1,A\n' } },
    });
    expect(await tableOptions({ key: join(folder, 'absent') })).toMatchObject({ ok: false });
  });

  it.each(['a', 'a b', 'a,b', 'a"b', "a'b", '$x', '-1', '=1+1', '../x', 'Пример 1', '%20'])(
    'take the name %j as messages show it',
    (name) => {
      const shown = argument(name, 'z');
      // As a POSIX shell reads one word.
      const word = shown.startsWith("'")
        ? shown.slice(1, -1).replaceAll(`'\\''`, "'")
        : shown.replaceAll(/^"|"$/g, '');
      expect(namesOf(word)).toEqual([name, 'z']);
    },
  );
});

describe('readTableFile', () => {
  it('names the size of a file that is too large', async () => {
    const path = join(folder, 'large.csv');
    const file = await open(path, 'w');
    await file.truncate(200 * 1024 * 1024);
    await file.close();
    const read = await readTableFile(path);
    expect(read.ok ? '' : read.error).toMatch(/large\.csv: 200 MiB are more than the 32 MiB of a table/);
  });

  it('names what is no table, before its size', async () => {
    const path = join(folder, 'book.csv');
    await writeFile(path, 'PK\u0003\u0004');
    const read = await readTableFile(path);
    expect(read.ok ? '' : read.error).toMatch(/book\.csv: this is no table, but an Excel workbook/);
    expect(await readTableFile(folder)).toMatchObject({ ok: false });
  });
});
