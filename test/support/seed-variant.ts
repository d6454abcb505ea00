import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_SEED_DIRECTORY } from '#local/seeds/load.ts';

type Json = Readonly<Record<string, unknown>>;

/** A copy of the default seed, some of whose files are changed. */
export interface SeedVariant {
  readonly directory: string;
  readonly remove: () => void;
}

/**
 * @param changes by the path of a file below the seed's directory
 * @example seedVariant({ 'fraction-subtraction/policy.json': (policy) => ({ ...policy, maxItems: 3 }) })
 */
export function seedVariant(changes: Readonly<Record<string, (content: Json) => Json>>): SeedVariant {
  const directory = mkdtempSync(join(tmpdir(), 'seed-'));
  cpSync(DEFAULT_SEED_DIRECTORY, directory, { recursive: true });
  for (const [path, change] of Object.entries(changes)) {
    const file = join(directory, path);
    writeFileSync(file, JSON.stringify(change(JSON.parse(readFileSync(file, 'utf8')) as Json)));
  }
  return { directory, remove: () => rmSync(directory, { recursive: true }) };
}
