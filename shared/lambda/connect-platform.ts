import { randomFraction } from '#shared/kernel/random.ts';
import { createPlatform } from '#shared/platform/http-platform.ts';
import type { PlatformDependencies } from '#shared/platform/open-platform.ts';
import type { AnswerMemo } from '#shared/platform/transport/answer-memo.ts';
import type { Runtime } from './runtime.ts';

/**
 * Opens platforms over the network and clock of a runtime.
 * @param options `memo` keeps validated projections between the requests of one binding; `maxConcurrency` bounds the calls of one request
 * that are under way at a time
 */
export function platformConnection(
  { fetch, now, sleep, random }: Pick<Runtime, 'fetch' | 'now' | 'sleep' | 'random'>,
  options: { readonly memo?: AnswerMemo; readonly maxConcurrency?: number } = {},
): PlatformDependencies['connect'] {
  return (profile, { receivedAt, deadline, log }) =>
    createPlatform({
      profile,
      fetch,
      now,
      sleep,
      random: () => randomFraction(random),
      startedAt: receivedAt,
      deadline,
      ...options,
      log,
    });
}
