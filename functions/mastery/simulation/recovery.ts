import {
  drawSimulatedLearner,
  responderOf,
  simulatedRunSeed,
  simulateRun,
  sqrt,
} from '#functions/mastery/engine/index.ts';
import type {
  ClassificationRule,
  CompiledModel,
  KnownMastery,
  SelectionContext,
  StoppingRules,
} from '#functions/mastery/engine/index.ts';
import type { ScopedKc } from '#functions/mastery/run/bound-pool.ts';
import { invalidCalibration } from '#functions/mastery/upstream/problems.ts';
import type {
  RecoveryError,
  ScoreRecoverySimulation,
  SyntheticProfile,
} from '#shared/contract/mastery/score-recovery.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { exactSum } from '#shared/kernel/decimal.ts';
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

/** The test that profiles take. */
export interface SimulatedTest {
  readonly selection: SelectionContext;
  readonly rules: StoppingRules & ClassificationRule;
  /** Hash of the records and of the pool that the test is pinned to: part of the key of every draw. */
  readonly pinsHash: string;
}

/** How one test of a profile came out. */
export interface SimulatedSitting {
  /** At full precision. */
  readonly scaleScore: number;
  readonly administeredItems: number;
  /** What it cost, as `simulateRun` counts it. */
  readonly work: number;
}

/** The most replications, and what bounds them (docs/score-recovery.md has the measurements). */
const MOST_REPLICATIONS = 32;
const MOST_CELLS = 2_000_000;
const MOST_WORK = 300_000_000;

/** How large a matrix is. */
export interface MatrixSize {
  readonly profiles: number;
  /** In scope of the test. */
  readonly kcs: number;
  /** The most that a test may have. */
  readonly maxItems: number;
}

/**
 * How often each profile takes the test: the largest number up to 32 for which profiles × KCs × items × replications is at most 2,000,000
 * and the work at most what one sitting of the largest matrix needs; at least 1. It depends on no clock: the same request has the same
 * number everywhere.
 * @param work what the first replication of all profiles cost together
 */
export function replicationsOf({ profiles, kcs, maxItems }: MatrixSize, work: number): number {
  const affordable = Math.min(MOST_CELLS / (profiles * kcs * maxItems), MOST_WORK / work);
  return Math.max(1, Math.min(MOST_REPLICATIONS, Math.floor(affordable)));
}

/**
 * Lets one profile take the test once. Its answers come from streams keyed by what is known of the profile, the pins, the number of the
 * replication and the item: neither the profile's name nor the profiles beside it change them, and a further replication changes no
 * earlier one [MA-130].
 * @param replication from 0
 */
export function simulateSitting(
  { selection, rules, pinsHash }: SimulatedTest,
  { known }: KnownProfile,
  replication: number,
): SimulatedSitting {
  const { model } = selection;
  const content = known.map(({ kc, probability }) => [model.kcGuids[kc] ?? '', probability]);
  const learner = drawSimulatedLearner(model, hashCanonical([content, pinsHash, replication]), known);
  const { evidence, work } = simulateRun(
    selection,
    rules,
    simulatedRunSeed(learner.name),
    responderOf(model, learner),
  );
  return { scaleScore: evidence.estimate.scaleScore, administeredItems: evidence.outcomes.length, work };
}

/**
 * What the replications of one profile say: their mean, its distance from the known scale, and its standard error, which one replication
 * alone does not have. Scales are shown at the calibration's precision, and their difference is that of the shown numbers, exact before it
 * is rounded: whoever reads the answer comes to the same [MA-117, MA-130].
 * @param scores at full precision, in the order of the replications
 */
export function recoveryError(
  { selection, rules }: SimulatedTest,
  { syntheticProfileId, known }: KnownProfile,
  scores: readonly number[],
): RecoveryError {
  const shown = (value: number): number => roundSignificant(value, rules.numericPrecision);
  const mean = sumOf(scores) / scores.length;
  const knownScale = shown(selection.model.core.knownScale(known));
  const recoveredScale = shown(mean);
  const difference = exactSum([recoveredScale, -knownScale]).toNumber();
  const squares = sumOf(scores.map((score) => (score - mean) * (score - mean)));
  return {
    syntheticProfileId,
    knownScale,
    recoveredScale,
    absoluteError: shown(Math.abs(difference)),
    ...(scores.length > 1
      ? { standardError: shown(sqrt(squares / (scores.length - 1) / scores.length)) }
      : {}),
  };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

type Verdict = Pick<
  ScoreRecoverySimulation,
  'profilesTotal' | 'recoveryErrors' | 'tolerance' | 'maxAbsoluteError' | 'withinTolerance'
>;

/** What the errors say together, against the tolerance of the calibration: an error that equals it is within [MA-129, MA-131..MA-133]. */
export function judgeRecovery(recoveryErrors: RecoveryError[], tolerance: number): Verdict {
  const maxAbsoluteError = recoveryErrors.reduce(
    (most, { absoluteError }) => Math.max(most, absoluteError),
    0,
  );
  return {
    profilesTotal: recoveryErrors.length,
    recoveryErrors,
    tolerance,
    maxAbsoluteError,
    withinTolerance: maxAbsoluteError <= tolerance,
  };
}
