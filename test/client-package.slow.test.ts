import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { localFiles, stackDescription } from '#shared/stage/description.ts';

const run = promisify(execFile);
const project = resolve(import.meta.dirname, '..');
const bin = (name: string): string => join(project, 'node_modules/.bin', name);

/** The example as a newcomer has it: a folder of its own with the packed client installed, beside a stack. */
let folder: string;
let stack: ChildProcess;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'client-package-'));
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: join(project, 'client'),
  });
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [{ filename: string }];
  await cp(join(project, 'examples/client-typescript'), folder, { recursive: true });
  const manifest = await readFile(join(folder, 'package.json'), 'utf8');
  await writeFile(join(folder, 'package.json'), manifest.replace('file:../../client', `file:${filename}`));
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund'], { cwd: folder });

  stack = spawn(process.execPath, [join(project, 'local/start.ts'), '--port', '0'], {
    cwd: folder,
    stdio: 'ignore',
  });
  await vi.waitFor(() => readFile(localFiles(folder).stack, 'utf8'), { timeout: 60_000 });
});
afterAll(async () => {
  stack.kill('SIGKILL');
  if (stack.exitCode === null) await once(stack, 'close');
});

describe('the packed client', () => {
  it('contains licence, notice and changelog, and each link of its pages leads to one of its files', async () => {
    const installed = join(folder, 'node_modules/mastery-reports-client');
    expect((await readdir(installed)).sort()).toEqual(
      ['CHANGELOG.md', 'LICENSE', 'NOTICE', 'README.md', 'dist', 'package.json'].sort(),
    );
    expect(await readFile(join(installed, 'LICENSE'))).toEqual(await readFile(join(project, 'LICENSE')));
    const pages = await Promise.all(
      ['README.md', 'CHANGELOG.md'].map((name) => readFile(join(installed, name), 'utf8')),
    );
    const links = pages.flatMap((text) => [...text.matchAll(/\]\(([^)]*)\)/g)].map(([, link = '']) => link));
    expect(links).toContain('CHANGELOG.md');
    const files = await readdir(installed);
    expect(links.filter((link) => !files.includes(link))).toEqual([]);
  });

  it('is not published before its repository, homepage and place for bugs are named', async () => {
    const cwd = await mkdtemp(join(folder, 'published-'));
    await cp(join(project, 'client/package.json'), join(cwd, 'package.json'));
    const check = () => run('npm', ['run', 'prepublishOnly'], { cwd });
    await expect(check()).rejects.toMatchObject({ stderr: expect.stringContaining('npm pkg set') as string });
    const url = 'https://code.example.org/client';
    await run('npm', ['pkg', 'set', `repository.url=${url}`, `homepage=${url}`, `bugs.url=${url}`], { cwd });
    await expect(check()).resolves.toBeDefined();
  });

  it('has types for a project that checks strictly, and bundles for browsers without anything else', async () => {
    await symlink(join(project, 'node_modules/@types'), join(folder, 'node_modules/@types'));
    const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--allowImportingTsExtensions'];
    const target = ['--module', 'nodenext', '--target', 'es2024', '--types', 'node'];
    const compiler = join(project, 'node_modules/typescript/bin/tsc');
    const files = ['first-report.ts', 'take-run.ts'];
    await run(process.execPath, [compiler, ...options, ...target, ...files], { cwd: folder });
    const { stdout } = await run(
      bin('esbuild'),
      ['node_modules/mastery-reports-client/dist/index.js', '--bundle', '--platform=browser', '--format=esm'],
      { cwd: folder },
    );
    expect(stdout).not.toMatch(/^import /m);
  });

  it('prints a first report, and takes a run to its report', async () => {
    const { sandboxUrl } = stackDescription.parse(
      JSON.parse(await readFile(localFiles(folder).stack, 'utf8')),
    );
    const report = await run(process.execPath, ['first-report.ts', sandboxUrl], { cwd: folder });
    expect(report.stdout).toMatch(/^mastery_gate of sandbox-candidate: gate fail\n {2}\S+: gap, /);
    // The token command belongs to the project, its stack is in this folder.
    await writeFile(
      join(folder, 'package.json'),
      JSON.stringify({ type: 'module', scripts: { token: `node ${join(project, 'local/token.ts')}` } }),
    );
    const taken = await run(process.execPath, ['take-run.ts'], {
      cwd: folder,
      env: { ...process.env, PROJECT: folder },
    });
    expect(taken.stdout).toMatch(
      /^item 1: .*\n(item .*\n)+completed: \w+, scale score \d.*\n( {2}\S+: \w+, .*\n)+$/,
    );
  });
});
