import { nameOf } from '#shared/observability/describe-error.ts';
import type { Log } from '#shared/observability/logger.ts';
import { problem } from '#shared/problems/registry.ts';
import { isReleased, missingFor, type Gated, type ReleaseState } from '#shared/release/release-state.ts';
import type { ReleaseWatch } from '#shared/release/watch-release.ts';
import { exchangeOf } from '../exchange.ts';
import { Refusal } from '../refusal.ts';
import type { Stage } from './stage.ts';

/**
 * Returns 503 if a gate was withdrawn while its function is deployed [RP-018], or if nothing proves what is released. The caller does not learn
 * which; the log does.
 * @param bind returns the same each time
 */
export function releaseState(row: Gated, bind: () => Promise<ReleaseWatch>): Stage {
  return {
    before: async ({ context }) => {
      const exchange = exchangeOf(context);
      const release = await releaseFor(row, await bind(), exchange.log);
      if (release === undefined)
        throw new Refusal(problem('reports', 'dependency-unavailable', 503, { dependency: 'unknown' }));
      exchange.proved = release.proved;
    },
  };
}

/** Returns the release while everything that a function waits for is open. Else returns undefined, and logs what is not open, or why nothing is. */
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
