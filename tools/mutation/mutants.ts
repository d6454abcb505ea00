import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

/** One change of one place in a source file. */
export interface Mutant {
  /** What the instrumented code knows it by. */
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly mutator: string;
  readonly original: string;
  readonly replacement: string;
  /** The same for the same change of the same text, wherever in the file it has moved to. */
  readonly identity: string;
}

export interface SourceFile {
  readonly name: string;
  readonly content: string;
}

/** What is used of `@stryker-mutator/instrumenter`, which is installed outside the project. */
interface Instrumenter {
  readonly instrument: (
    files: readonly (SourceFile & { readonly mutate: true })[],
    options: {
      readonly plugins: null;
      readonly excludedMutations: readonly string[];
      readonly ignorers: readonly never[];
    },
  ) => Promise<{
    readonly files: readonly SourceFile[];
    readonly mutants: readonly {
      readonly id: string;
      readonly fileName: string;
      readonly mutatorName: string;
      readonly replacement: string;
      /** Lines and columns count from 0. */
      readonly location: Readonly<
        Record<'start' | 'end', { readonly line: number; readonly column: number }>
      >;
    }[];
  }>;
}

const silent = new Proxy(
  {},
  { get: (_, name) => (): boolean | undefined => (String(name).startsWith('is') ? false : undefined) },
);

/**
 * Puts every mutant of the files into them at once: each is a branch that is taken when the environment names it
 * (https://stryker-mutator.io/docs/stryker-js/how-it-works).
 * @throws when the instrumenter is not installed
 */
export async function instrument(
  files: readonly SourceFile[],
): Promise<{ readonly files: readonly SourceFile[]; readonly mutants: readonly Mutant[] }> {
  const folder = resolve(import.meta.dirname, '../instrumenter');
  if (!existsSync(join(folder, 'node_modules')))
    throw new Error('the instrumenter is not installed: run npm ci --prefix tools/instrumenter');
  const entry = createRequire(join(folder, 'package.json')).resolve('@stryker-mutator/instrumenter');
  // SAFETY: the package's own interface, at the version of its lockfile.
  const { Instrumenter } = (await import(entry)) as { Instrumenter: new (logger: object) => Instrumenter };
  const made = await new Instrumenter(silent).instrument(
    files.map((file) => ({ ...file, mutate: true })),
    { plugins: null, excludedMutations: [], ignorers: [] },
  );
  const contents = new Map(files.map(({ name, content }) => [name, content.split('\n')]));
  const seen = new Map<string, number>();
  const mutants = made.mutants.map((mutant): Mutant => {
    const { id, fileName: file, mutatorName: mutator, replacement } = mutant;
    const { start, end } = mutant.location;
    const lines = (contents.get(file) ?? []).slice(start.line, end.line + 1);
    const last = lines.length - 1;
    const original = lines
      .map((line, at) => line.slice(at === 0 ? start.column : 0, at === last ? end.column : undefined))
      .join('\n');
    const text = JSON.stringify([file, mutator, original, replacement]);
    const ordinal = seen.get(text) ?? 0;
    seen.set(text, ordinal + 1);
    const identity = createHash('sha256').update(`${text} ${ordinal}`).digest('hex');
    return { id, file, line: start.line + 1, mutator, original, replacement, identity };
  });
  return { files: made.files, mutants };
}

/**
 * The order in which a seed draws mutants. A mutant's place depends only on itself, so a later draw with the same seed tries the same
 * ones again, as far as they still exist.
 */
export function drawn<M extends Pick<Mutant, 'identity'>>(mutants: readonly M[], seed: number): readonly M[] {
  const rank = ({ identity }: M): string => createHash('sha256').update(`${seed} ${identity}`).digest('hex');
  return mutants
    .map((mutant) => ({ mutant, rank: rank(mutant) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ mutant }) => mutant);
}
