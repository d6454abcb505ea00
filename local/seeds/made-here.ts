import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { seedFile } from './bank-files.ts';

/** The files of a seed directory: JSON values by path. */
export type SeedFiles = Readonly<Record<string, unknown>>;

/**
 * Adds the mark `fromResponses` to `seed.json`: the hash of each file's JSON value, that of `seed.json` without the mark. It shows later
 * what was written by the seed command and not changed since; white space and the order of members do not count.
 */
export function markMadeHere(files: SeedFiles & { readonly 'seed.json': object }): SeedFiles {
  const fromResponses = Object.fromEntries(
    Object.entries(files).map(([path, value]) => [path, hashCanonical(value)]),
  );
  return { ...files, 'seed.json': { ...files['seed.json'], fromResponses } };
}

/** Returns which of a directory's files may be replaced; undefined when the text of `seed.json` has no mark. */
export function madeHere(seedText: string): ((path: string, text: string) => boolean) | undefined {
  const json = parseStrictJson(seedText);
  const seed = json.ok ? seedFile.safeParse(json.value) : undefined;
  const mark = seed?.data?.fromResponses;
  if (mark === undefined) return undefined;
  return (path, text) => {
    const value = parseStrictJson(text);
    return (
      value.ok && mark[path] === hashCanonical(path === 'seed.json' ? withoutMark(value.value) : value.value)
    );
  };
}

/** Returns a `seed.json`, an object, without its mark. */
function withoutMark(seed: unknown): object {
  return Object.fromEntries(Object.entries(seed as object).filter(([name]) => name !== 'fromResponses'));
}
