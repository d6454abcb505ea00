import { attempt, BackgroundWorkBroken, logBroken } from '#functions/reports/background/invocation.ts';
import type { ScheduledHandler } from '#functions/reports/background/invocation.ts';
import { mapConcurrent } from '#functions/reports/improvement/map-concurrent.ts';
import { sweepRuns as row } from '#shared/contract/background.ts';
import { once } from '#shared/http/once.ts';
import { releaseFor } from '#shared/http/stages/release-state.ts';
import { isTerminal, type ImprovementStore, type RunSummary } from '#shared/improvement/records.ts';
import type { RunQueue } from '#shared/improvement/run-message.ts';
import { randomFraction } from '#shared/kernel/random.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import { createFunctionLog, type Log, type LogPorts } from '#shared/observability/logger.ts';
import type { ReleaseWatch } from '#shared/release/watch-release.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** After this long without progress, a run's message counts as lost or given up by the queue. A worker ends long before. */
export const UNTOUCHED_MS = 15 * MINUTE_MS;
/** The most workers in a row that may begin on a run and end, killed or by a defect, before one of them records anything: eight messages' worth. */
export const MAX_TRIES = 40;
/** The age up to which a run waits for a missing receiver, for an owner that does not respond, or for a worker that takes its message. */
export const MAX_AGE_MS = 14 * DAY_MS;
/** How long the queue keeps a message: a run that was sent on longer ago has none waiting. */
export const MESSAGE_KEPT_MS = 4 * DAY_MS;
/** How long every sweep sends a parked run on; after that the pauses grow to the longest. */
export const OFTEN_MS = 30 * MINUTE_MS;
export const LONGEST_PARKED_MS = HOUR_MS;
/** The longest pause between two messages of a run that no worker begins on. */
export const LONGEST_UNREAD_MS = DAY_MS;

/** The stores of the runs, and the queue to which they are sent on. */
export interface SweepStores {
  readonly store: ImprovementStore;
  readonly queue: RunQueue;
}

/** How many runs have not ended, and what the sweep did with them. */
interface Sweep {
  open: number;
  sent: number;
  failed: number;
  broken: number;
}

/** Runs that are looked at at once. */
const MAX_CONCURRENCY = 8;
/** A run is begun only while there is more time left than looking at one takes; the next sweep begins somewhere else. */
const LEAST_STEP_MS = 10_000;

/**
 * Sweeps the runs that have not ended. If some could not be swept, the invocation ends with an error once the others are done. While a gate is
 * withdrawn, it sends no run on and gives none up.
 * @param bind the stores; called once per binding
 * @param watch the release; called once per binding
 */
export function createSweepFunction(
  bind: () => SweepStores,
  runtime: LogPorts & Pick<Runtime, 'random'>,
  watch: () => ReleaseWatch,
): ScheduledHandler {
  const bound = once(bind);
  const release = once(watch);
  const { now, random } = runtime;
  const openLog = createFunctionLog(row, runtime);
  return async (_event, context) => {
    const log = openLog(context);
    const startedAt = now();
    const endsAt = startedAt + context.getRemainingTimeInMillis();
    const broken = await attempt(log, async () => {
      if ((await releaseFor(row, await release(), log)) === undefined) return 0;
      const isTime = (): boolean => endsAt - now() >= LEAST_STEP_MS;
      const sweep = await sweepRuns({ ...(await bound()), now, log }, isTime, randomFraction(random));
      log('IMPROVEMENT_RUNS_SWEPT', { ...sweep, durationMs: now() - startedAt });
      return sweep.broken;
    });
    if (broken > 0) throw new BackgroundWorkBroken();
  };
}

type Sweeping = SweepStores & Pick<LogPorts, 'now'> & { readonly log: Log };

/**
 * Looks at every run that has not ended: sends on runs without progress, retries missing receivers, ends exhausted runs. A superfluous message does
 * no harm, so it is sent before it is counted; but the number of a run's waiting messages stays bounded, however long the queue is.
 * @param from 0 to less than 1: where in the list it begins, so that no run is always the one for which no time is left
 */
async function sweepRuns(sweeping: Sweeping, isTime: () => boolean, from: number): Promise<Sweep> {
  const { store, log } = sweeping;
  const sweep: Sweep = { open: 0, sent: 0, failed: 0, broken: 0 };
  const open = await Array.fromAsync(store.listOpen());
  const first = Math.floor(from * open.length);
  await mapConcurrent(
    MAX_CONCURRENCY,
    [...open.slice(first), ...open.slice(0, first)],
    isTime,
    async (run) => {
      try {
        const summary = await store.readSummary(run);
        if (summary === undefined || isTerminal(summary.state)) return;
        sweep.open += 1;
        await sweepRun(sweeping, summary, sweep);
      } catch (error) {
        sweep.broken += 1;
        logBroken(log, error, { improvementRunId: run.improvementRunId });
      }
    },
  );
  return sweep;
}

async function sweepRun({ store, queue, now, log }: Sweeping, run: RunSummary, sweep: Sweep): Promise<void> {
  const verdict = verdictOn(run, now());
  switch (verdict) {
    case 'wait':
      return;
    case 'send':
      await queue.send(run);
      await store.touchRun(run, 'sweeper', now(), run.touchedAt);
      sweep.sent += 1;
      return;
    case 'too_old':
    case 'no_progress': {
      const completedAt = Math.max(now(), run.createdAt);
      if (!(await store.moveRun(run, { state: 'failed', completedAt }, now()))) return;
      sweep.failed += 1;
      log('IMPROVEMENT_RUN_FAILED', { improvementRunId: run.improvementRunId, reason: verdict });
    }
  }
}

/** Returns what is due for a run that has not ended. The sweep gives it up as `no_progress` after `MAX_TRIES`, as `too_old` after `MAX_AGE_MS`. */
export function verdictOn(run: RunSummary, now: number): 'wait' | 'send' | 'no_progress' | 'too_old' {
  const untouched = now - run.touchedAt;
  if (now - run.createdAt >= MAX_AGE_MS) return 'too_old';
  if (run.tries >= MAX_TRIES) return untouched < UNTOUCHED_MS ? 'wait' : 'no_progress';
  return untouched < pauseOf(run, now) ? 'wait' : 'send';
}

/**
 * Returns how long the sweep waits after a run's last change. It does not send a parked run on while a message of it can still be waiting. It does
 * send on a run that no worker begins, since its message may be lost, but each time after twice the pause.
 */
function pauseOf({ state, sweeps, touchedAt, parkedAt = touchedAt }: RunSummary, now: number): number {
  if (state !== 'blocked_upstream') return Math.min(UNTOUCHED_MS * 2 ** sweeps, LONGEST_UNREAD_MS);
  if (sweeps > 0) return MESSAGE_KEPT_MS;
  const parked = now - parkedAt;
  return parked <= OFTEN_MS ? 0 : Math.min(parked / 6, LONGEST_PARKED_MS);
}
