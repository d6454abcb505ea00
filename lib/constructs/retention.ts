import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { StageConfig } from '#shared/stage/stage.ts';

/** The CDK's name for a stage's retention. Stage settings are read by tools that should not load the CDK, so they hold plain days. */
export const retention: Readonly<Record<StageConfig['logRetentionDays'], RetentionDays>> = {
  14: RetentionDays.TWO_WEEKS,
  30: RetentionDays.ONE_MONTH,
  60: RetentionDays.TWO_MONTHS,
  90: RetentionDays.THREE_MONTHS,
  120: RetentionDays.FOUR_MONTHS,
  150: RetentionDays.FIVE_MONTHS,
  180: RetentionDays.SIX_MONTHS,
  365: RetentionDays.ONE_YEAR,
  400: RetentionDays.THIRTEEN_MONTHS,
  545: RetentionDays.EIGHTEEN_MONTHS,
  731: RetentionDays.TWO_YEARS,
};
