import type { CompiledModel, KnownMastery } from '#functions/mastery/engine/index.ts';
import type { ScopedKc } from '#functions/mastery/run/bound-pool.ts';
import { invalidCalibration } from '#functions/mastery/upstream/problems.ts';
import type { SyntheticProfile } from '#shared/contract/mastery/score-recovery.ts';
import { roundSignificant } from '#shared/kernel/numbers.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Problem } from '#shared/problems/problem.ts';

/** A simulated learner in the numbering of a model. */
export interface KnownProfile {
  readonly syntheticProfileId: string;
  /** In the order of the model's KCs, so that the order of a request's members changes no sum. */
  readonly known: readonly KnownMastery[];
}

/**
 * Reads profiles for a model. 422 `calibration-invalid` for a knowledge component that the calibration has no parameters for, or that the
 * policy and the pool do not measure: CASE has not been asked about it, so that a trace with it would not be complete [MA-013, MA-195].
 * @param test the KCs that it measures, and the decimal significant digits at which probabilities are read [MA-041]
 */
export function readProfiles(
  profiles: readonly SyntheticProfile[],
  model: Pick<CompiledModel, 'kcIndex'>,
  test: { readonly scope: readonly ScopedKc[]; readonly numericPrecision: number },
): Result<readonly KnownProfile[], Problem> {
  const measured = new Set(test.scope.map(({ modelKc }) => modelKc));
  const read: KnownProfile[] = [];
  for (const { syntheticProfileId, knownMastery } of profiles) {
    const known: KnownMastery[] = [];
    for (const [guid, probability] of Object.entries(knownMastery)) {
      const kc = model.kcIndex.get(guid);
      if (kc === undefined)
        return err(
          invalidCalibration('The calibration has no parameters for a knowledge component of a profile.'),
        );
      if (!measured.has(kc))
        return err(
          invalidCalibration('A profile names a knowledge component that the test does not measure.'),
        );
      known.push({ kc, probability: roundSignificant(probability, test.numericPrecision) });
    }
    read.push({ syntheticProfileId, known: known.toSorted((a, b) => a.kc - b.kc) });
  }
  return ok(read);
}
