import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const preload = new URL('node-version.mjs', import.meta.url);

/** Runs the check as an older Node would: the version is the only thing that it looks at. */
function checkOn(version: string): { readonly status: number | null; readonly stderr: string } {
  const pretend = `Object.defineProperty(process.versions, 'node', { value: '${version}' });`;
  return spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', `${pretend} await import('${preload.href}');`],
    { encoding: 'utf8' },
  );
}

describe('the check of the Node version', () => {
  it('stops an older Node with what to do, before a TypeScript file is read', () => {
    const { status, stderr } = checkOn('20.20.2');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^This needs Node 24, and Node 20\.20\.2 runs it\. .*npm ci/);
  });

  it('stops in a folder with Windows line ends with what to do', async () => {
    const copy = join(await mkdtemp(join(tmpdir(), 'line-ends-')), 'node-version.mjs');
    await writeFile(copy, readFileSync(preload, 'utf8').replaceAll('\n', '\r\n'));
    const { status, stderr } = spawnSync(process.execPath, [copy], { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^The files of this folder have Windows line ends .*core\.autocrlf=false/);
  });

  it('comes before every command of the project', () => {
    const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    // A package's native program starts under any Node.
    const own = Object.values(scripts).filter((script) => /^node (?!node_modules\/)/.test(script));
    expect(own.length).toBeGreaterThan(10);
    for (const script of own) expect(script).toMatch(/^node --import \.\/tools\/node-version\.mjs /);
  });
});

describe('a proxy for everything, which is dead', () => {
  const proxy = 'http://127.0.0.1:9';
  const environment = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy, http_proxy: proxy };
  /** Serves one page on loopback and asks for it both ways, in a program of its own and in one that it starts. */
  const asking = `
    import { execFile } from 'node:child_process';
    import http from 'node:http';
    const ask = (url) => Promise.all([
      fetch(url).then(({ status }) => status, () => 'dead'),
      new Promise((resolve) => http.get(url, (response) => resolve(response.resume().statusCode)).on('error', () => resolve('dead'))),
    ]);
    const [, given] = process.argv;
    if (given !== undefined) console.log(...(await ask(given)));
    else {
      const server = http.createServer((_, response) => response.end()).listen(0, '127.0.0.1', async () => {
        const url = 'http://127.0.0.1:' + server.address().port;
        console.log(...(await ask(url)));
        const code = process.execArgv.at(-1);
        execFile(process.execPath, ['--input-type=module', '--eval', code, url], (_, stdout) => {
          console.log(stdout.trim());
          process.exit();
        });
      });
    }`;

  it.each([
    ['alone', {}],
    ['beside exceptions of its own', { NO_PROXY: 'example.org' }],
  ])('is not asked for what is on this machine: %s', async (_, exceptions) => {
    const { PATH } = process.env;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', preload.href, '--input-type=module', '--eval', asking],
      { env: { PATH, ...environment, ...exceptions } },
    );
    expect(stdout).toBe('200 200\n200 200\n');
  });
});
