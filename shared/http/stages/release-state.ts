import type { Provable } from '#shared/contract/gates.ts';
import { nameOf } from '#shared/observability/describe-error.ts';
import type { Log } from '#shared/observability/logger.ts';
import { problem } from '#shared/problems/registry.ts';
import { isReleased, missingFor } from '#shared/release/release-state.ts';
import type { Gated, ReleaseState } from '#shared/release/release-state.ts';
import type { ReleaseWatch } from '#shared/release/watch-release.ts';
import type { Exchange } from '../exchange.ts';
import { once } from '../once.ts';
import { Refusal } from '../refusal.ts';
import { createFact } from './stage.ts';
import type { FactReader, Stage } from './stage.ts';

export interface ReleaseStateOptions {
  readonly row: Gated;
  /** Runs once per binding. */
  readonly bind: () => ReleaseWatch;
  readonly exchangeOf: FactReader<Pick<Exchange, 'log'>>;
}

export interface ReleaseStateStage extends Stage {
  /** What the release proves. */
  readonly provedOf: FactReader<ReadonlySet<Provable>>;
}

/**
 * 503 for a gate that was withdrawn while its function is deployed [RP-018], and when nothing proves what is released. The caller is not told
 * which it is; the log says it.
 */
export function releaseState({ row, bind, exchangeOf }: ReleaseStateOptions): ReleaseStateStage {
  const proved = createFact<ReadonlySet<Provable>>('release state');
  const bound = once(bind);
  return {
    provedOf: proved.of,
    before: async ({ context }) => {
      const release = await releaseFor(row, await bound(), exchangeOf(context).log);
      if (release === undefined)
        throw new Refusal(problem('reports', 'dependency-unavailable', 503, { dependency: 'unknown' }));
      proved.set(context, release.proved);
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
