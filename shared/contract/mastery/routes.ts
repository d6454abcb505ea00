import { advanceAdaptiveRun } from './routes/advance-adaptive-run.ts';
import { inspectAdaptiveRun } from './routes/inspect-adaptive-run.ts';
import { readScaleCalibration } from './routes/read-scale-calibration.ts';
import { readSelectionPolicy } from './routes/read-selection-policy.ts';
import { simulateScoreRecovery } from './routes/simulate-score-recovery.ts';
import { startAdaptiveRun } from './routes/start-adaptive-run.ts';

/** The routes of the mastery engine by their operation ids, in the order of its document. */
export const masteryRoutes = {
  startAdaptiveRun,
  inspectAdaptiveRun,
  advanceAdaptiveRun,
  readSelectionPolicy,
  readScaleCalibration,
  simulateScoreRecovery,
} as const;
