import { describe, expect, it } from 'vitest';
import { localKeyAlias, localStage, localTableName } from '#shared/stage/local-stage.ts';
import { createDataKeyMaker } from '#shared/stores/kms.ts';
import { createWritableKeySettings } from '#shared/stores/settings-table.ts';
import { changeKeys, type KeyAdministration } from '#shared/keys/administration.ts';
import { planReplace, planRetireNow } from '#shared/keys/key-states.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { sentenceOf, useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { lazily } from '#test/support/lazily.ts';
import { clientsOf, useTestStack } from '#test/support/stack.ts';

// A leaked key in warm functions, whose clock is moved: what they promise of it within 30 seconds.

/** Within so long a change of the ring binds every container. */
const PROMISE_MS = 30_000;
/** As long as a container may be frozen while its copy of the ring was once good for longer. */
const FROZEN_MS = 4 * 60_000;

/** Ahead of the true time throughout, so that no token comes from the future. */
const clock = { now: Date.now() + 60_000 };
/** How much faster time limits pass. */
const hurry = { factor: 1 };

const { sleep } = processRuntime();
const stack = useTestStack({
  inProcess: () => ({
    now: () => clock.now,
    sleep: (milliseconds, signal) => sleep(milliseconds / hurry.factor, signal),
  }),
});
const runs = useAdaptiveRuns(stack);
const administration = lazily((): KeyAdministration => {
  const { dynamo, kms } = clientsOf(stack);
  return {
    settings: createWritableKeySettings(dynamo, localTableName('settings')),
    kms: createDataKeyMaker(kms, localKeyAlias),
    stage: localStage,
    clock: Date.now,
  };
});

const kidOf = (token: string): unknown =>
  (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: unknown }).kid;
const kidOfNewRun = async (): Promise<unknown> =>
  kidOf((await runs.start().sendForRun()).body.continuationToken);
const expectDone = (reported: { readonly ok: boolean }): void => {
  expect(reported.ok).toBe(true);
};

/** A run of now, whose start and inspection have warmed their functions. */
async function warmRun(): Promise<string> {
  const { continuationToken } = (await runs.start().sendForRun()).body;
  await runs.inspect(continuationToken).sendForRun();
  return continuationToken;
}

describe.each([
  ['that goes on serving', PROMISE_MS],
  ['that was frozen', FROZEN_MS],
])('a container %s', (_, passed) => {
  it('neither seals nor opens under a leaked key 30 seconds after its retirement [MA-061]', async () => {
    const token = await warmRun();
    const leaked = kidOf(token) as string;
    expectDone(await changeKeys(administration, 'continuation', planReplace));
    clock.now += passed;
    const successor = await kidOfNewRun();
    expect(successor).not.toBe(leaked);
    // Only sealing has ended so far.
    await runs.inspect(token).sendForRun();

    expectDone(await changeKeys(administration, 'continuation', planRetireNow(leaked)));
    clock.now += passed;
    expect(sentenceOf(await runs.inspect(token).send())).toBe('404 resource-not-found');
    expect(await kidOfNewRun()).toBe(successor);
  });
});
