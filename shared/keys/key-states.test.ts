import { describe, expect, it } from 'vitest';
import { type KeyRecord, keyNumber } from './key-record.ts';
import type { KeyState } from './key-ring.ts';
import {
  activeKey,
  inOrder,
  planInit,
  planReplace,
  planRetire,
  planRetireNow,
  planRotate,
  planScheduled,
  PROMOTE_AFTER_MS,
  RETIRE_AFTER_MS,
} from './key-states.ts';

const T0 = 1_700_000_000_000;

function key(kid: string, state: KeyState, times: Partial<KeyRecord> = {}): KeyRecord {
  return { purpose: 'continuation', kid, state, createdAt: T0, wrappedKey: Uint8Array.of(1), ...times };
}

// What a ring goes through, to the millisecond, is in create-key-ring.test.ts and test/contract/rotate-keys.test.ts.

/** The steps of a plan, in a word each. */
const stepsOf = (planned: ReturnType<typeof planInit>) =>
  planned.ok &&
  planned.value.steps.map((step) =>
    step.kind === 'move' ? `${step.kid} ${step.from} to ${step.to}` : `${step.kid} ${step.state}`,
  );

describe('a plan', () => {
  it('never uses a number again', () => {
    expect(stepsOf(planInit([key('k9', 'retired'), key('k10', 'retired')], T0))).toEqual(['k11 active']);
  });

  it('for a successor needs an active key', () => {
    const records = [key('k1', 'opening', { openingAt: T0 }), key('k2', 'retired')];
    for (const planned of [
      planRotate(records, T0),
      planReplace(records, T0),
      planScheduled(1)(records, T0 + RETIRE_AFTER_MS),
    ])
      expect(planned).toEqual({ ok: false, error: { kind: 'not-initialized' } });
  });

  it('for a leaked key takes the pending one where there is one', () => {
    expect(stepsOf(planReplace([key('k1', 'active'), key('k2', 'pending')], T0))).toEqual([
      'k2 pending to active',
      'k1 active to opening',
    ]);
  });

  it('retires each key when nothing that it sealed can live, and lets a new one wait until every container knows it', () => {
    const records = [
      key('k1', 'retired'),
      key('k2', 'opening', { openingAt: T0 }),
      key('k3', 'opening', { openingAt: T0 + 1 }),
    ];
    expect(PROMOTE_AFTER_MS).toBeGreaterThanOrEqual(2 * 5 * 60_000);
    expect(RETIRE_AFTER_MS).toBeGreaterThanOrEqual(24 * 3_600_000 + PROMOTE_AFTER_MS);
    expect(planRetire(records, T0 + RETIRE_AFTER_MS).value).toEqual({
      steps: [{ kind: 'move', kid: 'k2', from: 'opening', to: 'retired' }],
      waiting: [{ kid: 'k3', until: T0 + 1 + RETIRE_AFTER_MS }],
    });
  });

  it('retires a leaked key at once, but an active one never', () => {
    const records = [key('k1', 'retired'), key('k2', 'opening', { openingAt: T0 }), key('k3', 'active')];
    expect(stepsOf(planRetireNow('k2')(records, T0))).toEqual(['k2 opening to retired']);
    expect(stepsOf(planRetireNow('k1')(records, T0))).toEqual([]);
    for (const [kid, error] of [
      ['k3', { kind: 'not-opening', kid: 'k3', state: 'active' }],
      ['k7', { kind: 'unknown-key', kid: 'k7' }],
    ] as const)
      expect(planRetireNow(kid)(records, T0)).toEqual({ ok: false, error });
  });

  it('of the schedule ends a rotation that is under way before one is due, and retires in the same step', () => {
    const records = [
      key('k1', 'opening', { openingAt: T0 - RETIRE_AFTER_MS }),
      key('k2', 'active', { createdAt: T0 - 1, activatedAt: T0 }),
      key('k3', 'pending'),
    ];
    expect(stepsOf(planScheduled(30 * 24 * 3_600_000)(records, T0 + PROMOTE_AFTER_MS))).toEqual([
      'k3 pending to active',
      'k2 active to opening',
      'k1 opening to retired',
    ]);
  });
});

describe('the order of keys', () => {
  it('is that of their numbers, not of their letters', () => {
    const records = [key('k10', 'active'), key('k9', 'active'), key('k2', 'opening')];
    expect(inOrder(records).map(({ kid }) => kid)).toEqual(['k2', 'k9', 'k10']);
    expect(activeKey(records)?.kid).toBe('k10');
    expect(activeKey([key('k1', 'opening')])).toBeUndefined();
  });

  it.each(['', 'k', 'k0', 'k01', 'K1', 'k1 ', 'k-1', 'k1e3', 'k1234567890', '../k1'])(
    'knows that %j was never issued',
    (kid) => {
      expect(keyNumber(kid)).toBeUndefined();
    },
  );
});
