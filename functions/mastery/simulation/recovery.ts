import {
  drawSimulatedLearner,
  responderOf,
  simulatedRunSeed,
  simulateRun,
} from '#functions/mastery/engine/index.ts';
import type { ClassificationRule, SelectionContext, StoppingRules } from '#functions/mastery/engine/index.ts';
import type { RecoveryError, ScoreRecoverySimulation } from '#shared/contract/mastery/score-recovery.ts';
import { exactSum, nearestNumber } from '#shared/kernel/decimal.ts';
import { roundSignificant } from '#shared/kernel/numbers.ts';
import type { KnownProfile } from './known-profile.ts';

/** The test that profiles take. */
export interface SimulatedTest {
  readonly selection: SelectionContext;
  readonly rules: StoppingRules & ClassificationRule;
}

/** How one profile's test came out. */
export interface SimulatedProfile {
  readonly error: RecoveryError;
  readonly administeredItems: number;
}

/**
 * Lets one profile take the test. Its answers come from streams that are keyed by its own id and the item, so that they depend neither on
 * the profiles beside it nor on their order. Scales are shown at the calibration's precision, and their difference is that of the shown
 * numbers, exact before it is rounded: whoever reads the answer comes to the same [MA-117, MA-130].
 */
export function simulateProfile(
  { selection, rules }: SimulatedTest,
  { syntheticProfileId, known }: KnownProfile,
): SimulatedProfile {
  const { model } = selection;
  const respond = responderOf(model, drawSimulatedLearner(model, syntheticProfileId, known));
  const { evidence } = simulateRun(selection, rules, simulatedRunSeed(syntheticProfileId), respond);
  const shown = (value: number): number => roundSignificant(value, rules.numericPrecision);
  const knownScale = shown(model.core.knownScale(known));
  const recoveredScale = shown(evidence.estimate.scaleScore);
  const difference = nearestNumber(exactSum([recoveredScale, -knownScale]));
  return {
    error: { syntheticProfileId, knownScale, recoveredScale, absoluteError: shown(Math.abs(difference)) },
    administeredItems: evidence.outcomes.length,
  };
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
