import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import * as z from 'zod';
import { bundledFunctions } from '#shared/contract/functions.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { bundle, recipe, recipeFiles, type Entry } from './bundle.ts';
import { exits, list, program, run, text, UsageError } from '../terminal/command.ts';
import { makeFolder } from '../terminal/make-folder.ts';

/** A bundle above this many bytes fails the build: Lambda reads, compiles and runs every byte at a cold start. */
export const bundleLimit = 760_000;

export const projectRoot = resolve(import.meta.dirname, '../..');

export interface BuiltFunction {
  readonly operationId: string;
  /** Absolute path of `index.mjs`, which exports `handler`; its folder is the Lambda asset. */
  readonly file: string;
  readonly bytes: number;
  /** SHA-256 of the bytes, hexadecimal. */
  readonly sha256: string;
  readonly shares: Readonly<Record<string, number>>;
  /** Nothing that it is made of has changed since the last build. */
  readonly reused: boolean;
}

export interface BuildOptions {
  /** Where `<operationId>/index.mjs` go; source maps go to `source-maps` next to it, so that they are no part of an asset. */
  readonly outdir?: string;
  /** The functions to build; all of them when absent. */
  readonly only?: readonly string[];
  /** The functions that there are: those that deploy, unless a test has its own. */
  readonly entries?: readonly Entry[];
}

/** What a bundle was made of, kept next to the bundles as `.built.json`. A file that is absent or unreadable only costs a rebuild. */
const memory = z.strictObject({
  recipe: z.string(),
  functions: z.record(
    z.string(),
    z.strictObject({
      handler: z.string(),
      sha256: z.string(),
      bytes: z.number(),
      inputs: z.record(z.string(), z.string()),
      shares: z.record(z.string(), z.number()),
    }),
  ),
});
type Memory = z.infer<typeof memory>;

/**
 * Bundles the handlers of every function, reusing each one whose sources, dependencies and recipe are byte for byte the ones of the
 * last build into the same folder.
 * @returns the functions in the order of their list, or what is wrong: an unknown name in `only`, a folder that cannot be created, a handler
 *   that does not exist or compile, a bundle above the limit.
 */
export async function buildFunctions(
  options: BuildOptions = {},
): Promise<Result<readonly BuiltFunction[], readonly string[]>> {
  const all =
    options.entries ?? bundledFunctions.map(({ operationId, handler }) => ({ operationId, handler }));
  const unknown = unknownFunctions(options.only, all);
  if (unknown.length > 0) return err(unknown);
  const wanted = all.filter(({ operationId }) => options.only?.includes(operationId) ?? true);

  const outdir = resolve(options.outdir ?? join(projectRoot, 'build/functions'));
  // Before bundling, which takes the longest.
  const folder = await makeFolder(outdir);
  if (!folder.ok) return err([folder.error]);
  const fileOf = (operationId: string): string => join(outdir, operationId, 'index.mjs');
  const currentRecipe = recipe(
    await Promise.all(recipeFiles.map((file) => readFile(join(projectRoot, file), 'utf8'))),
  );
  const digests = digestCache();
  const last = await remembered(outdir);
  const fresh: Memory['functions'] = {};
  if (last?.recipe === currentRecipe) {
    for (const { operationId, handler } of wanted) {
      const entry = last.functions[operationId];
      if (entry === undefined || entry.handler !== handler) continue;
      const files = { ...absolute(entry.inputs), [fileOf(operationId)]: entry.sha256 };
      const same = await Promise.all(
        Object.entries(files).map(async ([file, digest]) => (await digests(file)) === digest),
      );
      if (same.every(Boolean)) fresh[operationId] = entry;
    }
  }

  const stale = wanted.filter(({ operationId }) => !(operationId in fresh));
  const made: Memory['functions'] = {};
  if (stale.length > 0) {
    const bundles = await bundle(projectRoot, stale);
    if (!bundles.ok) return bundles;
    for (const { operationId, code, sourceMap, inputs, shares } of bundles.value) {
      await replaceFile(fileOf(operationId), code);
      await replaceFile(join(dirname(outdir), 'source-maps', operationId, 'index.mjs.map'), sourceMap);
      const inputDigests: Record<string, string> = {};
      for (const input of inputs) inputDigests[input] = (await digests(join(projectRoot, input))) ?? 'gone';
      made[operationId] = {
        handler: stale.find((entry) => entry.operationId === operationId)?.handler ?? '',
        sha256: sha256(code),
        bytes: code.byteLength,
        inputs: inputDigests,
        shares,
      };
    }
  }

  const known = { ...(last?.recipe === currentRecipe ? last.functions : {}), ...made };
  if (options.only === undefined) await removeForgotten(outdir, last, all);
  const current = Object.fromEntries(
    Object.entries(known).filter(([name]) => all.some(({ operationId }) => operationId === name)),
  );
  await replaceFile(
    join(outdir, '.built.json'),
    JSON.stringify({ recipe: currentRecipe, functions: current } satisfies Memory),
  );

  const built = wanted.map(({ operationId }): BuiltFunction => {
    const entry = made[operationId] ?? fresh[operationId];
    if (!entry) throw new Error(`${operationId} was neither built nor reused`);
    const { bytes, sha256, shares } = entry;
    return { operationId, file: fileOf(operationId), bytes, sha256, shares, reused: operationId in fresh };
  });
  const tooLarge = built.filter(({ bytes }) => bytes > bundleLimit);
  return tooLarge.length > 0 ? err(tooLarge.map(explainSize)) : ok(built);
}

/** A sentence for each name that is no function. */
function unknownFunctions(
  names: readonly string[] = [],
  all: readonly { readonly operationId: string }[],
): readonly string[] {
  return names
    .filter((name) => !all.some(({ operationId }) => operationId === name))
    .map((name) => `unknown function "${name}": expected an operation id`);
}

/** One sentence with the heaviest parts of a bundle. */
function explainSize({ operationId, bytes, shares }: BuiltFunction): string {
  const heaviest = Object.entries(shares)
    .sort(([, a], [, b]) => b - a)
    .slice(0, 8)
    .map(([owner, share]) => `${owner} ${kilobytes(share)}`);
  return `${operationId} is ${kilobytes(bytes)}, more than the limit of ${kilobytes(bundleLimit)}; largest parts: ${heaviest.join(', ')}`;
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(0)} KB`;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Digests of files, each read once per build; undefined for one that is not there. */
function digestCache(): (file: string) => Promise<string | undefined> {
  const cache = new Map<string, Promise<string | undefined>>();
  return (file) => {
    const known = cache.get(file);
    if (known) return known;
    const digest = readFile(file).then(sha256, () => undefined);
    cache.set(file, digest);
    return digest;
  };
}

function absolute(inputs: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(inputs).map(([input, digest]) => [join(projectRoot, input), digest]),
  );
}

async function remembered(outdir: string): Promise<Memory | undefined> {
  try {
    return memory.parse(JSON.parse(await readFile(join(outdir, '.built.json'), 'utf8')));
  } catch {
    return undefined;
  }
}

/** Other processes may read the same folder: a file is replaced as a whole or not at all. */
async function replaceFile(path: string, contents: Uint8Array | string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const partial = `${path}.${process.pid}`;
  await writeFile(partial, contents);
  await rename(partial, path);
}

/** A function that is no longer listed must not stay behind as something that looks deployable. */
async function removeForgotten(
  outdir: string,
  last: Memory | undefined,
  all: readonly Entry[],
): Promise<void> {
  for (const name of Object.keys(last?.functions ?? {})) {
    if (all.some(({ operationId }) => operationId === name)) continue;
    await rm(join(outdir, name), { recursive: true, force: true });
    await rm(join(dirname(outdir), 'source-maps', name), { recursive: true, force: true });
  }
}

export function sizeTable(built: readonly BuiltFunction[]): string {
  const width = Math.max(...built.map(({ operationId }) => operationId.length), 0);
  return built
    .map(({ operationId, bytes, reused }) =>
      [operationId.padEnd(width), kilobytes(bytes).padStart(7), reused ? ' (unchanged)' : '']
        .join(' ')
        .trimEnd(),
    )
    .join('\n');
}

if (import.meta.main) {
  await run(
    program(
      'npm run build --',
      `Bundles every Lambda function, as it is deployed. A bundle of more than ${kilobytes(bundleLimit)} fails the build.`,
    )
      .option('--only <operationId,…>', 'build only these functions', list)
      .option('--outdir <DIR>', 'the folder for <operationId>/index.mjs', text, 'build/functions')
      .option('--quiet', 'prints nothing on success')
      .action(
        exits(async ({ only, outdir, quiet }) => {
          const unknown = unknownFunctions(only, bundledFunctions);
          if (unknown.length > 0) return err(new UsageError(unknown.join('\n')));
          const built = await buildFunctions({ outdir, ...(only ? { only } : {}) });
          if (!built.ok) return err(built.error.join('\n'));
          if (quiet !== true) console.log(sizeTable(built.value));
          return ok(undefined);
        }),
      ),
  );
}
