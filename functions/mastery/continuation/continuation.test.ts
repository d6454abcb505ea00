import { CompactEncrypt } from 'jose';
import { describe, expect, it } from 'vitest';
import { err, ok } from '#shared/kernel/result.ts';
import { problem } from '#shared/problems/registry.ts';
import { exampleState } from '#test/support/example-run.ts';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import type { AdaptiveRunState } from './run-state.ts';
import { openContinuation, sealContinuation } from './continuation.ts';

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;
const offer = { deliverySessionId: 'session-1', artifactVersionId: 'item-1' };
const state: AdaptiveRunState = { ...exampleState, offers: [offer] };
/** With every member that a run can come to have. */
const stopped: AdaptiveRunState = {
  ...state,
  runTag: 'b'.repeat(64),
  clockStart: state.startedAt + 1,
  offers: [{ ...offer, consumedAttemptId: 'attempt-1', consumedTraceRef: 'trace-1' }],
  consumed: { count: 1, digest: 'c'.repeat(64) },
  stopReason: 'max_items',
  acknowledgements: {
    resultRecordId: 'record-1',
    componentsAcknowledged: true,
    caliperEventIri: 'urn:uuid:event',
  },
};
const stopCauses = [
  ...(['classifications_complete', 'precision_target_met', 'max_items', 'time_budget'] as const),
  ...(['pool_exhausted', 'content_maxima', 'component_limit'] as const),
  ...(['no_informative_item', 'no_deciding_item'] as const),
];
const { startedAt: START, tenantId } = state;
const header = { alg: 'dir', enc: 'A256GCM', kid: 'continuation-1', typ: 'mastery-continuation+jwe' };

const ring = createMemoryKeyRing();
const open = (token: string, at = START, tenant = tenantId) => openContinuation(ring, token, tenant, at);
const expired = err({ code: 'invalid-request', invalidParams: [{ reason: 'expired' }] });
const hidden = err(problem('mastery', 'resource-not-found', 404));

describe('continuation', () => {
  it('is a compact JWE with A256GCM that opens to the very state that was sealed, and shows nothing of it [MA-058, MA-059, MA-063]', async () => {
    const { token } = await sealContinuation(ring, state, START);
    const parts = token.split('.');
    expect([parts.length, parts[1]]).toEqual([5, '']);
    const [protectedHeader = '', ...others] = parts.map((part) => Buffer.from(part, 'base64url').toString());
    expect(JSON.parse(protectedHeader)).toEqual(header);
    for (const secret of ['student-1', 'candidate-pseudonym', 'bank/1', 'session-1'])
      expect(others.join()).not.toContain(secret);
    expect(await open(token)).toMatchObject(ok({ state, token }));
    for (const stopCause of stopCauses) {
      const end = { ...stopped, stopCause };
      expect(await open((await sealContinuation(ring, end, START)).token)).toMatchObject(ok({ state: end }));
    }
  });

  it.each([
    ['24 hours after its issue', START, START + DAY],
    ['seven days after the start, however often it is renewed', START + 7 * DAY - HOUR, START + 7 * DAY],
  ])('opens until %s, and not at that instant [MA-060, MA-075]', async (_, issuedAt, end) => {
    const { token, expiresAt } = await sealContinuation(ring, state, issuedAt);
    expect(expiresAt).toBe(end);
    expect(await open(token, end - 1)).toMatchObject({ ok: true });
    expect(await open(token, end)).toMatchObject(expired);
  });

  it('is refused alike for another tenant, however late, and with a state of another form, although the right key has sealed it [MA-061, MA-159]', async () => {
    const sealed = await sealContinuation(ring, state, START);
    for (const at of [START, START + 2 * DAY])
      expect(await open(sealed.token, at, 'tenant-b')).toEqual(hidden);
    const content = { issuedAt: START, expiresAt: START + HOUR, state: { ...state, version: 2 } };
    const token = await new CompactEncrypt(new TextEncoder().encode(JSON.stringify(content)))
      .setProtectedHeader(header)
      .encrypt(new Uint8Array(32).fill(1));
    expect(await open(token)).toEqual(hidden);
  });
});
