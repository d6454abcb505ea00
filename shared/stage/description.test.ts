import { mkdtemp, readdir, stat, writeFile } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { err, ok } from '#shared/kernel/result.ts';
import { describedStack } from '#test/support/described-stack.ts';
import {
  findRunningStack,
  localFiles,
  removeStackDescription,
  writeStackDescription,
} from './description.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stack-'));
  file = localFiles(folder).stack;
});

const described = (pid: number) => describedStack({ pid });

/** The id of a process that has ended. */
function deadPid(): number {
  return spawnSync(process.execPath, ['-e', '']).pid;
}

describe('the description of the running stack', () => {
  it('is read back as written, by its owner only, and leaves no partial file', async () => {
    await writeStackDescription(file, described(process.pid));
    await writeStackDescription(file, described(process.pid));
    expect(await findRunningStack(file)).toStrictEqual(ok(described(process.pid)));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(dirname(file))).toStrictEqual(['stack.json']);
  });

  it('tells absent, dead and unreadable apart, and how to start one', async () => {
    const none = (reason: string) => err(expect.stringMatching(new RegExp(`${reason}.*npm start`)));
    expect(await findRunningStack(file)).toStrictEqual(none('no local stack is running'));
    await writeStackDescription(file, described(deadPid()));
    expect(await findRunningStack(file)).toStrictEqual(none('ended without cleaning up'));
    await writeFile(file, '{"pid":1}');
    expect(await findRunningStack(file)).toStrictEqual(none('not of this version'));
  });

  it('is removed by the process that wrote it and by no other', async () => {
    await writeStackDescription(file, described(process.pid));
    await removeStackDescription(file, process.pid + 1);
    expect(await findRunningStack(file)).toMatchObject({ ok: true });
    await removeStackDescription(file, process.pid);
    expect(await findRunningStack(file)).toMatchObject({ ok: false });
    await removeStackDescription(file, process.pid);
  });
});
