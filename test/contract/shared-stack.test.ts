import { expect, it } from 'vitest';
import { openAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { startTestStack, type TestStack } from '#test/support/stack.ts';

/** What one file could see of another. */
async function visible(stack: TestStack): Promise<unknown> {
  return {
    platform: await stack.control('GET', 'state'),
    faults: await stack.control('GET', 'faults'),
    calls: await stack.control('GET', 'calls'),
    logs: [...stack.logs()],
    deadLetters: stack.improvement.deadLetters(),
    awsCalls: stack.awsCalls('dynamodb', 'PutItem'),
  };
}

it('a file gets the worker’s stack as if it had just been started, whatever another one did to it', async () => {
  const first = await startTestStack();
  const start = await visible(first);
  const runs = openAdaptiveRuns(first);
  const run = runs.start();
  const started = await run.sendForRun();
  await runs.play(started.body);
  await first.fault({ operation: 'bank.read_adaptive_pool_manifest', kind: 'status', status: 503, times: 9 });
  await first.control('POST', 'clock', { advanceSeconds: 3600 });
  first.awsFaults.throttle('GetItem', 1000);
  first.improvement.pause();
  first.improvement.send('not taken');
  expect(await visible(first)).not.toStrictEqual(start);
  await first.close();

  await using second = await startTestStack();
  // Otherwise this would say nothing.
  expect(second.urls).toStrictEqual(first.urls);
  expect(await visible(second)).toStrictEqual(start);
  expect(await run.record()).toBeUndefined();
  await second.improvement.settled();
  // A warm environment would have its keys.
  const opened = second.awsCalls('kms', 'Decrypt');
  await runs.start().sendForRun();
  expect(second.awsCalls('kms', 'Decrypt')).toBeGreaterThan(opened);
});

it('a file that starts a second stack while it has one gets another', async () => {
  await using one = await startTestStack();
  await using other = await startTestStack();
  expect(other.urls.platformUrl).not.toBe(one.urls.platformUrl);
});
