import { expect, it } from 'vitest';
import { readRecording } from '#ops/cost/recorded.ts';
import type { RecordedCall } from '#shared/scale/recorded.ts';
import type { AwsServiceName } from '#local/aws/wire.ts';
import { openWorlds, operations } from '#test/lemmas/worlds.ts';
import { callsDuring, depthOf, slowDown } from '#test/support/platform-calls.ts';
import { record } from '#test/support/record.ts';
import { useTestStack } from '#test/support/stack.ts';

// The clock of the functions does not move: on a slow machine too, a warm container has all that it has read.
const started = Date.now();
const stack = useTestStack({ inProcess: () => ({ now: () => started }) });

const counters = {
  reads: ['dynamodb', ['GetItem', 'Query', 'BatchGetItem']],
  writes: ['dynamodb', ['PutItem', 'UpdateItem', 'TransactWriteItems', 'DeleteItem']],
  kms: ['kms', ['Decrypt', 'GenerateDataKeyWithoutPlaintext']],
  s3Gets: ['s3', ['GetObject', 'HeadObject']],
  s3Puts: ['s3', ['PutObject']],
  sqs: ['sqs', ['SendMessage']],
} as const satisfies Readonly<Record<string, readonly [service: AwsServiceName, calls: readonly string[]]>>;

type Counts = Readonly<Record<keyof typeof counters, number>>;

/** How many calls of each kind have come since an earlier count. */
function counted(before?: Counts): Counts {
  const counts = Object.entries(counters).map(([name, [service, calls]]) => [
    name,
    calls.reduce((sum, call) => sum + stack.awsCalls(service, call), 0) -
      (before?.[name as keyof Counts] ?? 0),
  ]);
  return Object.fromEntries(counts) as Counts;
}

it(
  'ops/cost/recorded.json has what a warm call of each route takes of AWS and of the owners',
  { timeout: 240_000 },
  async () => {
    const worlds = openWorlds(stack);
    const recorded = readRecording();
    const seen: Record<string, RecordedCall> = {};
    const depthOfOne = async (operation: (typeof operations)[number]['operation']): Promise<number> => {
      const slowed = await worlds.request(operation);
      await slowDown(stack);
      const { calls } = await callsDuring(stack, () => worlds.send(operation, slowed));
      await stack.control('DELETE', 'faults');
      return depthOf(calls);
    };
    for (const { operation } of operations) {
      // The first one warms the container.
      await worlds.send(operation, await worlds.request(operation));
      const request = await worlds.request(operation);
      // A worker would add its own calls to those of the request that gives it work.
      await stack.improvement.settled();
      stack.improvement.pause();
      const [before, lines] = [counted(), stack.logs().length];
      const { calls } = await callsDuring(stack, () => worlds.send(operation, request));
      const counts = counted(before);
      const bytes = stack
        .logs()
        .slice(lines)
        .reduce((sum, { line }) => sum + JSON.stringify(line).length, 0);
      let ownersInSequence = await depthOfOne(operation);
      // What a busy machine asks side by side can look like a chain, but no chain like a wave: the shortest one counts.
      for (
        let more = 2;
        more > 0 && ownersInSequence > (recorded.calls[operation]?.ownersInSequence ?? 0);
        more -= 1
      )
        ownersInSequence = Math.min(ownersInSequence, await depthOfOne(operation));
      stack.improvement.resume();
      seen[operation] = {
        owners: calls.length,
        ownersInSequence,
        ...counts,
        logBytes: Math.ceil(bytes / 100) * 100,
      };
    }
    record({ calls: seen });
    expect(readRecording().calls).toStrictEqual(seen);
  },
);
