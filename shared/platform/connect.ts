import { fetchOverHttp } from '#shared/network/http-client.ts';
import { createPlatform } from './http-platform.ts';
import type { PlatformDependencies } from './open-platform.ts';
import type { AnswerMemo } from './transport/answer-memo.ts';
import { sleep } from './transport/sleep.ts';

/**
 * Opens platforms over this process's own network and clock.
 * @param memo keeps validated projections between the requests of one container
 */
export function platformConnection(memo?: AnswerMemo): PlatformDependencies['connect'] {
  return (profile, { receivedAt, deadline, log }) =>
    createPlatform({
      profile,
      fetch: fetchOverHttp,
      now: Date.now,
      sleep,
      random: Math.random,
      startedAt: receivedAt,
      deadline,
      ...(memo === undefined ? {} : { memo }),
      log,
    });
}
