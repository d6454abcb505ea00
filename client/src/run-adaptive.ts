import type { MasteryClient } from './client.ts';
import { MasteryReportsError, ProblemError } from './errors.ts';
import type { AdaptiveRun, OfferedItem, StartAdaptiveRunInput, WaitingFor } from './generated/mastery.ts';
import type { Reply, RequestOptions } from './operations.ts';
import { reasonOf, sleep as sleepFor } from './retry.ts';
import type { Sleep } from './retry.ts';

/** The data to store of a run, to resume it after a restart. Keep it as secret as a token of the learner. */
export interface SavedRun {
  /** The key of the start, saved before it is sent: a repeated start finds the same run for 24 hours. */
  readonly startKey: string;
  /** The only handle of the run, from its start on. */
  readonly continuationToken?: string;
}

/** The store of a run: one place per run. */
export interface RunStore {
  /** Returns what was saved last; undefined for a run that has not begun. */
  readonly load: () => SavedRun | undefined | Promise<SavedRun | undefined>;
  readonly save: (run: SavedRun) => void | Promise<void>;
}

/** A run as the service last showed it. */
export type RunState = Reply<AdaptiveRun, string>;

/**
 * Delivers an item to the learner and resolves when the attempt has been submitted to QTI. The engine reads the score from there. Its signal aborts
 * when the run's time budget is over, or when the caller ends the run.
 */
export type Play = (item: OfferedItem, context: { readonly signal: AbortSignal }) => void | Promise<void>;

export interface RunAdaptiveOptions extends Pick<
  RequestOptions,
  'signal' | 'token' | 'traceparent' | 'timeout' | 'maxRetries'
> {
  /** The run to start, unless the store contains one that has started. */
  readonly start: StartAdaptiveRunInput;
  readonly play: Play;
  /** Stores the run at each step. Without it, an interrupted run cannot be resumed. */
  readonly store?: RunStore | undefined;
  /** Called with every new state: after the start, after each advance, and with the state of a resumed run. */
  readonly onState?: ((state: RunState) => void | Promise<void>) | undefined;
  /** Called before each pause in which only an owner can act, with the owner that the run waits for and the run's state. */
  readonly onWait?: ((waitingFor: WaitingFor, state: RunState) => void | Promise<void>) | undefined;
  /** Milliseconds to wait for news (a score, an acknowledgement) before `RunStalledError`. Default: two minutes. */
  readonly patience?: number | undefined;
  /** Replaces timers, for tests. */
  readonly sleep?: Sleep | undefined;
}

/** A run had no news for longer than `patience`. It is not lost: call `runAdaptive` again with the same store to continue. */
export class RunStalledError extends MasteryReportsError {
  override name = 'RunStalledError';
  readonly state: RunState;
  constructor(state: RunState, waited: number) {
    const { status, offeredItem, waitingFor } = state.data;
    const owner = waitingFor === undefined ? '' : ` (${waitingFor.operation})`;
    const what =
      offeredItem === null
        ? `it is ${status}: an owner has not acknowledged the result yet${owner}`
        : `QTI has no scored attempt for the session ${offeredItem.deliverySessionId} yet${owner}`;
    super(
      `the run had no news for ${Math.round(waited / 1000)} s: ${what}. Call runAdaptive again with the same store to continue (receipt ${state.data.receiptId}).`,
    );
    this.state = state;
  }
}

const PATIENCE_MILLISECONDS = 120_000;
const FIRST_WAIT_MILLISECONDS = 500;
const LONGEST_WAIT_MILLISECONDS = 10_000;
const MAX_STALE_TAGS = 5;
const MAX_TIMER_MILLISECONDS = 2 ** 31 - 1;

/**
 * Takes an adaptive run from its start, or from its stored step, to `completed`: plays each offered item once, inspects the run after QTI has scored
 * it (which gives the entity tag that advance needs), and advances.
 * @returns the completed run
 * @throws {ProblemError} if the service rejects a request; `error.remedy` states what to do
 * @throws {RunStalledError} if nothing happens for longer than `patience`
 * @example
 * const { data: run } = await runAdaptive(mastery, { start, play: (item) => player.deliver(item), store });
 */
export async function runAdaptive(mastery: MasteryClient, options: RunAdaptiveOptions): Promise<RunState> {
  const {
    store,
    onState,
    onWait,
    play,
    signal,
    sleep = sleepFor,
    patience = PATIENCE_MILLISECONDS,
  } = options;
  const request = requestOf(options);
  const saved = await store?.load();
  const startKey = saved?.startKey ?? crypto.randomUUID();
  // The offer of a resumed run may have been answered before the restart: the client asks the service before it plays the item again.
  let isAnswered = saved?.continuationToken !== undefined;
  let state: RunState;
  if (saved?.continuationToken === undefined) {
    if (saved === undefined) await store?.save({ startKey });
    state = await mastery.startAdaptiveRun(options.start, { ...request, idempotencyKey: startKey });
  } else {
    const { continuationToken } = saved;
    state = await mastery.inspectAdaptiveRun({ continuationToken }, request);
  }
  let waited = 0;
  let wait = FIRST_WAIT_MILLISECONDS;
  let isNew = true;
  for (let played: string | undefined; ;) {
    const { continuationToken, status, offeredItem, waitingFor } = state.data;
    await store?.save({ startKey, continuationToken });
    if (isNew) await onState?.(state);
    if (status === 'completed') return state;
    if (isAnswered) {
      isAnswered = false;
    } else if (
      offeredItem !== null &&
      offeredItem.deliverySessionId !== played &&
      waitingFor?.service !== 'qti'
    ) {
      await playInTime(play, offeredItem, timeLeft(state), signal);
      played = offeredItem.deliverySessionId;
    } else {
      if (waited >= patience) throw new RunStalledError(state, waited);
      if (waitingFor !== undefined) await onWait?.(waitingFor, state);
      const pause = Math.max(wait, (state.retryAfter ?? 0) * 1000);
      await sleep(pause, signal);
      waited += pause;
      wait = Math.min(wait * 2, LONGEST_WAIT_MILLISECONDS);
    }
    const next = await advance(mastery, continuationToken, request);
    isNew = isNews(state.data, next.data);
    if (isNew) {
      waited = 0;
      wait = FIRST_WAIT_MILLISECONDS;
    }
    state = next;
  }
}

function requestOf({ signal, token, traceparent, timeout, maxRetries }: RunAdaptiveOptions): RequestOptions {
  return { signal, token, traceparent, timeout, maxRetries };
}

function isNews(before: AdaptiveRun, after: AdaptiveRun): boolean {
  return (
    after.status !== before.status ||
    after.offeredItem?.deliverySessionId !== before.offeredItem?.deliverySessionId
  );
}

/** Plays an item until it is answered or the time budget is over: from then on only an advance ends the run. */
async function playInTime(
  play: Play,
  item: OfferedItem,
  left: number | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  const budget = left === undefined ? undefined : AbortSignal.timeout(Math.min(left, MAX_TIMER_MILLISECONDS));
  const end = AbortSignal.any([budget, signal].filter((one) => one !== undefined));
  try {
    await Promise.race([aborted(end), play(item, { signal: end })]);
  } catch (error) {
    if (signal?.aborted === true) throw reasonOf(signal);
    if (budget?.aborted !== true) throw error;
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(reasonOf(signal));
    else signal.addEventListener('abort', () => reject(reasonOf(signal)), { once: true });
  });
}

/** Returns the remaining milliseconds of the time budget, by the clock of the service if its `Date` can be read: the local one may be wrong. */
function timeLeft({ data, headers }: RunState): number | undefined {
  if (data.timeBudgetEndsAt === undefined) return undefined;
  const served = Date.parse(headers.get('date') ?? '');
  return Math.max(0, Date.parse(data.timeBudgetEndsAt) - (Number.isNaN(served) ? Date.now() : served));
}

/**
 * Inspects, then advances with that response's entity tag. After a stale tag, and once after a conflict or a finalization that the service does not
 * ask to repeat, it inspects again and advances with the new tag and a fresh key, or returns what the inspection shows. If nothing has changed since
 * the inspection before a 412, it takes that response's `currentEtag`: a proxy that compresses changes the header, not the body.
 */
async function advance(
  mastery: MasteryClient,
  continuationToken: string,
  request: RequestOptions,
): Promise<RunState> {
  let stale: { readonly run: AdaptiveRun; readonly currentEtag: string | undefined } | undefined;
  for (let staleTags = 0, conflicts = 0; ;) {
    const inspected = await mastery.inspectAdaptiveRun({ continuationToken }, request);
    // Until QTI has scored the answer, there is nothing for an advance to consume.
    if (inspected.data.status === 'completed' || inspected.data.waitingFor?.service === 'qti')
      return inspected;
    const currentEtag =
      stale !== undefined && isAsBefore(stale.run, inspected.data) ? stale.currentEtag : undefined;
    try {
      return await mastery.advanceAdaptiveRun(
        { continuationToken, ifMatch: currentEtag ?? inspected.etag },
        request,
      );
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      stale =
        error.status === 412 ? { run: inspected.data, currentEtag: error.problem.currentEtag } : undefined;
      if (error.status === 412) staleTags += 1;
      else if (error.code === 'stream-conflict' || error.code === 'finalization-incomplete') conflicts += 1;
      else throw error;
      if (staleTags > MAX_STALE_TAGS || conflicts > 1) throw error;
    }
  }
}

/** Returns whether two inspections show the same: the offered item, the classifications, and whether the run has stopped. */
function isAsBefore(before: AdaptiveRun, after: AdaptiveRun): boolean {
  const shown = ({ offeredItem, kcClassifications, stopReason }: AdaptiveRun): string =>
    JSON.stringify([offeredItem, kcClassifications, stopReason]);
  return shown(before) === shown(after);
}
