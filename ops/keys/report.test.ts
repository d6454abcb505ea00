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
      'continuation: k2 created, pending. Containers are learning k2: run rotate again from 2030-01-01T00:10:01Z on, and it takes over.',
    );
    expect(describeReport('rotate', { purpose, done: [], waiting }, NOW)).toBe(
      'continuation: Containers are learning k2: run rotate again from 2030-01-01T00:10:01Z on, and it takes over.',
    );
    const promoted = [
      { kind: 'move', kid: 'k2', from: 'pending', to: 'active' },
      { kind: 'move', kid: 'k1', from: 'active', to: 'opening' },
    ] as const;
    expect(describeReport('rotate', { purpose, done: promoted, waiting: [] }, NOW)).toBe(
      'continuation: k2 seals from now on. k1 only opens from now on. What was sealed before stays readable: run retire from 2030-01-02T00:10:01Z on.',
    );
    const retired = { kind: 'move', kid: 'k1', from: 'opening', to: 'retired' } as const;
    const later = [{ kid: 'k2', until: NOW }];
    expect(describeReport('retire', { purpose, done: [retired], waiting: later }, NOW)).toBe(
      'continuation: k1 is retired and its wrapped key deleted. k2 still opens what it sealed: retire it from 2030-01-01T00:00:01Z on.',
    );
  });

  it('says what replacing a pseudonym key costs', () => {
    const replaced = [{ kind: 'move', kid: 'k1', from: 'active', to: 'opening' }] as const;
    const report = (of: KeyRecord['purpose']) =>
      describeReport('rotate', { purpose: of, done: replaced, waiting: [] }, NOW);
    expect(report('pseudonym')).toMatch(/met in earlier runs is unknown from now on; runs under way are not/);
    expect(report('idempotency')).not.toMatch(/earlier runs/);
  });

  it('says so when there is nothing to do', () => {
    const nothing = { purpose, done: [], waiting: [] } as const;
    expect(describeReport('init', nothing, NOW)).toBe('continuation: has an active key already.');
    expect(describeReport('retire', nothing, NOW)).toBe('continuation: has no key to retire.');
  });
});

describe('describeError', () => {
  it.each<[KeyPlanError | { readonly kind: 'overtaken' }, RegExp]>([
    [{ kind: 'not-initialized' }, /run init first/],
    [{ kind: 'unknown-key', kid: 'k7' }, /no key k7/],
    [{ kind: 'not-opening', kid: 'k1', state: 'active' }, /rotate --purpose continuation --leaked/],
    [{ kind: 'overtaken' }, /run it again/],
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
