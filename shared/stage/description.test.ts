import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSigner } from '#test/support/release.ts';
import {
  describeFixtures,
  describeNoStack,
  findRunningStack,
  localFiles,
  removeStackDescription,
  writeStackDescription,
} from './description.ts';
import type { StackDescription } from './description.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stack-'));
  file = localFiles(folder).stack;
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const { key: releaseKey } = createSigner();

function description(pid: number): StackDescription {
  const url = 'http://127.0.0.1:1/x';
  return {
    reportsUrl: url,
    masteryUrl: url,
    sandboxUrl: url,
    problemsUrl: url,
    receiptsUrl: url,
    docsUrl: url,
    explorerUrl: url,
    platformUrl: url,
    awsUrl: url,
    tenants: [{ tenantId: 't', sub: 's', role: 'r', playerToken: 'p' }],
    fixtures: describeFixtures(
      {},
      { masteryGateAttempt: 'a', adaptiveDiagnosticAttempt: 'b', candidate: 'c', form: 'd' },
    ),
    releaseKey,
    pid,
    seedDirectory: '/seed',
    logFile: '/log',
  };
}

/** The id of a process that has ended. */
function deadPid(): number {
  return spawnSync(process.execPath, ['-e', '']).pid;
}

describe('the description of the running stack', () => {
  it('is read back as written, by its owner only, and leaves no partial file', async () => {
    await writeStackDescription(file, description(process.pid));
    await writeStackDescription(file, description(process.pid));
    expect(await findRunningStack(file)).toStrictEqual({ ok: true, value: description(process.pid) });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(dirname(file))).toStrictEqual(['stack.json']);
  });

  it('tells absent, dead and unreadable apart', async () => {
    expect(await findRunningStack(file)).toStrictEqual({ ok: false, error: { kind: 'absent' } });
    await writeStackDescription(file, description(deadPid()));
    expect(await findRunningStack(file)).toStrictEqual({ ok: false, error: { kind: 'dead' } });
    await writeFile(file, '{"pid":1}');
    expect(await findRunningStack(file)).toStrictEqual({ ok: false, error: { kind: 'unreadable' } });
    for (const kind of ['absent', 'dead', 'unreadable'] as const) {
      expect(describeNoStack({ kind })).toContain('npm start');
    }
  });

  it('is removed by the process that wrote it and by no other', async () => {
    await writeStackDescription(file, description(process.pid));
    await removeStackDescription(file, process.pid + 1);
    expect(await findRunningStack(file)).toMatchObject({ ok: true });
    await removeStackDescription(file, process.pid);
    expect(await findRunningStack(file)).toStrictEqual({ ok: false, error: { kind: 'absent' } });
    await removeStackDescription(file, process.pid);
  });
});
