import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { RunAnswer } from './run-answers.ts';
import type { RunClient, RunFailure, RunSnapshot } from './run-client.ts';

export type OfferedItem = NonNullable<RunAnswer['offeredItem']>;

/** The player: delivers the offered item and lets QTI score the attempt. Resolves to whether the answer was correct. */
export type Player = (item: OfferedItem) => Promise<Result<boolean, RunFailure>>;

interface TakeRunOptions {
  readonly client: RunClient;
  readonly play: Player;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Called with every state that a start or an advance gave, and with the answer that led to it. */
  readonly onState?: (
    state: RunSnapshot,
    answered: { readonly item: OfferedItem; readonly correct: boolean } | undefined,
  ) => void;
}

/** How often a run is asked again without any news before it is given up, and how long each wait is. */
const MAX_IDLE_ADVANCES = 8;
const IDLE_MILLISECONDS = 500;
const MAX_STALE_TAGS = 5;

/**
 * Takes a run from its start to `completed`: plays each offered item once, looks at the run after QTI has scored it (which gives the tag
 * that advance needs), and advances. A stale tag is inspected again and advanced with a fresh key [MA-193]; a run that is `finalizing`
 * is advanced until every owner has acknowledged.
 * @param request the body of the start
 */
export async function takeRun(
  request: object,
  options: TakeRunOptions,
): Promise<Result<RunSnapshot, RunFailure>> {
  const started = await options.client.start(request);
  if (!started.ok) return started;
  let state = started.value;
  options.onState?.(state, undefined);
  let played: string | undefined;
  let idle = 0;
  while (state.run.status !== 'completed') {
    const item = state.run.offeredItem;
    let answered: { readonly item: OfferedItem; readonly correct: boolean } | undefined;
    if (item !== null && item.deliverySessionId !== played) {
      const correct = await options.play(item);
      if (!correct.ok) return correct;
      played = item.deliverySessionId;
      answered = { item, correct: correct.value };
      idle = 0;
    } else {
      idle += 1;
      if (idle > MAX_IDLE_ADVANCES) {
        return err({ kind: 'unexpected', message: `the run stays ${state.run.status} without any news` });
      }
      if (idle > 1) await options.sleep(IDLE_MILLISECONDS);
    }
    const advanced = await advance(options.client, state.run.continuationToken);
    if (!advanced.ok) return advanced;
    state = advanced.value;
    options.onState?.(state, answered);
  }
  return ok(state);
}

async function advance(
  client: RunClient,
  continuationToken: string,
): Promise<Result<RunSnapshot, RunFailure>> {
  for (let tries = 1; ; tries += 1) {
    const inspected = await client.inspect(continuationToken);
    if (!inspected.ok || inspected.value.run.status === 'completed') return inspected;
    // The token to advance with is the one in hand: inspect echoes it.
    const advanced = await client.advance(inspected.value.run.continuationToken, inspected.value.etag);
    const stale = !advanced.ok && advanced.error.kind === 'problem' && advanced.error.problem.status === 412;
    if (!stale || tries === MAX_STALE_TAGS) return advanced;
  }
}
