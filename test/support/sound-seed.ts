import { DEFAULT_SEED_DIRECTORY, loadSeed } from '#local/seeds/load.ts';
import { renderDefects, type Seed } from '#local/seeds/seed.ts';

/** The built-in seed, which has no defect. */
export async function soundSeed(): Promise<Seed> {
  const loaded = await loadSeed(DEFAULT_SEED_DIRECTORY);
  if (!loaded.ok) throw new Error(renderDefects(loaded.error));
  return loaded.value;
}
