import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { AwsServiceName } from '#local/aws/wire.ts';
import { routes } from '#shared/contract/routes.ts';
import { openWorlds, operations } from '#test/lemmas/worlds.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { useTestStack } from '#test/support/stack.ts';

// The clock of the functions does not move: on a slow machine too, a warm container has all that it has read.
const started = Date.now();
const stack = useTestStack({ inProcess: () => ({ now: () => started }) });

const columns: readonly (readonly [title: string, service: AwsServiceName, calls: readonly string[]])[] = [
  ['DynamoDB reads', 'dynamodb', ['GetItem', 'Query', 'BatchGetItem']],
  ['writes', 'dynamodb', ['PutItem', 'UpdateItem', 'TransactWriteItems', 'DeleteItem']],
  ['KMS', 'kms', ['Decrypt', 'GenerateDataKeyWithoutPlaintext']],
  ['S3', 's3', ['GetObject', 'PutObject', 'HeadObject']],
  ['SQS', 'sqs', ['SendMessage']],
];

/** How many calls of each column have come so far. */
function counted(): readonly number[] {
  return columns.map(([, service, calls]) =>
    calls.reduce((sum, call) => sum + stack.awsCalls(service, call), 0),
  );
}

it(
  'docs/cost.md has what a warm call of each route takes of AWS and of the owners',
  { timeout: 120_000 },
  async () => {
    const worlds = openWorlds(stack);
    const page = await readFile(join(import.meta.dirname, '../../docs/cost.md'), 'utf8');
    const rows: string[] = [];
    for (const { operation } of operations) {
      // The first one warms the container.
      await worlds.send(operation, await worlds.request(operation));
      const request = await worlds.request(operation);
      // A worker would add its own calls to those of the request that gives it work.
      await stack.improvement.settled();
      stack.improvement.pause();
      const before = counted();
      const { calls } = await callsDuring(stack, () => worlds.send(operation, request));
      const used = counted().map((count, at) => count - (before[at] ?? 0));
      stack.improvement.resume();
      const memory = routes.find(({ operationId }) => operationId === operation)?.lambda.memoryMb;
      rows.push(`| \`${operation}\` | ${[memory, calls.length, ...used].join(' | ')} |`);
    }
    const head = ['Operation', 'Memory, MB', 'Calls of owners', ...columns.map(([title]) => title)];
    const table = [`| ${head.join(' | ')} |`, `| --- |${' ---: |'.repeat(head.length - 1)}`, ...rows].join(
      '\n',
    );
    const part = /begin of calls.*-start -->\n\n(.*?)\n<!--/s.exec(page)?.[1];
    expect(part).toBe(table);
  },
);
