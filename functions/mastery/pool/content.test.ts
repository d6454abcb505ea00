import { describe, expect, it } from 'vitest';
import { ok } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { BankMembers, Blueprint } from '#shared/platform/owners/content.ts';
import type { Platform } from '#shared/platform/platform.ts';
import { contentDefect, readContent } from './content.ts';

const asked = { testSpecId: 'spec-1', testBankId: 'bank-1' };
const blueprint = {
  ...{ itemId: 'spec-1', role: 'spec', title: 'Fractions', version: '12' },
  subjects: ['mathematics'],
} as unknown as Blueprint;
const bank = {
  ...{ bankId: 'bank-1', specId: 'spec-1', role: 'bank', membershipRule: 'qti_adaptive_selection' },
  ...{ data: [], updateVersion: 3 },
} as unknown as BankMembers;

/** What is read of Content when it answers this. */
async function read(change: { readonly blueprint?: object; readonly bank?: object }) {
  const answers: Readonly<Record<string, object>> = {
    [operations.readTestSpec.id]: { ...blueprint, ...change.blueprint },
    [operations.validateAdaptiveBankIdentity.id]: { ...bank, ...change.bank },
  };
  const call = ({ id }: UpstreamOperation) =>
    Promise.resolve(
      ok({ value: answers[id], etag: undefined, status: 200, upstreamRequestId: 'up-1', bodyHash: '' }),
    );
  const content = await readContent({ call } as unknown as Platform, asked, 'start');
  if (!content.ok) throw new Error('Content answered');
  return content.value;
}

it.each<[string, object, RegExp | undefined]>([
  ['a sound blueprint with its bank', {}, undefined],
  ['an item that is no test spec [MA-022]', { blueprint: { role: 'unit' } }, /role of a test spec/],
  ['a bank that does not select adaptively [MA-023]', { bank: { membershipRule: 'all' } }, /membership rule/],
  ['a bank with a Content member [MA-023]', { bank: { data: [{ id: 'item' }] } }, /Content members/],
])('what keeps a start from %s: 424, not retryable', async (_, change, detail) => {
  const defect = contentDefect(await read(change), asked);
  if (detail === undefined) expect(defect).toBeUndefined();
  else
    expect(defect).toMatchObject({
      status: 424,
      retryable: false,
      detail: expect.stringMatching(detail) as unknown,
    });
});

it('a bank of another spec is the caller’s mistake [MA-054]', async () => {
  expect(contentDefect(await read({ bank: { specId: 'another' } }), asked)).toMatchObject({ status: 400 });
});

describe('the pins of Content', () => {
  const pinsOf = async (change: Parameters<typeof read>[0]) => (await read(change)).pins;

  it.each([{ title: 'Fractions and decimals' }, { version: '13' }, { subjects: [] }, { addedTomorrow: 1 }])(
    'testSpecHash covers the whole blueprint, and nothing of the bank: %j [MA-022, MA-067]',
    async (changed) => {
      const [before, after] = [await pinsOf({}), await pinsOf({ blueprint: changed })];
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
  ])(
    'testBankIdentityHash covers the identity of the bank alone: %j, %s [MA-068]',
    async (changed, isCovered) => {
      const [before, after] = [await pinsOf({}), await pinsOf({ bank: changed })];
      expect(after.testBankIdentityHash !== before.testBankIdentityHash).toBe(isCovered);
      expect(after.testSpecHash).toBe(before.testSpecHash);
    },
  );
});
