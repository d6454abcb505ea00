import { execFile, execFileSync, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { projectRoot, scriptCheck } from './checks.ts';

/** For each rule code that breaks it. The rules are of every kind: with types and without, built in and of the plugin, for all files and for some. */
const wrongAnywhere: Readonly<Record<string, string>> = {
  'eslint(eqeqeq)': 'export const same = (a: number, b: number): boolean => a == b;',
  'eslint(no-console)': 'console.log(1);',
  'eslint(use-isnan)': 'export const isNumber = (a: number): boolean => a !== NaN;',
  'typescript(ban-ts-comment)': '// @ts-expect-error\nexport const one: string = 1;',
  'typescript(no-explicit-any)': 'export const given = (value: any): string => String(value);',
  'typescript(no-non-null-assertion)': 'export const first = (all: string[]): string => all[0]!;',
  'typescript(explicit-module-boundary-types)': 'export const one = () => 1;',
  'typescript(no-floating-promises)': 'Promise.resolve(1);',
  'typescript(await-thenable)': 'await 1;',
  'typescript(no-misused-promises)': '[1].forEach(async () => { await Promise.resolve(); });',
  'typescript(no-unsafe-assignment)': "export const value = JSON.parse('1');",
  'typescript(no-unsafe-return)': 'export const read = (text: string): string => JSON.parse(text);',
  'typescript(no-unsafe-member-access)': "export const value: unknown = JSON.parse('1').a;",
  'typescript(no-unnecessary-condition)': 'export const shown = (value: string): string => value ?? 1;',
  'typescript(no-unnecessary-type-assertion)':
    'export const text = (value: string): string => value as string;',
  'typescript(restrict-template-expressions)': 'export const text = (value: object): string => `${value}`;',
  'typescript(no-deprecated)': "export const part = 'ab'.substr(1);",
  'typescript(only-throw-error)': "throw 'text';",
  'typescript(require-await)': 'export const one = async (): Promise<number> => 1;',
  'typescript(switch-exhaustiveness-check)':
    "export function f(x: 'a' | 'b'): void {\n  switch (x) {\n    case 'a':\n  }\n}",
};
/** The files that break them, and those that break rules of their folder. */
const wrong: Readonly<Record<string, readonly [file: string, code: string]>> = {
  ...Object.fromEntries(
    Object.entries(wrongAnywhere).map(([rule, code], n) => [rule, [`lib/a${n}.ts`, code] as const]),
  ),
  'eslint(no-unused-vars)': ['tools/c.mjs', 'const unused = 1;'],
  'eslint(no-restricted-globals)': ['shared/u.ts', 'export const key = process.env;'],
  'eslint(no-restricted-properties)': ['functions/v.ts', 'export const now = (): number => Date.now();'],
  'eslint(no-restricted-imports)': ['functions/w.ts', "export { randomUUID } from 'node:crypto';"],
  'eslint-js(no-restricted-syntax)': ['shared/x.ts', 'export const now = (): Date => new Date();'],
  'plain-english(comments)': ['lib/xa.ts', '/** Whatever comes. */\nexport const one = 1;'],
};

/** Several files may break one rule: in the engine its restrictions are others. */
const wrongInTheEngine: readonly (readonly [rule: string, code: string])[] = [
  ['eslint-js(no-restricted-syntax)', 'export const square = (x: number): number => x ** 2;'],
  ['eslint-js(no-restricted-syntax)', 'export const all: unknown = globalThis.Array;'],
  ['eslint(no-restricted-properties)', 'export const root = Math.sqrt(2);'],
  ['eslint(no-restricted-globals)', 'export const at = new Date(0);'],
];

/** Files that break no rule. */
const right: Readonly<Record<string, string>> = {
  'tools/prints.ts': 'console.log(new Date(), 2 ** 3, Math.random());',
  'shared/y.test.ts': 'export const first = (all: string[]): string => all[0]!;',
  'shared/network/z.ts': 'export const env = process.env;',
  'shared/ya.test.ts': '// Whatever comes.\nexport const one = 1;',
  // Nothing asks for another form of a kernel.
  'functions/mastery/engine/kernels/any/k.ts':
    '/** Whatever comes. */\nexport const f = (x: string): string => (x ?? 1) as string;',
};

const lintReport = z.object({
  number_of_files: z.int(),
  diagnostics: z.array(z.object({ code: z.string(), filename: z.string() })),
});

/** A project of these files, with our settings. */
function projectOf(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'findings-'));
  for (const name of [
    'package.json',
    'oxlint.config.ts',
    'tools/checks/plain-english.ts',
    'tsconfig.json',
    'local/explorer/app/tsconfig.json',
  ]) {
    cpSync(join(projectRoot, name), join(root, name));
  }
  symlinkSync(join(projectRoot, 'node_modules'), join(root, 'node_modules'));
  for (const [file, code] of Object.entries(files)) {
    mkdirSync(join(root, dirname(file)), { recursive: true });
    writeFileSync(join(root, file), `${code}\n`);
  }
  return root;
}

/** Runs a script of package.json in another folder. */
function runScript(script: string, args: readonly string[], cwd: string): SpawnSyncReturns<string> {
  const { command, env } = scriptCheck(script, args);
  const [program = '', ...words] = command;
  return spawnSync(program, words, { cwd, env, encoding: 'utf8', maxBuffer: 1e8 });
}

describe('npm run check:lint', () => {
  const files = {
    ...Object.fromEntries(Object.values(wrong)),
    ...Object.fromEntries(wrongInTheEngine.map(([, code], n) => [`functions/mastery/engine/e${n}.ts`, code])),
    ...right,
  };
  const { status, stdout } = runScript('check:lint', ['--format=json'], projectOf(files));
  const { diagnostics, number_of_files } = lintReport.parse(JSON.parse(stdout));
  const caught = (file: string): readonly string[] =>
    diagnostics.filter(({ filename }) => filename === file).map(({ code }) => code);

  it('fails, and reads every file', () => {
    expect({ status, number_of_files }).toEqual({
      status: 1,
      // The settings and their plugin.
      number_of_files: Object.keys(files).length + 2,
    });
  });
  it.each(Object.entries(wrong))('%s catches %j', (rule, [file]) => {
    expect(caught(file)).toContain(rule);
  });
  it.each(wrongInTheEngine.map(([rule, code], n) => [rule, code, n] as const))(
    '%s catches in the engine %s',
    (rule, _, n) => {
      expect(caught(`functions/mastery/engine/e${n}.ts`)).toContain(rule);
    },
  );
  it('lets the right files pass', () => {
    expect(diagnostics.filter(({ filename }) => filename in right)).toStrictEqual([]);
  });

  it('reads every file of the project that is compiled', () => {
    const compiled = execFileSync('git', ['ls-files', '-z', '*.ts', '*.tsx'], {
      cwd: projectRoot,
      encoding: 'utf8',
    });
    const linted = runScript('check:lint', ['--debug=files'], projectRoot).stdout.split('\n');
    const exempt = /^client\/src\/generated\//;
    const missed = compiled.split('\0').filter((file) => file !== '' && !linted.includes(file));
    expect(missed.filter((file) => !exempt.test(file))).toStrictEqual([]);
  });
});

it.each([
  ['lib/a.ts', 'export const one: string = 1;', 'lib/a.ts(1,14): error TS2322'],
  [
    'local/explorer/app/a.tsx',
    'export const one: string = 1;',
    'local/explorer/app/a.tsx(1,14): error TS2322',
  ],
])('npm run check:types fails for a wrong type in %s', (file, code, sentence) => {
  const root = projectOf({
    'lib/right.ts': 'export {};',
    'local/explorer/app/right.ts': 'export {};',
    [file]: code,
  });
  const { status, stdout } = runScript('check:types', [], root);
  expect(stdout).toContain(sentence);
  expect(status).not.toBe(0);
});

it('npm run check -- --changed fails for every kind of mistake in what is new, and passes without', async () => {
  const copy = mkdtempSync(join(tmpdir(), 'changed-'));
  const left = ['.git', 'node_modules', 'build', 'cdk.out', '.local'];
  cpSync(projectRoot, copy, { recursive: true, filter: (source) => !left.includes(basename(source)) });
  symlinkSync(join(projectRoot, 'node_modules'), join(copy, 'node_modules'));
  const git = (...args: readonly string[]): void => {
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], { cwd: copy });
  };
  git('init', '--quiet');
  writeFileSync(join(copy, '.git/info/exclude'), 'node_modules');
  git('add', '.');
  git('commit', '--quiet', '--message=all');
  const { PATH, TMPDIR } = process.env;
  const check = (): Promise<{ readonly stdout: string; readonly code?: number }> =>
    promisify(execFile)(process.execPath, ['tools/check.ts', '--changed'], {
      cwd: copy,
      env: { PATH, TMPDIR },
    }).catch(
      // SAFETY: execFile rejects with the exit code and what was printed.
      (error: unknown) => error as { readonly stdout: string; readonly code: number },
    );
  expect(await check()).toEqual({ stdout: 'Nothing differs from HEAD.\n', stderr: '' });

  const folder = join(copy, 'functions/mastery/pool');
  writeFileSync(join(folder, 'planted.ts'), 'export const one: string = 1\nPromise.resolve(one);\n');
  writeFileSync(
    join(folder, 'planted.test.ts'),
    "import { it } from 'vitest';\n\nit('fails', () => {\n  throw new Error('planted');\n});\n",
  );
  const { code, stdout } = await check();
  expect(code).toBe(1);
  for (const sentence of [
    /^FAIL lint .*\n[^]*no-floating-promises[^]*planted\.ts:2/m,
    /^FAIL types .*\n[^]*planted\.ts\(1,14\): error TS2322/m,
    /^FAIL tests .*\n[^]*planted\.test\.ts/m,
    /^FAIL format .*\n[^]*planted\.ts/m,
    /^4 of 4 checks failed$/m,
    /\nEverything related: npm run check && .*\n$/,
  ]) {
    expect(stdout).toMatch(sentence);
  }
}, 300_000);
