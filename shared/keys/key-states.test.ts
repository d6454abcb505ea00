import { describe, expect, it } from 'vitest';
import type { KeyRecord } from './key-record.ts';
import { keyNumber } from './key-record.ts';
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
import { scheduledPurposes } from './key-ring.ts';

const T0 = 1_700_000_000_000;

function key(kid: string, state: KeyState, times: Partial<KeyRecord> = {}): KeyRecord {
  return { purpose: 'continuation', kid, state, createdAt: T0, wrappedKey: Uint8Array.of(1), ...times };
}

describe('planInit', () => {
  it('makes the first key active at once', () => {
    expect(planInit([])).toEqual({ steps: [{ kind: 'create', kid: 'k1', state: 'active' }], waiting: [] });
  });

  it('does nothing where a key is active', () => {
    expect(planInit([key('k1', 'active'), key('k2', 'pending')]).steps).toEqual([]);
  });

  it('never uses a number again', () => {
    expect(planInit([key('k9', 'retired'), key('k10', 'retired')]).steps).toEqual([
      { kind: 'create', kid: 'k11', state: 'active' },
    ]);
  });
});

describe('planRotate', () => {
  it('creates one pending successor, to be promoted two refresh periods later', () => {
    expect(planRotate([key('k1', 'active')], T0)).toEqual({
      ok: true,
      value: {
        steps: [{ kind: 'create', kid: 'k2', state: 'pending' }],
        waiting: [{ kid: 'k2', until: T0 + 10 * 60_000 }],
      },
    });
  });

  it('promotes it not a millisecond earlier, and in the same step stops sealing with the former', () => {
    const records = [key('k1', 'active'), key('k2', 'pending', { createdAt: T0 })];
    expect(planRotate(records, T0 + PROMOTE_AFTER_MS - 1)).toEqual({
      ok: true,
      value: { steps: [], waiting: [{ kid: 'k2', until: T0 + PROMOTE_AFTER_MS }] },
    });
    expect(planRotate(records, T0 + PROMOTE_AFTER_MS)).toEqual({
      ok: true,
      value: {
        steps: [
          { kind: 'move', kid: 'k2', from: 'pending', to: 'active' },
          { kind: 'move', kid: 'k1', from: 'active', to: 'opening' },
        ],
        waiting: [],
      },
    });
  });

  it('needs an active key', () => {
    expect(planRotate([key('k1', 'retired')], T0)).toEqual({ ok: false, error: { kind: 'not-initialized' } });
  });

  it('is by a schedule for the keys of tokens only: the others make values that must be found again', () => {
    expect(scheduledPurposes).toEqual(['continuation', 'cursor', 'receipt-link']);
  });
});

describe('planReplace', () => {
  it('lets a new key seal at once', () => {
    expect(planReplace([key('k1', 'active')])).toMatchObject({
      value: {
        steps: [
          { kind: 'create', kid: 'k2', state: 'active' },
          { kind: 'move', kid: 'k1', from: 'active', to: 'opening' },
        ],
      },
    });
  });

  it('takes the pending key where there is one', () => {
    expect(planReplace([key('k1', 'active'), key('k2', 'pending')])).toMatchObject({
      value: {
        steps: [
          { kind: 'move', kid: 'k2', from: 'pending', to: 'active' },
          { kind: 'move', kid: 'k1', from: 'active', to: 'opening' },
        ],
      },
    });
    expect(planReplace([])).toEqual({ ok: false, error: { kind: 'not-initialized' } });
  });
});

describe('planRetire', () => {
  it('retires what has been opening for longer than anything that it sealed can live', () => {
    const records = [
      key('k1', 'opening', { openingAt: T0 }),
      key('k2', 'opening', { openingAt: T0 + 1 }),
      key('k3', 'active', { activatedAt: T0 }),
      key('k4', 'pending'),
    ];
    expect(RETIRE_AFTER_MS).toBeGreaterThan(24 * 3_600_000);
    expect(planRetire(records, T0 + RETIRE_AFTER_MS - 1)).toEqual({
      steps: [],
      waiting: [
        { kid: 'k1', until: T0 + RETIRE_AFTER_MS },
        { kid: 'k2', until: T0 + 1 + RETIRE_AFTER_MS },
      ],
    });
    expect(planRetire(records, T0 + RETIRE_AFTER_MS)).toEqual({
      steps: [{ kind: 'move', kid: 'k1', from: 'opening', to: 'retired' }],
      waiting: [{ kid: 'k2', until: T0 + 1 + RETIRE_AFTER_MS }],
    });
  });

  it('does not wait for a leaked key, but leaves an active one alone', () => {
    const records = [key('k1', 'retired'), key('k2', 'opening', { openingAt: T0 }), key('k3', 'active')];
    expect(planRetireNow(records, 'k2')).toMatchObject({
      value: { steps: [{ kind: 'move', kid: 'k2', from: 'opening', to: 'retired' }] },
    });
    expect(planRetireNow(records, 'k1')).toMatchObject({ value: { steps: [] } });
    expect(planRetireNow(records, 'k3')).toEqual({
      ok: false,
      error: { kind: 'not-opening', kid: 'k3', state: 'active' },
    });
    expect(planRetireNow(records, 'k7')).toEqual({ ok: false, error: { kind: 'unknown-key', kid: 'k7' } });
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

describe('planScheduled', () => {
  const period = 30 * 24 * 3_600_000;
  const active = key('k2', 'active', { createdAt: T0 - 1, activatedAt: T0 });

  it('begins a rotation when the key has sealed for the period, and finishes one that is under way before that', () => {
    expect(planScheduled([active], T0 + period - 1, period)).toEqual({
      ok: true,
      value: { steps: [], waiting: [] },
    });
    expect(planScheduled([active], T0 + period, period)).toEqual(planRotate([active], T0 + period));
    const pending = key('k3', 'pending');
    const due = T0 + PROMOTE_AFTER_MS;
    expect(planScheduled([active, pending], due, period)).toEqual(planRotate([active, pending], due));
  });

  it('retires in the same step what is due, and does nothing without an active key', () => {
    const opening = key('k1', 'opening', { openingAt: T0 });
    expect(planScheduled([opening, active], T0 + RETIRE_AFTER_MS, period)).toMatchObject({
      value: planRetire([opening], T0 + RETIRE_AFTER_MS),
    });
    expect(planScheduled([opening], T0 + period, period)).toEqual({
      ok: false,
      error: { kind: 'not-initialized' },
    });
  });
});
