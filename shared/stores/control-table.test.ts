import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import type { ControlRecord, ControlTable } from '#shared/idempotency/control-record.ts';
import { localTableName } from '#shared/stage/local-stage.ts';
import { useTestAws } from '#test/support/aws.ts';
import { createMemoryControlTable } from '#test/support/control-table.ts';
import { createControlTable } from './control-table.ts';

const T0 = Date.UTC(2026, 0, 31, 9, 30);
const DAY = 24 * 60 * 60 * 1000;
let counter = 0;

function newRecord(changes: Partial<ControlRecord> = {}): ControlRecord {
  counter += 1;
  return {
    id: `id-${counter}`,
    hash: 'hash-1',
    state: 'started',
    operationId: `op_${counter}`,
    createdAt: T0,
    attemptId: 'attempt-1',
    leaseUntil: T0 + 20_000,
    ...changes,
  };
}

const test = useTestAws();
const tableName = localTableName('control');

const implementations: readonly (readonly [string, () => ControlTable])[] = [
  ['in memory', () => createMemoryControlTable()],
  ['in DynamoDB', () => createControlTable(test.dynamo, tableName)],
];

describe.each(implementations)('control table %s', (_, make) => {
  const created = async () => {
    const table = make();
    const record = newRecord();
    expect(await table.create(record, T0)).toBeUndefined();
    return { table, record };
  };

  it('creates a record once and answers the one that stands in the way', async () => {
    const { table, record } = await created();
    expect(await table.create({ ...record, operationId: 'op_other', hash: 'hash-2' }, T0 + 1)).toEqual(
      record,
    );
    expect(await table.read(record.id, T0 + 1)).toEqual(record);
    expect(await table.read('id-unknown', T0)).toBeUndefined();
  });

  it('lets exactly one of many racing creations win', async () => {
    const table = make();
    const record = newRecord();
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_unused, n) => table.create({ ...record, operationId: `op_race${n}` }, T0)),
    );
    expect(outcomes.filter((standing) => standing === undefined)).toHaveLength(1);
    const stored = await table.read(record.id, T0);
    for (const standing of outcomes) if (standing !== undefined) expect(standing).toEqual(stored);
  });

  it('knows a record up to 24 hours less a millisecond after its creation and not a moment longer [MA-005, RP-335]', async () => {
    const { table, record } = await created();
    const last = T0 + DAY - 1;
    expect(await table.read(record.id, last)).toEqual(record);
    expect(await table.create(newRecord({ id: record.id }), last)).toEqual(record);
    expect(await table.read(record.id, last + 1)).toBeUndefined();
    expect(await table.takeOver(record, { attemptId: 'a', leaseUntil: last + 9 }, last + 1)).toBe(false);
    expect(await table.settle(record, { state: 'completed', terminalStatus: 200 }, last + 1)).toBe(false);
    expect(await table.release(record, last + 1)).toBe(false);
    const successor = newRecord({ id: record.id, createdAt: last + 1 });
    expect(await table.create(successor, last + 1)).toBeUndefined();
    expect(await table.read(record.id, last + 2)).toEqual(successor);
  });

  it('settles once, and keeps creation time and operation id [MA-145, MA-146]', async () => {
    const { table, record } = await created();
    expect(await table.settle(record, { state: 'failed', terminalStatus: 422 }, T0 + 5)).toBe(true);
    const settled = { ...record, state: 'failed', terminalStatus: 422, leaseUntil: 0 };
    expect(await table.read(record.id, T0 + 6)).toEqual(settled);
    expect(await table.settle(record, { state: 'completed', terminalStatus: 200 }, T0 + 7)).toBe(false);
    expect(await table.takeOver(record, { attemptId: 'b', leaseUntil: T0 + 99 }, T0 + 8)).toBe(false);
    expect(await table.read(record.id, T0 + 9)).toEqual(settled);
  });

  it('settles whichever run of the same request asks, but not another request', async () => {
    const { table, record } = await created();
    await table.takeOver(record, { attemptId: 'attempt-2', leaseUntil: T0 + 40_000 }, T0 + 1);
    const final = { state: 'completed', terminalStatus: 201 } as const;
    for (const other of [{ hash: 'hash-2' }, { createdAt: T0 + 1 }])
      expect(await table.settle({ ...record, ...other }, final, T0 + 2)).toBe(false);
    expect(await table.settle(record, final, T0 + 2)).toBe(true);
  });

  it('moves a lease only from the run that was seen', async () => {
    const { table, record } = await created();
    const [lease, later] = [2, 3].map((n) => ({ attemptId: `attempt-${n}`, leaseUntil: T0 + n * 20_000 }));
    expect(await table.takeOver(record, lease!, T0 + 1)).toBe(true);
    expect(await table.takeOver(record, later!, T0 + 1)).toBe(false);
    expect(await table.read(record.id, T0 + 1)).toEqual({ ...record, ...lease });
  });

  it('releases the lease of the run that holds it and leaves the record started', async () => {
    const { table, record } = await created();
    expect(await table.release({ ...record, attemptId: 'attempt-9' }, T0 + 1)).toBe(false);
    expect(await table.release(record, T0 + 1)).toBe(true);
    expect(await table.read(record.id, T0 + 1)).toEqual({ ...record, leaseUntil: 0 });
  });
});

describe('a stored control record', () => {
  it('has these attributes and no other, and is purged when it is unusable [MA-004, MA-005, MA-006, MA-146]', async () => {
    const table = createControlTable(test.dynamo, tableName);
    const record = newRecord({ createdAt: T0 + 1 });
    await table.create(record, T0 + 1);
    await table.settle(record, { state: 'completed', terminalStatus: 201 }, T0 + 2);
    const { Item } = await test.dynamo.send(
      new GetItemCommand({ TableName: tableName, Key: { id: { S: record.id } } }),
    );
    expect(Object.keys(Item ?? {}).sort()).toEqual([
      'attemptId',
      'createdAt',
      'hash',
      'id',
      'leaseUntil',
      'operationId',
      'purgeAt',
      'state',
      'terminalStatus',
    ]);
    expect(Item?.['purgeAt']).toEqual({ N: String((T0 + DAY) / 1000 + 1) });
  });

  it('that this service did not write is refused', async () => {
    const Item = { id: { S: 'x' }, hash: { S: 'h' }, state: { S: 'paused' } };
    await test.dynamo.send(new PutItemCommand({ TableName: tableName, Item }));
    await expect(createControlTable(test.dynamo, tableName).read('x', T0)).rejects.toThrow('state');
  });

  it('cannot be reached: the failure comes through, it is never taken for an absent record', async () => {
    const throttled = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
    const table = createControlTable(
      test.dynamoAfter(() => {
        throw throttled;
      }),
      tableName,
    );
    const record = newRecord();
    await expect(table.read(record.id, T0)).rejects.toBe(throttled);
    await expect(table.create(record, T0)).rejects.toBe(throttled);
    const settled = { state: 'completed', terminalStatus: 200 } as const;
    await expect(table.settle(record, settled, T0)).rejects.toBe(throttled);
  });
});
