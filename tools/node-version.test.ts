import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
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

  it('comes before every command of the project', () => {
    const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const own = Object.values(scripts).filter((script) => script.startsWith('node '));
    expect(own.length).toBeGreaterThan(10);
    for (const script of own) expect(script).toMatch(/^node --import \.\/tools\/node-version\.mjs /);
  });
});
