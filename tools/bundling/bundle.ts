import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import * as esbuild from 'esbuild';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { slimming } from './slimming.ts';

/** A function to bundle: its operation id names the output. */
export interface Entry {
  readonly operationId: string;
  /** Path of the handler's source from the project's root. */
  readonly handler: string;
}

export interface Bundle {
  readonly operationId: string;
  readonly code: Uint8Array;
  readonly sourceMap: Uint8Array;
  /** Every file that the bundle depends on, as a path from the project's root. */
  readonly inputs: readonly string[];
  /** Bytes that each package (or folder of ours) takes up in the output. */
  readonly shares: Readonly<Record<string, number>>;
}

/**
 * Bundles all entries in one run of esbuild. The bytes of an output depend on its sources only: not on the other entries, the machine or
 * the folder of the project.
 * @returns the bundles in the order of the entries, or esbuild's messages.
 */
export async function bundle(
  root: string,
  entries: readonly Entry[],
): Promise<Result<readonly Bundle[], readonly string[]>> {
  let built;
  try {
    built = await esbuild.build({
      absWorkingDir: root,
      entryPoints: Object.fromEntries(
        entries.map(({ operationId, handler }) => [`${operationId}/index`, `./${handler}`]),
      ),
      outdir: 'build/functions',
      write: false,
      metafile: true,
      bundle: true,
      minify: true,
      platform: 'node',
      target: 'node24',
      format: 'esm',
      outExtension: { '.js': '.mjs' },
      // The SDK and Powertools ship ESM and CommonJS; only ESM can be shaken.
      mainFields: ['module', 'main'],
      // CommonJS inside an ESM bundle asks for `require`, which ESM does not have.
      banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
      sourcemap: 'external',
      sourcesContent: false,
      legalComments: 'none',
      logLevel: 'silent',
      plugins: slimming(root),
    });
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    return err(
      error.errors.map(({ text, location }) =>
        location ? `${location.file}:${location.line}: ${text}` : text,
      ),
    );
  }
  if (built.warnings.length > 0) return err(built.warnings.map(({ text }) => text));

  const files = new Map(built.outputFiles.map(({ path, contents }) => [path, contents]));
  return ok(
    entries.map(({ operationId, handler }) => {
      const path = `build/functions/${operationId}/index.mjs`;
      const output = built.metafile.outputs[path];
      const code = files.get(resolve(root, path));
      const sourceMap = files.get(resolve(root, `${path}.map`));
      if (!output || !code || !sourceMap) throw new Error(`esbuild gave no output for ${operationId}`);
      return {
        operationId,
        code,
        sourceMap,
        inputs: reachableFiles(built.metafile.inputs, handler),
        shares: shares(output.inputs),
      };
    }),
  );
}

/** What a bundle depends on besides its sources. */
export function recipe(toolSources: readonly string[]): string {
  const hash = createHash('sha256').update(esbuild.version);
  for (const part of toolSources) hash.update('\0').update(part);
  return hash.digest('hex');
}

/** The files that `recipe` must see: this folder's. */
export const recipeFiles = [
  'bundle.ts',
  'slimming.ts',
  'event-streams.ts',
  'lambda-credentials.ts',
  'member-path.ts',
].map((file) => join('tools/bundling', file));

function isBuildFailure(error: unknown): error is esbuild.BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors);
}

/** An entry and all that it imports, however far: also a file of which nothing is left, such as a constant that its value replaces. */
function reachableFiles(inputs: esbuild.Metafile['inputs'], entry: string): readonly string[] {
  const reached = new Set([entry]);
  // A Set hands out what is added to it while it is read.
  for (const path of reached) {
    for (const imported of inputs[path]?.imports ?? []) {
      if (imported.external !== true) reached.add(imported.path);
    }
  }
  return [...reached].filter((input) => !input.startsWith('required:'));
}

function shares(
  inputs: Readonly<Record<string, { readonly bytesInOutput: number }>>,
): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
    const owner =
      /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path.split('/').slice(0, 2).join('/');
    sum[owner] = (sum[owner] ?? 0) + bytesInOutput;
  }
  return sum;
}
