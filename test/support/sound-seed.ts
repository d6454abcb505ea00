import { DEFAULT_SEED_DIRECTORY, loadSeed } from '#local/seeds/load.ts';
import { renderDefects } from '#local/seeds/seed.ts';
import type { Seed } from '#local/seeds/seed.ts';

/** The seed of a directory that has no defect; default: the built-in one. */
export async function soundSeed(directory = DEFAULT_SEED_DIRECTORY): Promise<Seed> {
  const loaded = await loadSeed(directory);
  if (!loaded.ok) throw new Error(renderDefects(loaded.error));
  return loaded.value;
}
