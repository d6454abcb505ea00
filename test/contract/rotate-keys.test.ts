import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bind } from '#functions/reports/background/rotate-keys/handler.ts';
import { createRotateFunction } from '#functions/reports/background/rotate-keys/rotate-keys.ts';
import { changeKeys, initKeyRing, type KeyAdministration } from '#shared/keys/administration.ts';
import { scheduledPurposes, type KeyPurpose } from '#shared/keys/key-ring.ts';
import { planReplace, PROMOTE_AFTER_MS, RETIRE_AFTER_MS } from '#shared/keys/key-states.ts';
import { createAwsClients, processRuntime } from '#shared/lambda/process-runtime.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import { localCredentials, localKeyAlias, localStage, localTableName } from '#shared/stage/local-stage.ts';
import { createKeyNotes, noteChanges } from '#shared/stores/key-notes.ts';
import { createDataKeyMaker } from '#shared/stores/kms.ts';
import { createWritableKeySettings } from '#shared/stores/settings-table.ts';
import { startTestAws, type TestAws } from '#test/support/aws.ts';

const DAY = 24 * 3_600_000;
const START = Date.parse('2026-03-02T10:00:00Z');

let test: TestAws;
let now: number;
let lines: string[];
beforeEach(async () => {
  now = START;
  lines = [];
  test = await startTestAws({ now: () => now });
  await initKeyRing(operator());
});
afterEach(() => test.close());

const operator = (): KeyAdministration => ({
  settings: noteChanges(
    createWritableKeySettings(test.dynamo, localTableName('settings')),
    createKeyNotes(test.ssm, localStage),
  ),
  kms: createDataKeyMaker(test.kms, localKeyAlias),
  stage: localStage,
  clock: () => now,
});
const context = { awsRequestId: 'f-1', getRemainingTimeInMillis: () => 60_000 };
const runtime = (): Runtime => ({
  ...processRuntime(),
  environment: { ...test.env, KEY_ARN: localKeyAlias, KEY_ROTATION_DAYS: '30' },
  now: () => now,
  write: (line) => lines.push(line),
  aws: createAwsClients(() => ({
    endpoint: test.aws.url,
    region: 'us-east-1',
    credentials: localCredentials,
    // A call that is held is never made again: whoever made it is dead.
    timeLimits: { connectMs: 600_000, attemptMs: 600_000 },
  })),
});
/** One call of the schedule, in a container of its own. */
const call = (remaining = 60_000): Promise<unknown> =>
  bind(runtime())({}, { ...context, getRemainingTimeInMillis: () => remaining });

async function ring(purpose: KeyPurpose = 'continuation'): Promise<readonly string[]> {
  const records = await operator().settings.list(purpose);
  return records.map(({ kid, state }) => `${kid} ${state}`).toSorted();
}
const logged = (code: string): readonly unknown[] =>
  lines.map((line) => JSON.parse(line) as { code: string }).filter((line) => line.code === code);

describe('the schedule', () => {
  it('begins a rotation when the key has sealed for so long, ends it when containers know the new one, and retires the old one when nothing needs it', async () => {
    now = START + 30 * DAY - 1;
    await call();
    expect(await ring()).toEqual(['k1 active']);
    now += 1;
    await call();
    for (const purpose of scheduledPurposes) expect(await ring(purpose)).toEqual(['k1 active', 'k2 pending']);
    now += PROMOTE_AFTER_MS - 1;
    await call();
    expect(await ring()).toEqual(['k1 active', 'k2 pending']);
    now += 1;
    await call();
    expect(await ring()).toEqual(['k1 opening', 'k2 active']);
    now += RETIRE_AFTER_MS - 1;
    await call();
    expect(await ring()).toEqual(['k1 opening', 'k2 active']);
    now += 1;
    await call();
    expect(await ring()).toEqual(['k1 retired', 'k2 active']);
    expect(await createKeyNotes(test.ssm, localStage).retired('continuation')).toEqual(
      new Map([['k1', false]]),
    );
    // These make values that must be found again.
    for (const purpose of ['idempotency', 'pseudonym'] as const)
      expect(await ring(purpose)).toEqual(['k1 active']);
    expect(logged('KEY_CHANGED')).toHaveLength(4 * scheduledPurposes.length);
  });

  it('logs the age of the key that has sealed for longest, as a metric', async () => {
    now = START + 12 * DAY;
    await call();
    expect(logged('KEYS_CHECKED')).toMatchObject([
      {
        activeKeyAgeDays: 12,
        stage: localStage,
        _aws: { CloudWatchMetrics: [{ Metrics: [{ Name: 'activeKeyAgeDays', Unit: 'None' }] }] },
      },
    ]);
  });

  it('changes nothing twice, however often and however much at once it is called', async () => {
    now = START + 30 * DAY;
    await Promise.all([call(), call(), call()]);
    await call();
    for (const purpose of scheduledPurposes) expect(await ring(purpose)).toEqual(['k1 active', 'k2 pending']);
    now += PROMOTE_AFTER_MS;
    await Promise.all([call(), call(), call()]);
    await call();
    for (const purpose of scheduledPurposes) expect(await ring(purpose)).toEqual(['k1 opening', 'k2 active']);
  });

  it('rotates the other purposes when KMS fails for one, says so, and makes up for it', async () => {
    now = START + 30 * DAY;
    // As often as the SDK tries one call.
    test.aws.faults.unavailable('kms', 3);
    await expect(call()).rejects.toThrow('BACKGROUND_WORK_BROKEN');
    expect(logged('BACKGROUND_WORK_BROKEN')).toMatchObject([{ purpose: 'continuation' }]);
    expect(await ring()).toEqual(['k1 active']);
    expect(await ring('cursor')).toEqual(['k1 active', 'k2 pending']);
    expect(logged('KEYS_CHECKED')).toMatchObject([{ activeKeyAgeDays: 30 }]);
    await call();
    expect(await ring()).toEqual(['k1 active', 'k2 pending']);
  });

  it.each(['settings', 'kms', 'ssm'] as const)(
    'says so when %s hangs, before the function is stopped, and makes up for it',
    async (store) => {
      now = START + 30 * DAY;
      test.aws.faults.break(store, 'hangs');
      await expect(call(1_900)).rejects.toThrow('BACKGROUND_WORK_BROKEN');
      expect(logged('BACKGROUND_WORK_BROKEN')).toHaveLength(scheduledPurposes.length);
      test.aws.faults.reset();
      await call();
      expect(await ring()).toEqual(['k1 active', 'k2 pending']);
    },
  );

  it.each([
    ['begun', 30 * DAY, ['k1 active', 'k2 pending']],
    ['ended', 30 * DAY + PROMOTE_AFTER_MS, ['k1 opening', 'k2 active']],
    ['retired', 30 * DAY + PROMOTE_AFTER_MS + RETIRE_AFTER_MS, ['k1 retired', 'k2 active']],
  ] as const)('may end at any of its calls: a rotation is %s all the same', async (step, after, expected) => {
    for (const until of [30 * DAY, 30 * DAY + PROMOTE_AFTER_MS]) {
      now = START + until;
      if (until < after) await call();
    }
    now = START + after;
    const restore = await test.aws.snapshot();
    for (let calls = 0; ; calls += 1) {
      const outcome = await Promise.race([test.aws.faults.hold(calls).then(() => 'held'), call()]);
      test.aws.faults.reset();
      await call();
      for (const purpose of scheduledPurposes)
        expect([step, calls, await ring(purpose)]).toEqual([step, calls, expected]);
      await restore();
      if (outcome === undefined) break;
      expect(calls).toBeLessThan(100);
    }
  });

  it('leaves a ring as it is that an operator changes at the same time', async () => {
    now = START + 30 * DAY;
    const rotation = { ...operator(), period: 30 * DAY };
    let reads = 0;
    const overtaken = createRotateFunction(
      () => ({
        ...rotation,
        settings: {
          ...rotation.settings,
          list: async (purpose, signal) => {
            const records = await rotation.settings.list(purpose, signal);
            reads += 1;
            if (reads === 2) await changeKeys(operator(), purpose, planReplace);
            return records;
          },
        },
      }),
      runtime(),
    );
    await overtaken({}, context);
    expect(logged('KEY_ROTATION_POSTPONED')).toMatchObject([
      { purpose: 'continuation', reason: 'overtaken' },
    ]);
    expect(await ring()).toEqual(['k1 opening', 'k2 active']);
    expect(await ring('cursor')).toEqual(['k1 active', 'k2 pending']);
  });
});
