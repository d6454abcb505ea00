import { describe, expect, it } from 'vitest';
import { sealContinuation } from '#functions/mastery/continuation/continuation.ts';
import type { AdaptiveRunState } from '#functions/mastery/continuation/run-state.ts';
import { advanceAdaptiveRun } from '#shared/contract/mastery/routes/advance-adaptive-run.ts';
import { inspectAdaptiveRun } from '#shared/contract/mastery/routes/inspect-adaptive-run.ts';
import { MAX_RUN_ITEMS } from '#shared/contract/mastery/selection-policy.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import { exampleState } from '#test/support/example-run.ts';
import type { GatewayReply } from '#test/support/gateway-call.ts';
import { callMastery, refusalOf } from '#test/support/mastery-call.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { useTestStack } from '#test/support/stack.ts';

const stack = useTestStack();

/** The routes that take a token. */
const routes = [inspectAdaptiveRun, advanceAdaptiveRun] as const;
/** The answer to a token for which no owner is asked. */
async function refused(route: (typeof routes)[number], continuationToken: string): Promise<GatewayReply> {
  const { result, calls } = await callsDuring(stack, () =>
    callMastery(stack, route, {
      body: { continuationToken },
      ...(route.request.ifMatch ? { ifMatch: '"any"' } : {}),
    }),
  );
  expect(calls).toEqual([]);
  return result;
}

/** An id as long as an owner's may be. */
const LONG = 'ä"'.repeat(341).padEnd(682, 'x');
const textsOf = <T extends object>(value: T): T =>
  Object.fromEntries(
    Object.entries(value).map(([name, text]) => [name, /^[0-9a-f]{64}$/.test(String(text)) ? text : LONG]),
  ) as T;

/** The state of a run that has consumed as many items as any policy may offer, with the longest ids of every owner. */
const largest: AdaptiveRunState = {
  ...exampleState,
  ...textsOf({ tenantId: '', selectionPolicyId: '', scaleCalibrationId: '', candidateRef: '' }),
  pins: { ...textsOf(exampleState.pins), qtiPoolEtag: `"${'e'.repeat(1_000)}"` },
  startedAt: 0,
  clockStart: 0,
  resultsStudentId: 'x'.repeat(255),
  offers: Array.from({ length: MAX_RUN_ITEMS }, () =>
    textsOf({ deliverySessionId: '', artifactVersionId: '', consumedAttemptId: '', consumedTraceRef: '' }),
  ),
  consumed: { ...exampleState.consumed, count: MAX_RUN_ITEMS },
  stopReason: 'max_items',
  stopCause: 'no_informative_item',
  acknowledgements: { resultRecordId: LONG, componentsAcknowledged: true, caliperEventIri: LONG },
};

describe('a continuation token', () => {
  it('of the largest run is short enough for inspect and advance: no 413 [MA-059, MA-064, MA-226]', async () => {
    expect(Buffer.byteLength(LONG)).toBe(1_023);
    const keys: KeyRing = {
      active: () => Promise.resolve({ kid: 'unknown', key: new Uint8Array(32) }),
      open: () => Promise.resolve(undefined),
    };
    const { token } = await sealContinuation(keys, largest, 0);
    expect(token.length).toBeGreaterThan(1024 * 1024);
    // No key of the stack opens it: that it is looked at is what the hidden 404 says.
    for (const route of routes) expect(refusalOf(await refused(route, token))).toBe('404 resource-not-found');
  });
});
