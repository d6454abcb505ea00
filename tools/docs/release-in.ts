import { appliedGates } from '#ops/gates/stage-places.ts';
import { ok, type Result } from '#shared/kernel/result.ts';
import { readRelease } from '#shared/release/read-release.ts';
import type { ReleaseState } from '#shared/release/release-state.ts';
import { enterStage } from '#shared/stage/access.ts';
import type { Stage } from '#shared/stage/stages.ts';

/** What is open in a stage, as a synth of it would read it. */
export async function releaseIn(
  stage: Stage,
  profile: string | undefined,
): Promise<Result<ReleaseState, string>> {
  const entered = await enterStage(stage, profile);
  if (!entered.ok) return entered;
  const { name, config } = stage;
  const read = await readRelease({ key: config.releaseKey, stage: name, now: Date.now() }, appliedGates());
  if (!read.ok) return read;
  for (const note of read.value.notes) console.error(note);
  return ok(read.value.release);
}
