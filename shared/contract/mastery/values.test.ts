import { expect, it } from 'vitest';
import type { Route } from '../route.ts';
import { readScaleCalibration } from './routes/read-scale-calibration.ts';
import { readSelectionPolicy } from './routes/read-selection-policy.ts';
import { simulateScoreRecovery } from './routes/simulate-score-recovery.ts';

// The requests: test/lemmas/requests.ts.

const hash = '0123456789abcdef'.repeat(4);
const noHash = [hash.toUpperCase(), hash.slice(1), `${hash}0`, `g${hash.slice(1)}`, '', null];
const noProbability = [-0.001, 1.001, NaN, Infinity, '0.5', null, undefined];
const [error] = simulateScoreRecovery.success.example.recoveryErrors;

/** By rule: members of answers, values that they have, and values that they never have. */
it.each<[rule: string, member: string, route: Route, taken: readonly unknown[], refused: readonly unknown[]]>(
  [
    ['MA-106', 'algorithm', readSelectionPolicy, [], ['random', 'CONSTRAINED_INFORMATION_GAIN', '', null]],
    ['MA-107', 'kcCutScore', readSelectionPolicy, [0, 0.5, 1], noProbability],
    ['MA-107', 'confidenceThreshold', readSelectionPolicy, [0, 0.5, 1], noProbability],
    ['MA-043', 'checksum', readSelectionPolicy, [hash], noHash],
    ['MA-043', 'checksum', readScaleCalibration, [hash], noHash],
    [
      'MA-121',
      'recoveryTolerance',
      readScaleCalibration,
      [0, 0.25, 1_000],
      [-0.001, NaN, Infinity, '25', null],
    ],
    ['MA-129', 'profilesTotal', simulateScoreRecovery, [], [0, 3]],
    ['MA-129', 'replications', simulateScoreRecovery, [1], [0]],
    ['MA-130', 'recoveryErrors', simulateScoreRecovery, [], [[], [{ ...error, absoluteError: -1 }]]],
    ['MA-130', 'recoveryErrors', simulateScoreRecovery, [], [[{ ...error, knownScale: Infinity }]]],
    ['MA-134', 'eventIri', simulateScoreRecovery, [], ['event-1']],
    ['MA-134', 'envelopeHash', simulateScoreRecovery, [hash], noHash],
    ['MA-134', 'resultsStudentId', simulateScoreRecovery, [], ['student-1']],
  ],
)('%s: an answer has as %s what the specification says', (_, name, { success }, taken, refused) => {
  const takes = (value: unknown): boolean =>
    success.schema.safeParse({ ...(success.example as object), [name]: value }).success;
  for (const value of taken) expect([value, takes(value)]).toEqual([value, true]);
  for (const value of refused) expect([value, takes(value)]).toEqual([value, false]);
});

it('has at least one simulated learner [MA-129]', () => {
  const { schema, example } = simulateScoreRecovery.success;
  expect(schema.safeParse({ ...example, profilesTotal: 0, recoveryErrors: [] }).success).toBe(false);
});
