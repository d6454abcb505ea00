import { describe, expect, it } from 'vitest';
import { useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { useTestStack } from '#test/support/stack.ts';

const stack = useTestStack();
const runs = useAdaptiveRuns(stack);

describe('inspect', () => {
  it('shows the run as it stands, with the same token and expiry, by reads alone [MA-156]', async () => {
    const started = await runs.start().sendForRun();
    const before = await runs.state();
    const { result, calls } = await callsDuring(stack, () =>
      runs.inspect(started.body.continuationToken).sendForRun(),
    );
    expect({ ...result.body, receiptId: '' }).toEqual({ ...started.body, receiptId: '' });
    expect(result.etag).toBe(started.etag);
    expect(new Set(calls.map(({ method }) => method))).toEqual(new Set(['GET']));
    expect(await runs.state()).toEqual(before);
  });

  it('sees an outcome in the tag and not yet in the diagnosis: only advance consumes [MA-048, MA-140]', async () => {
    const started = await runs.start().sendForRun();
    await runs.play(started.body);
    const once = await runs.inspect(started.body.continuationToken).sendForRun();
    const twice = await runs.inspect(started.body.continuationToken).sendForRun();
    expect(once.etag).not.toBe(started.etag);
    expect(twice.etag).toBe(once.etag);
    expect({ ...once.body, receiptId: '' }).toEqual({ ...started.body, receiptId: '' });
    // A second attempt in the same session is news to the tag as well.
    await runs.play(started.body, 0);
    const thrice = await runs.inspect(started.body.continuationToken).sendForRun();
    expect(thrice.etag).not.toBe(once.etag);
  });

  it('repeated under its key is composed anew, from what the owners hold by then [MA-190]', async () => {
    const started = await runs.start().sendForRun();
    const request = runs.inspect(started.body.continuationToken);
    const before = await request.sendForRun();
    await runs.play(started.body);
    const after = await request.sendForRun();
    expect(before.etag).toBe(started.etag);
    expect(after.etag).not.toBe(started.etag);
  });
});
