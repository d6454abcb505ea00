import { appliedGates } from '#ops/gates/stage-places.ts';
import { ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { readRelease } from '#shared/release/read-release.ts';
import type { ReleaseState } from '#shared/release/release-state.ts';
import type { Stage } from '#shared/stage/stages.ts';

/** What is open in a stage, as a synth of it would read it. */
export async function releaseIn({ name, config }: Stage): Promise<Result<ReleaseState, string>> {
  const read = await readRelease({ key: config.releaseKey, stage: name, now: Date.now() }, appliedGates());
  if (!read.ok) return read;
  for (const note of read.value.notes) console.error(note);
  return ok(read.value.release);
}
