import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localFiles, writeStackDescription } from '#shared/stage/description.ts';
import { createKeySettings } from '#shared/stores/settings-table.ts';
import { scheduledPurposes, type KeyPurpose } from '#shared/keys/key-ring.ts';
import { PROMOTE_AFTER_MS } from '#shared/keys/key-states.ts';
import { useTestAws } from '#test/support/aws.ts';
import { runProgram, useCommands } from '#test/support/commands.ts';
import { describedStack } from '#test/support/described-stack.ts';
import { describeError, describeReport } from './report.ts';

const test = useTestAws();
const run = useCommands();
const keys = async (...argv: readonly string[]) => run('ops/keys.ts', argv, await folderOf(test.aws.url));

/** A folder in which a stack runs, as `npm start` would: its process is alive, and these tests need its AWS emulator only. */
async function folderOf(awsUrl: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'keys-'));
  await writeStackDescription(localFiles(folder).stack, describedStack({ awsUrl }));
  return folder;
}

const ended = await folderOf('http://127.0.0.1:1');
/** An environment in which nothing of AWS is set up. */
const alone = { AWS_EC2_METADATA_DISABLED: 'true', HOME: ended };

/** Answers in the place of AWS, as a proxy does. */
const stranger = createServer((_, response) => response.writeHead(503).end('busy'));
stranger.listen(0, '127.0.0.1').unref();
const strange = () => `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;

const kids = async (purpose: KeyPurpose) =>
  (await createKeySettings(test.dynamo, 'local-settings').list(purpose)).map(
    ({ kid, state }) => `${kid} ${state}`,
  );

describe('npm run keys, against the running local stack', { timeout: 120_000 }, () => {
  it('makes, lists, rotates and replaces keys', async () => {
    expect(await keys('rotate')).toEqual({
      code: 1,
      stdout: '',
      stderr: [
        'continuation: no active key: run init first\n',
        'cursor: no active key: run init first\n',
        'receipt-link: no active key: run init first\n',
      ].join(''),
    });

    const first = await keys('init');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toContain('idempotency: Created k1; it seals from now on.');
    const second = await keys('init');
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(second.stdout).toContain('idempotency: already has an active key.');
    expect(await kids('idempotency')).toEqual(['k1 active']);

    const rotated = await keys('rotate');
    expect(rotated.stdout).toMatch(
      /^continuation: Created k2; it is pending\..* run rotate again at 20[-:0-9T]+Z or later.*\ncursor: Created k2; it is pending\..*\nreceipt-link: Created k2; it is pending\..*\n$/,
    );
    // The waiting time has not passed.
    expect((await keys('rotate')).stdout).toMatch(/^continuation: Containers are loading k2/);
    for (const purpose of scheduledPurposes) expect(await kids(purpose)).toEqual(['k1 active', 'k2 pending']);
    expect(await kids('idempotency')).toEqual(['k1 active']);
    // A step is due at the time that is named: rounded up to a second.
    const [, pending] = await createKeySettings(test.dynamo, 'local-settings').list('continuation');
    const named = Date.parse(/again at (\S+Z)/.exec(rotated.stdout)?.[1] ?? '');
    expect(named).toBe(Math.ceil(((pending?.createdAt ?? 0) + PROMOTE_AFTER_MS) / 1000) * 1000);

    const listed = await keys('list', '--purpose', 'continuation');
    expect(listed.stdout).toMatch(
      /^purpose {7}kid {2}state {4}created +active +opening +retired\ncontinuation {2}k1 {3}active( +20[-:0-9T]+Z){2} {2}- +-\ncontinuation {2}k2 {3}pending {2}20[-:0-9T]+Z {2}- +- +-\n$/,
    );

    const replaced = await keys('rotate', '--purpose', 'idempotency', '--leaked');
    expect(replaced.stdout).toMatch(
      /From now on, k1 only opens\. Everything sealed before stays readable: run retire at 20[-:0-9T]+Z or later\.\n$/,
    );
    expect((await keys('rotate', '--purpose', 'pseudonym', '--leaked')).stdout).toMatch(
      /runs ignore the items that learners received in earlier runs/,
    );
    expect(await kids('idempotency')).toEqual(['k1 opening', 'k2 active']);
    const { stdout: waiting } = await keys('retire');
    expect(waiting).toMatch(
      /^idempotency: k1 is still needed to open what it sealed: run retire at 20\S+ or/m,
    );
    expect(waiting).toContain('cursor: has no key to retire.');
    expect(await kids('idempotency')).toEqual(['k1 opening', 'k2 active']);
    const retired = await keys('retire', '--purpose', 'idempotency', '--kid', 'k1', '--leaked');
    expect(retired).toMatchObject({
      code: 0,
      stdout: 'idempotency: Retired k1 and deleted its wrapped key.\n',
    });
    expect(await kids('idempotency')).toEqual(['k1 retired', 'k2 active']);
  });

  it.each([
    [['list', '--table', 'nowhere'], /AWS refused: ResourceNotFoundException/],
    [['retire', '--purpose', 'pseudonym', '--kid', 'k77', '--leaked'], /pseudonym: unknown key k77/],
    [['retire', '--purpose', 'cursor', '--kid', 'k1', '--leaked'], /with rotate --purpose cursor --leaked/],
  ])('answers %j with a sentence and no stack trace', async (argv, message) => {
    const { code, stderr } = await keys(...argv);
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it.each<readonly [RegExp, string, () => Parameters<typeof runProgram>[2]]>([
    [/^no local stack is running/, 'local', () => ({ folder: tmpdir() })],
    [/^AWS cannot be reached: ECONNREFUSED\n$/, 'local', () => ({ folder: ended })],
    [/^no AWS region: set AWS_REGION or AWS_PROFILE\n$/, 'prod', () => ({ env: alone })],
    [/^no AWS credentials/, 'prod', () => ({ env: { ...alone, AWS_REGION: 'us-east-1' } })],
    [
      /^AWS cannot be reached: no usable response\n$/,
      'prod',
      () => ({ env: { ...test.env, AWS_ENDPOINT_URL: strange() } }),
    ],
    [/^no settings table of stage prod/, 'prod', () => ({ env: test.env })],
  ])('says what is missing: %s', async (message, stage, given) => {
    const { code, stderr } = await runProgram('ops/keys.ts', ['list', '--stage', stage], given());
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
  });
});

it('says what no single command can be made to meet here', () => {
  const done = [
    { kind: 'move', kid: 'k2', from: 'pending', to: 'active' },
    { kind: 'move', kid: 'k1', from: 'active', to: 'opening' },
  ] as const;
  expect(describeReport('rotate', { purpose: 'cursor', done, waiting: [] }, 0)).toMatch(
    /^cursor: k2 seals from now on\. From now on, k1 only opens\. Everything .* run retire at 1970-01-02T00:10:00Z/,
  );
  expect(describeError('cursor', { kind: 'overtaken' })).toMatch(
    /^cursor: another .* run the command again$/,
  );
});
