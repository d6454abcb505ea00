import {
  drawSimulatedLearner,
  createResponder,
  simulatedRunSeed,
  simulateRun,
  sqrt,
  type ClassificationRule,
  type CompiledModel,
  type KnownMastery,
  type SelectionContext,
  type SimulatedRun,
  type StoppingRules,
} from '#functions/mastery/engine/index.ts';
import type { ScopedKc } from '#functions/mastery/pool/scoped-kc.ts';
import { refuseCalibration } from '#functions/mastery/upstream/problems.ts';
import type {
  RecoveryError,
  ScoreRecoverySimulation,
  SyntheticProfile,
} from '#shared/contract/mastery/score-recovery.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { exactSum } from '#shared/kernel/decimal.ts';
import { roundSignificant } from '#shared/kernel/numbers.ts';
import { ok, type Result } from '#shared/kernel/result.ts';
import type { Problem } from '#shared/problems/problem.ts';

/** A simulated learner's profile, with the indices of a model. */
export interface KnownProfile {
  readonly syntheticProfileId: string;
  /** In the order of the model's KCs, so that the order of a request's members does not change a sum. */
  readonly known: readonly KnownMastery[];
}

/**
 * Reads profiles for a model. Returns 422 `calibration-invalid` for a knowledge component without parameters in the calibration, or that policy and
 * pool do not measure: the service has not asked CASE about it, so a trace with it would be incomplete [MA-013, MA-195]. It does so too for a profile
 * that the calibration rules out: no learner of its model could be simulated.
 * @param test the KCs that it measures, and the decimal significant digits at which probabilities are read [MA-041]
 */
export function readProfiles(
  profiles: readonly SyntheticProfile[],
  model: Pick<CompiledModel, 'kcIndex' | 'core'>,
  test: { readonly scope: readonly ScopedKc[]; readonly numericPrecision: number },
): Result<readonly KnownProfile[], Problem> {
  const measured = new Set(test.scope.map(({ modelKc }) => modelKc));
  const read: KnownProfile[] = [];
  for (const { syntheticProfileId, knownMastery } of profiles) {
    const known: KnownMastery[] = [];
    for (const [guid, probability] of Object.entries(knownMastery)) {
      const kc = model.kcIndex.get(guid);
      if (kc === undefined)
        return refuseCalibration('The calibration has no parameters for a knowledge component of a profile.');
      if (!measured.has(kc))
        return refuseCalibration('A profile names a knowledge component that the test does not measure.');
      known.push({ kc, probability: roundSignificant(probability, test.numericPrecision) });
    }
    known.sort((a, b) => a.kc - b.kc);
    if (model.core.admits?.(known) === false)
      return refuseCalibration(
        'The calibration rules out the known mastery of a profile, such as a knowledge component without its prerequisites.',
      );
    read.push({ syntheticProfileId, known });
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

/** The most replications and their bounds: cells of the matrix, and nanoseconds (docs/score-recovery.md has the measurements). */
const MAX_REPLICATIONS = 32;
const MAX_CELLS = 2_000_000;
const MAX_COST = 7_000_000_000;

/**
 * Returns whether all profiles take the test once more: always a first time, then as long as there are at most 32 replications, profiles × KCs ×
 * items × replications are at most 2,000,000, and the estimated cost stays within its bound even if the next replication costs as much as the costliest so far.
 * No clock is involved: the same request has the same number of replications on every machine.
 * @param size of the matrix: `kcs` are those in scope of the test, `maxItems` the most that it may have
 * @param costs what each replication so far cost, as `simulateSitting` counts it
 */
export function isReplicated(
  { profiles, kcs, maxItems }: Readonly<Record<'profiles' | 'kcs' | 'maxItems', number>>,
  costs: readonly number[],
): boolean {
  const next = costs.length + 1;
  return (
    next === 1 ||
    (next <= MAX_REPLICATIONS &&
      profiles * kcs * maxItems * next <= MAX_CELLS &&
      sumOf(costs) + Math.max(...costs) <= MAX_COST)
  );
}

/**
 * Lets all profiles take the test once, then as often as the cost of those replications permits. It yields to the event loop after each test, so that
 * the pipeline's own deadline can end the request. A test under way is aborted when the time is over.
 * @param time the clock, and the deadline of all tests; epoch milliseconds
 * @returns `simulated`: how many tests were taken, fewer than profiles × replications if time ran out; `scores`: for each profile its scale scores at full
 *   precision, in the order of the replications
 */
export async function sitAll(
  test: SimulatedTest,
  profiles: readonly KnownProfile[],
  { now, until }: { readonly now: () => number; readonly until: number },
): Promise<{
  readonly replications: number;
  readonly simulated: number;
  readonly administeredItems: number;
  readonly scores: readonly (readonly number[])[];
}> {
  const { scope, maxItems } = test.selection.constraints;
  const size = { profiles: profiles.length, kcs: scope.length, maxItems };
  const scores = profiles.map((): number[] => []);
  const counts = { simulated: 0, administeredItems: 0 };
  const costs: number[] = [];
  const isTimedOut = (): boolean => now() >= until;
  while (isReplicated(size, costs)) {
    const replication = costs.push(0) - 1;
    for (const [at, profile] of profiles.entries()) {
      const { evidence, stopReason, estimatedCost } = simulateSitting(test, profile, replication, isTimedOut);
      if (stopReason === 'time_budget') return { replications: costs.length, ...counts, scores };
      scores[at]?.push(evidence.estimate.scaleScore);
      counts.simulated += 1;
      counts.administeredItems += evidence.outcomes.length;
      costs[replication] = (costs[replication] ?? 0) + estimatedCost;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
  return { replications: costs.length, ...counts, scores };
}

/**
 * Lets one profile take the test once. Its answers come from streams whose keys are the profile's known mastery, the pins, the number of the
 * replication and the item. So neither the profile's name nor other profiles change them, and a further replication changes no earlier one [MA-130].
 * @param replication from 0
 * @param isTimedOut returns whether to abort, asked before each item
 */
export function simulateSitting(
  { selection, rules, pinsHash }: SimulatedTest,
  { known }: KnownProfile,
  replication: number,
  isTimedOut?: () => boolean,
): SimulatedRun {
  const { model } = selection;
  const content = known.map(({ kc, probability }) => [model.kcGuids[kc] ?? '', probability]);
  const learner = drawSimulatedLearner(model, hashCanonical([content, pinsHash, replication]), known);
  const seed = simulatedRunSeed(learner.name);
  return simulateRun(selection, rules, seed, createResponder(model, learner), isTimedOut);
}

/**
 * Summarizes the replications of one profile: their mean, its distance from the known scale, and its standard error, which needs more than one
 * replication. Scales are shown at the calibration's precision, and their difference is that of the shown numbers, exact before it is rounded: a
 * reader of the response gets the same result [MA-117, MA-130].
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

/** Evaluates the errors together against the tolerance of the calibration: an error equal to it passes [MA-129, MA-131..MA-133]. */
export function evaluateRecovery(
  recoveryErrors: RecoveryError[],
  tolerance: number,
): Omit<
  ScoreRecoverySimulation,
  'replications' | 'executionPins' | 'receiptId' | 'eventIri' | 'envelopeHash'
> {
  const maxAbsoluteError = Math.max(0, ...recoveryErrors.map(({ absoluteError }) => absoluteError));
  return {
    profilesTotal: recoveryErrors.length,
    recoveryErrors,
    tolerance,
    maxAbsoluteError,
    withinTolerance: maxAbsoluteError <= tolerance,
  };
}
