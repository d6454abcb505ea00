import { score } from '#shared/contract/reports/attempt-report.ts';
import type { Score } from '#shared/contract/reports/attempt-report.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { SettledScore } from '#shared/platform/owners/results.ts';
import { shortfall } from '../facts/incomplete.ts';
import type { Shortfall } from '../facts/incomplete.ts';
import { known } from '../facts/known.ts';

/** The settled score as Results holds it. No outcome enters: nothing here could add up to another value [RP-003, RP-080]. */
export function composeScore(settled: SettledScore | null): Result<Score, Shortfall> {
  if (settled === null)
    return err(shortfall('unsettled', 'results', 'Results has not settled the score of the attempt.'));
  const { value, minimum, maximum, scaleVersion } = settled;
  const unit = known(score.shape.unit.options, settled.unit);
  if ((minimum !== null && value < minimum) || (maximum !== null && value > maximum))
    return err(
      shortfall(
        'unusable',
        'results',
        'The settled score lies outside the bounds that Results gives for it.',
      ),
    );
  if (unit === 'mastery_scale' && scaleVersion === null)
    return err(
      shortfall(
        'unsettled',
        'results',
        'The settled score is on a mastery scale whose version Results does not name.',
      ),
    );
  return ok({ value, minimum, maximum, unit, scaleVersion });
}
