import { beforeAll, describe, expect, it } from 'vitest';
import { sealContinuation } from '#functions/mastery/continuation/continuation.ts';
import { advanceAdaptiveRun, inspectAdaptiveRun } from '#shared/contract/mastery/routes.ts';
import { useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { openedContinuation } from '#test/support/control-records.ts';
import { indistinguishable } from '#test/support/gateway-call.ts';
import { callMastery, refusalOf } from '#test/support/mastery-call.ts';
import type { GatewayReply } from '#test/support/gateway-call.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { useTestStack } from '#test/support/stack.ts';

const HOUR = 3_600_000;

const stack = useTestStack();
const runs = useAdaptiveRuns(stack);
const others = useAdaptiveRuns(stack, 'tenant-borealis');
let good: string;
let foreign: string;
/** Sealed by the stack's own key, 25 hours ago. */
let expired: string;
beforeAll(async () => {
  good = (await runs.start().sendForRun()).body.continuationToken;
  foreign = (await others.start().sendForRun()).body.continuationToken;
  const { keys, state } = await openedContinuation(stack, good);
  expired = (await sealContinuation(keys, state, Date.now() - 25 * HOUR)).token;
});

/** The good token with one of its five parts changed. */
const withPart = (part: number, change: (text: string) => string): string => {
  const parts = good.split('.');
  return parts.with(part, change(parts[part]!)).join('.');
};
const withHeader = (change: object): string =>
  withPart(0, (header) => {
    const decoded = JSON.parse(Buffer.from(header, 'base64url').toString()) as object;
    return Buffer.from(JSON.stringify({ ...decoded, ...change })).toString('base64url');
  });

describe.each([inspectAdaptiveRun, advanceAdaptiveRun])('the continuation of $operationId', (route) => {
  /** The answer to a token for which no owner is asked. */
  async function refused(continuationToken: string): Promise<GatewayReply> {
    const { result, calls } = await callsDuring(stack, () =>
      callMastery(stack, route, {
        body: { continuationToken },
        ...(route.request.ifMatch ? { ifMatch: '"x"' } : {}),
      }),
    );
    expect(calls).toEqual([]);
    return result;
  }

  it.each<[string, string, () => string]>([
    ['with another algorithm', 'malformed', () => withHeader({ alg: 'A256KW' })],
    ['25 hours old', 'expired', () => expired],
  ])('%s: 400, %s [MA-059, MA-060, MA-061, MA-062]', async (_, reason, token) => {
    expect(refusalOf(await refused(token()))).toBe(`400 invalid-request /body/continuationToken ${reason}`);
  });

  it('tampered with, of any length, under an unknown key, or of another tenant: one hidden 404 that tells nothing [MA-061, MA-064, MA-159]', async () => {
    const replies: GatewayReply[] = [];
    for (const token of [
      withPart(3, (text) => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`),
      withPart(3, (text) => text + 'A'.repeat(200_000)),
      withHeader({ kid: 'unknown' }),
      foreign,
    ])
      replies.push(await refused(token));
    expect(replies.map(refusalOf)).toEqual(replies.map(() => '404 resource-not-found'));
    expect(new Set(replies.map((reply) => JSON.stringify(indistinguishable(reply)))).size).toBe(1);
  });
});
