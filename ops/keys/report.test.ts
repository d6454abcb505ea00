import { describe, expect, it } from 'vitest';
import type { KeyRecord } from '#shared/keys/key-record.ts';
import type { KeyPlanError } from '#shared/keys/key-states.ts';
import { describeError, describeReport, describeRing } from './report.ts';

const NOW = Date.parse('2030-01-01T00:00:00.500Z');
const purpose = 'continuation';

describe('describeReport', () => {
  it('says when to go on after each step', () => {
    const created = { kind: 'create', kid: 'k2', state: 'pending' } as const;
    const waiting = [{ kid: 'k2', until: NOW + 600_000 }];
    expect(describeReport('rotate', { purpose, done: [created], waiting }, NOW)).toBe(
      'continuation: Created k2; it is pending. Containers are loading k2: run rotate again at 2030-01-01T00:10:01Z or later to activate it.',
    );
    expect(describeReport('rotate', { purpose, done: [], waiting }, NOW)).toBe(
      'continuation: Containers are loading k2: run rotate again at 2030-01-01T00:10:01Z or later to activate it.',
    );
    const promoted = [
      { kind: 'move', kid: 'k2', from: 'pending', to: 'active' },
      { kind: 'move', kid: 'k1', from: 'active', to: 'opening' },
    ] as const;
    expect(describeReport('rotate', { purpose, done: promoted, waiting: [] }, NOW)).toBe(
      'continuation: k2 seals from now on. From now on, k1 only opens. Everything sealed before stays readable: run retire at 2030-01-02T00:10:01Z or later.',
    );
    const retired = { kind: 'move', kid: 'k1', from: 'opening', to: 'retired' } as const;
    const later = [{ kid: 'k2', until: NOW }];
    expect(describeReport('retire', { purpose, done: [retired], waiting: later }, NOW)).toBe(
      'continuation: Retired k1 and deleted its wrapped key. k2 is still needed to open what it sealed: run retire at 2030-01-01T00:00:01Z or later.',
    );
  });

  it('says what replacing a pseudonym key costs', () => {
    const replaced = [{ kind: 'move', kid: 'k1', from: 'active', to: 'opening' }] as const;
    const report = (of: KeyRecord['purpose']) =>
      describeReport('rotate', { purpose: of, done: replaced, waiting: [] }, NOW);
    expect(report('pseudonym')).toMatch(/runs ignore the items that learners received in earlier runs/);
    expect(report('idempotency')).not.toMatch(/earlier runs/);
  });

  it('says so when there is nothing to do', () => {
    const nothing = { purpose, done: [], waiting: [] } as const;
    expect(describeReport('init', nothing, NOW)).toBe('continuation: already has an active key.');
    expect(describeReport('retire', nothing, NOW)).toBe('continuation: has no key to retire.');
  });
});

describe('describeError', () => {
  it.each<[KeyPlanError | { readonly kind: 'overtaken' }, RegExp]>([
    [{ kind: 'not-initialized' }, /run init first/],
    [{ kind: 'unknown-key', kid: 'k7' }, /unknown key k7/],
    [{ kind: 'not-opening', kid: 'k1', state: 'active' }, /rotate --purpose continuation --leaked/],
    [{ kind: 'overtaken' }, /run the command again/],
  ])('of %j says what to do', (error, message) => {
    expect(describeError(purpose, error)).toMatch(message);
  });
});

describe('describeRing', () => {
  it('lists keys by purpose and number, with their times and without their bytes', () => {
    const key = (kid: string, more: Partial<KeyRecord>): KeyRecord => ({
      purpose,
      kid,
      state: 'pending',
      createdAt: NOW,
      wrappedKey: Buffer.from('wrapped'),
      ...more,
    });
    const retired = key('k9', { state: 'retired', activatedAt: NOW, openingAt: NOW, retiredAt: NOW + 1000 });
    const text = describeRing([
      [key('k10', {}), retired],
      [key('k1', { purpose: 'pseudonym', state: 'active' })],
    ]);
    expect(text.split('\n')).toEqual([
      'purpose       kid  state    created               active                opening               retired',
      'continuation  k9   retired  2030-01-01T00:00:01Z  2030-01-01T00:00:01Z  2030-01-01T00:00:01Z  2030-01-01T00:00:02Z',
      'continuation  k10  pending  2030-01-01T00:00:01Z  -                     -                     -',
      'pseudonym     k1   active   2030-01-01T00:00:01Z  -                     -                     -',
    ]);
  });
});
