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
  SimulatedRun,
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

/** The most replications, and what bounds them (docs/score-recovery.md has the measurements). */
const MOST_REPLICATIONS = 32;
const MOST_CELLS = 2_000_000;
const MOST_WORK = 300_000_000;

/**
 * How often each profile takes the test: the largest number up to 32 for which profiles × KCs × items × replications is at most 2,000,000
 * and the work at most what one sitting of the largest matrix needs; at least 1. It depends on no clock: the same request has the same
 * number everywhere.
 * @param size of the matrix: `kcs` are those in scope of the test, `maxItems` the most that it may have
 * @param work what the first replication of all profiles cost together, as `simulateRun` counts it
 */
export function replicationsOf(
  { profiles, kcs, maxItems }: Readonly<Record<'profiles' | 'kcs' | 'maxItems', number>>,
  work: number,
): number {
  const affordable = Math.min(MOST_CELLS / (profiles * kcs * maxItems), MOST_WORK / work);
  return Math.max(1, Math.min(MOST_REPLICATIONS, Math.floor(affordable)));
}

/** What came of the profiles' tests. */
interface Sittings {
  readonly replications: number;
  /** How many tests were taken; fewer than profiles × replications when time ran out. */
  readonly simulated: number;
  readonly administeredItems: number;
  /** For each profile its scale scores at full precision, in the order of the replications. */
  readonly scores: readonly (readonly number[])[];
}

/**
 * Lets all profiles take the test once, then as often again as that one replication says can be afforded. After each test the event loop
 * has its turn: the pipeline's own watch over the request must be able to strike. Nothing is begun that would end too late if it took as
 * long as the longest test before it.
 * @param time the clock, and by when all has to be done; epoch milliseconds
 */
export async function sitAll(
  test: SimulatedTest,
  profiles: readonly KnownProfile[],
  { now, until }: { readonly now: () => number; readonly until: number },
): Promise<Sittings> {
  const { scope, maxItems } = test.selection.constraints;
  const size = { profiles: profiles.length, kcs: scope.length, maxItems };
  const scores = profiles.map((): number[] => []);
  let replications = 1;
  const counts = { simulated: 0, administeredItems: 0 };
  let firstWork = 0;
  let longest = 0;
  for (let replication = 0; replication < replications; replication += 1) {
    for (const [at, profile] of profiles.entries()) {
      const began = now();
      if (began + longest >= until) return { replications, ...counts, scores };
      const { evidence, work } = simulateSitting(test, profile, replication);
      scores[at]?.push(evidence.estimate.scaleScore);
      counts.simulated += 1;
      counts.administeredItems += evidence.outcomes.length;
      if (replication === 0) firstWork += work;
      longest = Math.max(longest, now() - began);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    replications = replicationsOf(size, firstWork);
  }
  return { replications, ...counts, scores };
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
): SimulatedRun {
  const { model } = selection;
  const content = known.map(({ kc, probability }) => [model.kcGuids[kc] ?? '', probability]);
  const learner = drawSimulatedLearner(model, hashCanonical([content, pinsHash, replication]), known);
  return simulateRun(selection, rules, simulatedRunSeed(learner.name), responderOf(model, learner));
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
