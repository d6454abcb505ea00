import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot } from './checks/checks.ts';
import { runTool } from './foreign/python.ts';

const run = (...args: readonly string[]) => runTool(process.execPath, args, 120, { cwd: projectRoot });

it('crashes --replay reports a file that is no schedule in a sentence', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'replay-'));
  const file = join(folder, 'broken.json');
  await writeFile(file, '{"scenario":');
  const { code, stderr } = await run('tools/crashes.ts', '--replay', file);
  await rm(folder, { recursive: true });
  expect([code, stderr]).toEqual([1, expect.stringContaining(`${file}: expected a schedule`)]);
  expect(stderr).not.toContain('    at ');
}, 120_000);

it('hostile --target reports each route of a target that does not respond', async () => {
  // A port on which no program listens.
  const args = ['--target', 'http://127.0.0.1:1', '--service', 'reports', '--token', 'x'];
  const { code, stdout } = await run(
    'tools/hostile.ts',
    ...args,
    '--route',
    'readReadiness',
    '--only',
    'json',
  );
  expect([code, stdout]).toEqual([1, expect.stringMatching(/readReadiness: .*\n[^]*0 tried, 1 differ/)]);
}, 120_000);
