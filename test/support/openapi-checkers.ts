import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** The checkers are large and check documents alone, so the project itself does not install them. */
const folder = resolve(import.meta.dirname, '../../tools/openapi-checkers');

function installed(file: string): string {
  const path = join(folder, 'node_modules', file);
  if (!existsSync(path))
    throw new Error('the OpenAPI checkers are not installed: run npm ci --prefix tools/openapi-checkers');
  return path;
}

interface Ajv {
  addKeyword: (keyword: object) => Ajv;
  compile: (schema: object) => (value: unknown) => boolean;
}

/** Ajv as Spectral brings it, without formats, and with the keyword of bytes that the documents add. */
export function openAjv(): Ajv {
  // SAFETY: what the package exports.
  const { Ajv2020 } = createRequire(import.meta.url)(installed('ajv/dist/2020.js')) as {
    readonly Ajv2020: new (options: object) => Ajv;
  };
  return new Ajv2020({ strict: false, validateFormats: false }).addKeyword({
    keyword: 'x-max-bytes',
    type: 'string',
    validate: (most: number, text: string) => Buffer.byteLength(text) <= most,
  });
}

/** Runs a program of the checkers. Resolves to what it prints, whether it finds anything or not. */
export async function runChecker(file: string, args: readonly string[], cwd: string): Promise<string> {
  const program = installed(file);
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  try {
    return (await promisify(execFile)(process.execPath, [program, ...args], { cwd, env })).stdout;
  } catch (error) {
    // SAFETY: execFile rejects with what the program printed.
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    if (stdout === '') throw new Error(stderr, { cause: error });
    return stdout;
  }
}

/** By the name of a document: a line per finding. */
export type Findings = ReadonlyMap<string, readonly string[]>;

/** Lints with Redocly's recommended rules, each warning counted. */
export function lintWithRedocly(documents: ReadonlyMap<string, unknown>): Promise<Findings> {
  return lint(documents, async (files, cwd) => {
    const args = ['lint', '--extends', 'recommended-strict', '--format', 'github-actions'];
    const report = await runChecker('@redocly/cli/bin/cli.js', [...args, ...files], cwd);
    return [...report.matchAll(/^::\w+ title=([\w-]+),file=([^,]+),line=(\d+).*?::(.*)$/gm)].map(
      ([, rule = '', file = '', line = '', message = '']) => [
        file,
        `${line} ${rule} ${decodeURIComponent(message)}`,
      ],
    );
  });
}

/** Lints with Spectral’s recommended rules, each warning and hint counted. */
export function lintWithSpectral(documents: ReadonlyMap<string, unknown>): Promise<Findings> {
  return lint(documents, async (files, cwd) => {
    await writeFile(join(cwd, 'ruleset.yaml'), 'extends: spectral:oas\n');
    const args = [
      'lint',
      '--ruleset',
      'ruleset.yaml',
      '--fail-severity',
      'hint',
      '--quiet',
      '--format',
      'json',
    ];
    const report = await runChecker('@stoplight/spectral-cli/dist/index.js', [...args, ...files], cwd);
    // SAFETY: Spectral's format.
    const found = JSON.parse(report) as readonly {
      readonly source: string;
      readonly code: string;
      readonly path: readonly unknown[];
      readonly message: string;
    }[];
    return found.map(({ source, code, path, message }) => [
      basename(source),
      `${path.join('.')} ${code} ${message}`,
    ]);
  });
}

async function lint(
  documents: ReadonlyMap<string, unknown>,
  run: (files: readonly string[], cwd: string) => Promise<readonly (readonly [file: string, line: string])[]>,
): Promise<Findings> {
  const cwd = await mkdtemp(join(tmpdir(), 'openapi-'));
  // Names may hold any character: a file has the number of its document.
  const files = await Promise.all(
    [...documents].map(async ([name, document], index) => {
      const file = `${index}.json`;
      await writeFile(join(cwd, file), JSON.stringify(document));
      return { name, file };
    }),
  );
  const found = await run(
    files.map(({ file }) => file),
    cwd,
  );
  return new Map(
    files.map(({ name, file }) => [name, found.filter(([of]) => of === file).map(([, line]) => line)]),
  );
}
