import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TestAws, startTestAws } from '#test/support/aws.ts';
import { createReleaseStateTable } from './release-state-table.ts';

const TableName = 'local-settings';
const T0 = Date.parse('2030-01-01T00:00:00.000Z');

let test: TestAws;
beforeEach(async () => {
  test = await startTestAws();
});
afterEach(() => test.close());

const state = () => createReleaseStateTable(test.dynamo, TableName);

describe('the item of the release', () => {
  it('is not written over by whoever has not read it as it is', async () => {
    const manifest = 'a.b.c';
    const first = { manifest, flags: { C: 'open' }, appliedAt: T0 } as const;
    const withdrawn = { manifest, flags: { C: 'closed' }, appliedAt: T0 + 1 } as const;
    await state().write(first, undefined);
    await state().write(withdrawn, first);
    for (const previous of [undefined, first]) {
      expect(await state().write({ manifest, flags: { C: 'open' }, appliedAt: T0 + 2 }, previous)).toBe(
        false,
      );
    }
    expect(await state().read()).toStrictEqual(withdrawn);
  });

  it('takes nothing for open that is not plainly open, and no other item for it', async () => {
    const put = (item: NonNullable<ConstructorParameters<typeof PutItemCommand>[0]['Item']>) =>
      test.dynamo.send(
        new PutItemCommand({ TableName, Item: { pk: { S: 'release' }, sk: { S: 'state' }, ...item } }),
      );
    const appliedAt = { S: '2030-01-01T00:00:00.000Z' };
    const manifest = { S: '' };
    await put({
      manifest,
      appliedAt,
      flags: { M: { A: { S: 'Open' }, D: { S: 'open' }, X: { S: 'open' } } },
    });
    expect(await state().read()).toStrictEqual({
      manifest: '',
      flags: { A: 'closed', D: 'open' },
      appliedAt: T0,
    });
    // A proof of isolation that cannot be read closes nothing.
    const isolationProof = { M: { digest: { S: 'd' }, outcome: { S: 'hoped' } } };
    await put({ manifest, appliedAt, flags: { M: {} }, isolationProof });
    expect(await state().read()).toStrictEqual({ manifest: '', flags: {}, appliedAt: T0 });
    await put({ manifest, appliedAt });
    await expect(state().read()).rejects.toThrow('the item of the release');
  });
});
