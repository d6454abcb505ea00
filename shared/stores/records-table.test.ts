import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { localTableName } from '#shared/stage/local-stage.ts';
import { useTestAws } from '#test/support/aws.ts';
import type { RecordsTable } from '#shared/records/table.ts';
import { createRecordsTable, RecordTooLargeError } from './records-table.ts';

const test = useTestAws();
const name = localTableName('records');

// Every test has a record of its own, for they share one table.
let records = 0;
let table: RecordsTable;
let key: { readonly kind: 'calibration'; readonly id: string; readonly tenantId: string };
beforeEach(() => {
  records += 1;
  key = { kind: 'calibration', id: `c${records}`, tenantId: 'tenant-1' };
  table = createRecordsTable(test.dynamo, name);
});

function parametersOf(text: string): { readonly hash: string; readonly text: string } {
  return { hash: sha256Hex(text), text };
}

describe('createRecordsTable', () => {
  it('lets exactly one of many racing writers win, with its own parameters [MA-228]', async () => {
    const records = Array.from({ length: 12 }, (_, index) => ({
      document: `{"v":${index}}`,
      parameters: parametersOf(`{"scale":[${index}]}`),
    }));
    const outcomes = await Promise.all(records.map((record) => table.writeOnce(key, record)));
    expect(outcomes.filter((outcome) => outcome === 'written')).toHaveLength(1);
    const winner = records[outcomes.indexOf('written')];
    const stored = await table.read(key);
    expect(stored?.document).toBe(winner?.document);
    expect(await table.readParameters(key, stored!.parameters!)).toBe(winner?.parameters.text);
  });

  it('never shows half a record: without its document the parts are nothing', async () => {
    const failing = test.dynamoAfter(({ input }) => {
      const { Item: item } = input as { Item?: Record<string, { S?: string }> };
      if (item?.['sk']?.S === 'document') throw new Error('cut off');
    });
    const record = { document: '{"v":1}', parameters: parametersOf('{"scale":[1]}') };
    await expect(createRecordsTable(failing, name).writeOnce(key, record)).rejects.toThrow('cut off');
    expect(await table.read(key)).toBeUndefined();
    expect(await table.writeOnce(key, record)).toBe('written');
  });

  it('changes a lifecycle under the table’s policy, which refuses updates, and loses none of two changes at once', async () => {
    await table.writeOnce(key, { document: '{}' });
    const block = { blockedAt: '2026-03-02T00:00:00Z', blockedBecause: 'a wrong key' };
    const deprecation = { deprecatedAt: '2026-03-01T00:00:00Z', sunsetAt: '2026-04-01T00:00:00Z' };
    await Promise.all([table.changeLifecycle(key, block), table.changeLifecycle(key, deprecation)]);
    expect(await table.readLifecycle(key)).toEqual({ ...block, ...deprecation });
    await table.changeLifecycle(key, { blockedAt: null, blockedBecause: null });
    expect((await table.read(key))?.lifecycle).toEqual(deprecation);
  });

  it('compresses a document that one item could not hold, and refuses one that it cannot hold even so', async () => {
    const repetitive = JSON.stringify({
      excludedItems: Array.from({ length: 30_000 }, (_, i) => `item-${i}`),
    });
    await table.writeOnce(key, { document: repetitive });
    expect((await table.read(key))?.document).toBe(repetitive);
    const random = Array.from({ length: 12_000 }, (_, i) => sha256Hex(String(i)));
    await expect(
      table.writeOnce({ ...key, id: `${key.id}-random` }, { document: JSON.stringify(random) }),
    ).rejects.toThrow(RecordTooLargeError);
  });

  it('joins the parts of large parameters, and answers undefined where one is missing or damaged', async () => {
    const parameters = parametersOf(
      JSON.stringify(Array.from({ length: 30_000 }, (_, i) => sha256Hex(String(i)))),
    );
    await table.writeOnce(key, { document: '{}', parameters });
    const reference = (await table.read(key))!.parameters!;
    expect(reference.parts).toBeGreaterThan(1);
    expect(await table.readParameters(key, reference)).toBe(parameters.text);
    expect(await table.readParameters(key, { ...reference, parts: reference.parts + 1 })).toBeUndefined();
    const part = {
      pk: { S: `tenant#tenant-1#calibration#${key.id}` },
      sk: { S: `parameters#${reference.hash}#0000` },
    };
    await test.dynamo.send(
      new PutItemCommand({ TableName: name, Item: { ...part, content: { B: new Uint8Array([1, 2, 3]) } } }),
    );
    expect(await table.readParameters(key, reference)).toBeUndefined();
  });
});
