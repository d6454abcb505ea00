import { BackgroundWorkBroken, logBroken } from '#functions/reports/background/broken-work.ts';
import type { ScheduledHandler } from '#functions/reports/background/scheduled.ts';
import { sweepRuns as row } from '#shared/contract/background.ts';
import { releaseFor } from '#shared/http/stages/release-state.ts';
import { randomFraction } from '#shared/kernel/random.ts';
import type { Runtime } from '#shared/lambda/runtime.ts';
import { createFunctionLog } from '#shared/observability/logger.ts';
import type { LogPorts } from '#shared/observability/logger.ts';
import type { ReleaseWatch } from '#shared/release/watch-release.ts';
import { sweepRuns } from './sweep-runs.ts';
import type { SweepDependencies } from './sweep-runs.ts';

/** Where the runs are, and where they are sent on to. */
export type SweepStores = Pick<SweepDependencies, 'store' | 'queue'>;

/** A run is begun only while there is more time left than looking at one takes. */
const LEAST_STEP_MS = 10_000;

/**
 * Sweeps the runs that have not ended. Runs that could not be swept end the invocation with an error, once the others are done. While a gate
 * is withdrawn, nothing is sent on and nothing is given up.
 * @param bind the stores; called once per binding
 * @param watch the release; called once per binding
 */
export function createSweepFunction(
  bind: () => SweepStores,
  runtime: LogPorts & Pick<Runtime, 'random'>,
  watch: () => ReleaseWatch,
): ScheduledHandler {
  let bound: SweepStores | undefined;
  let release: ReleaseWatch | undefined;
  const openLog = createFunctionLog(row, runtime);
  return async (_event, context) => {
    const { now, random } = runtime;
    const log = openLog(context);
    const startedAt = now();
    const endsAt = startedAt + context.getRemainingTimeInMillis();
    let broken: number;
    try {
      release ??= watch();
      if ((await releaseFor(row, release, log)) === undefined) return;
      bound ??= bind();
      const sweep = await sweepRuns({
        ...bound,
        now,
        isTime: () => endsAt - now() >= LEAST_STEP_MS,
        random: () => randomFraction(random),
        onBroken: ({ improvementRunId }, error) => logBroken(log, error, { improvementRunId }),
        onFailed: ({ improvementRunId }, reason) =>
          log('IMPROVEMENT_RUN_FAILED', { improvementRunId, reason }),
      });
      log('IMPROVEMENT_RUNS_SWEPT', { ...sweep, durationMs: now() - startedAt });
      broken = sweep.broken;
    } catch (error) {
      logBroken(log, error);
      throw new BackgroundWorkBroken();
    }
    if (broken > 0) throw new BackgroundWorkBroken();
  };
}
