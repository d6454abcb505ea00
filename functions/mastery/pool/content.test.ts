import { describe, expect, it } from 'vitest';
import type { BankMembers, Blueprint } from '#shared/platform/owners/content.ts';
import { contentDefect, testBankIdentityHashOf, testSpecHashOf, type Content } from './content.ts';

const asked = { testSpecId: 'spec-1', testBankId: 'bank-1' };
const blueprint = {
  ...{ itemId: 'spec-1', role: 'spec', title: 'Fractions', version: '12' },
  subjects: ['mathematics'],
} as unknown as Blueprint;
const bank = {
  ...{ bankId: 'bank-1', specId: 'spec-1', role: 'bank', membershipRule: 'qti_adaptive_selection' },
  ...{ data: [], updateVersion: 3 },
} as unknown as BankMembers;

const answered = <T extends object>(value: T, change: object = {}) => ({
  value: { ...value, ...change },
  etag: undefined,
  upstreamRequestId: 'up-1',
  bodyHash: '',
});
const read = (change: { readonly blueprint?: object; readonly bank?: object }): Content => ({
  blueprint: answered(blueprint, change.blueprint),
  bank: answered(bank, change.bank),
});

it.each<[string, object, RegExp | undefined]>([
  ['a sound blueprint with its bank', {}, undefined],
  ['an item that is no test spec [MA-022]', { blueprint: { role: 'unit' } }, /role of a test spec/],
  ['a bank that does not select adaptively [MA-023]', { bank: { membershipRule: 'all' } }, /membership rule/],
  ['a bank with a Content member [MA-023]', { bank: { data: [{ id: 'item' }] } }, /Content members/],
])('what keeps a start from %s: 424, not retryable', (_, change, detail) => {
  const defect = contentDefect(read(change), asked.testSpecId);
  if (detail === undefined) expect(defect).toBeUndefined();
  else
    expect(defect).toMatchObject({
      status: 424,
      retryable: false,
      detail: expect.stringMatching(detail) as unknown,
    });
});

it('a bank of another spec is the caller’s mistake [MA-054]', () => {
  expect(contentDefect(read({ bank: { specId: 'another' } }), asked.testSpecId)).toMatchObject({
    status: 400,
  });
});

describe('the pins of Content', () => {
  const pinsOf = (change: Parameters<typeof read>[0]) => {
    const content = read(change);
    return {
      testSpecHash: testSpecHashOf(content.blueprint),
      testBankIdentityHash: testBankIdentityHashOf(content.bank),
    };
  };

  it.each([{ title: 'Fractions and decimals' }, { version: '13' }, { subjects: [] }, { addedTomorrow: 1 }])(
    'testSpecHash covers the whole blueprint, and nothing of the bank: %j [MA-022, MA-067]',
    (changed) => {
      const [before, after] = [pinsOf({}), pinsOf({ blueprint: changed })];
      expect(after.testSpecHash).not.toBe(before.testSpecHash);
      expect(after.testBankIdentityHash).toBe(before.testBankIdentityHash);
    },
  );

  it.each([
    [{ role: 'pool' }, true],
    [{ membershipRule: 'all' }, true],
    [{ updateVersion: 4 }, true],
    [{ data: [{ id: 'item' }] }, true],
    [{ title: 'Another title' }, false],
  ])('testBankIdentityHash covers the identity of the bank alone: %j, %s [MA-068]', (changed, isCovered) => {
    const [before, after] = [pinsOf({}), pinsOf({ bank: changed })];
    expect(after.testBankIdentityHash !== before.testBankIdentityHash).toBe(isCovered);
    expect(after.testSpecHash).toBe(before.testSpecHash);
  });
});
