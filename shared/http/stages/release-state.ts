import { nameOf } from '#shared/observability/describe-error.ts';
import type { Log } from '#shared/observability/logger.ts';
import { problem } from '#shared/problems/registry.ts';
import { isReleased, missingFor, type Gated, type ReleaseState } from '#shared/release/release-state.ts';
import type { ReleaseWatch } from '#shared/release/watch-release.ts';
import { exchangeOf } from '../exchange.ts';
import { once } from '../once.ts';
import { Refusal } from '../refusal.ts';
import type { Stage } from './stage.ts';

/**
 * 503 for a gate that was withdrawn while its function is deployed [RP-018], and when nothing proves what is released. The caller is not told
 * which it is; the log says it.
 * @param bind runs once per binding
 */
export function releaseState(row: Gated, bind: () => ReleaseWatch): Stage {
  const bound = once(bind);
  return {
    before: async ({ context }) => {
      const exchange = exchangeOf(context);
      const release = await releaseFor(row, await bound(), exchange.log);
      if (release === undefined)
        throw new Refusal(problem('reports', 'dependency-unavailable', 503, { dependency: 'unknown' }));
      exchange.proved = release.proved;
    },
  };
}

/** The release, while everything that a function waits for is open; else undefined, and the log says what is not, or why nothing is. */
export async function releaseFor(
  row: Gated,
  watch: ReleaseWatch,
  log: Log,
): Promise<ReleaseState | undefined> {
  const { state, fault, error } = await watch();
  if (isReleased(row, state)) return state;
  if (fault === undefined) log('RELEASE_WITHDRAWN', { missing: missingFor(row, state) });
  else log('RELEASE_UNPROVED', { reason: fault, error: error === undefined ? undefined : nameOf(error) });
  return undefined;
}
