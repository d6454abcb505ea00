import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { controlLifetimeMs, type ControlTable } from '#shared/idempotency/control-record.ts';
import { localTableName } from '#shared/stage/local-stage.ts';
import { useTestAws } from '#test/support/aws.ts';
import { createMemoryControlTable } from '#test/support/control-table.ts';
import { createControlTable } from './control-table.ts';

// Which columns an item has is frozen (test/frozen), and what a table means that cannot be reached is in test/contract/faults/aws.test.ts.

const T0 = Date.UTC(2026, 0, 31, 9, 30);
const TableName = localTableName('control');
const test = useTestAws();

const times = [0, controlLifetimeMs - 1, controlLifetimeMs, controlLifetimeMs + 1].map((after) => T0 + after);
const step = fc.record({
  call: fc.constantFrom('create', 'create', 'takeOver', 'renew', 'settle', 'release'),
  now: fc.constantFrom(T0, T0, ...times),
  id: fc.constantFrom<string>('a', 'b'),
  hash: fc.constantFrom('hash-1', 'hash-1', 'hash-2'),
  createdAt: fc.constantFrom(T0, T0, T0 + 1),
  attemptId: fc.constantFrom('attempt-1', 'attempt-2'),
  to: fc.constantFrom('completed', 'failed'),
});
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** What a table returns to one call, and then holds. */
async function answers(table: ControlTable, { call, now, to, ...seen }: Step): Promise<readonly unknown[]> {
  const leaseUntil = T0 + 20_000;
  const record = { ...seen, leaseUntil, state: 'started', operationId: `op_${now}` } as const;
  const calls = {
    create: () => table.create(record, now),
    takeOver: () => table.takeOver(record, { attemptId: 'attempt-2', leaseUntil: leaseUntil + 1 }, now),
    renew: () => table.renew(record, leaseUntil + 2, now),
    settle: () => table.settle(record, { state: to, terminalStatus: 201 }, now),
    release: () => table.release(record, now),
  };
  const given = await calls[call]();
  return [given, ...(await Promise.all(times.map((time) => table.read(seen.id, time))))];
}

it('the table in DynamoDB does what the one in memory does, to the last millisecond of a record [MA-005, MA-145, MA-146, RP-335]', async () => {
  const table = createControlTable(test.dynamo, TableName);
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
      const memory = createMemoryControlTable();
      // The runs share one table.
      runs += 1;
      for (const one of steps) {
        const own = { ...one, id: `${runs}${one.id}` };
        expect(await answers(table, own)).toEqual(await answers(memory, own));
      }
    }),
    { numRuns: 60 },
  );
});

it.each([
  ['in DynamoDB', () => createControlTable(test.dynamo, TableName)],
  ['in memory', createMemoryControlTable],
])('a lease is renewed by its holder alone, until it is released: %s', async (_, open) => {
  const table = open();
  const leaseUntil = T0 + 10_000;
  const times = { createdAt: T0, leaseUntil };
  const record = {
    ...times,
    id: 'renewed',
    hash: 'h',
    operationId: 'op_1',
    attemptId: 'attempt-1',
    state: 'started',
  } as const;
  const next = { ...record, attemptId: 'attempt-2' };
  await table.create(record, T0);
  expect(await table.renew(record, leaseUntil + 1, T0)).toBe(true);
  expect(await table.read('renewed', T0)).toEqual({ ...record, leaseUntil: leaseUntil + 1 });
  await table.release(record, T0);
  expect(await table.renew(record, leaseUntil + 2, T0)).toBe(false);
  await table.takeOver(record, next, T0);
  expect(await table.renew(record, leaseUntil + 3, T0)).toBe(false);
  expect(await table.renew(next, leaseUntil + 4, T0)).toBe(true);
  await table.settle(next, { state: 'completed', terminalStatus: 201 }, T0);
  expect(await table.renew(next, leaseUntil + 5, T0)).toBe(false);
});

it('an item that this service did not write is refused', async () => {
  const Item = { id: { S: 'x' }, hash: { S: 'h' }, state: { S: 'paused' } };
  await test.dynamo.send(new PutItemCommand({ TableName, Item }));
  await expect(createControlTable(test.dynamo, TableName).read('x', T0)).rejects.toThrow('state');
});
