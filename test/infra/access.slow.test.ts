import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Restore } from '#local/aws/wire.ts';
import { localCredentials } from '#shared/stage/local-stage.ts';
import { readGateFlags, writeGateParameter } from '#shared/stores/gate-parameters.ts';
import { useTestAws } from '#test/support/aws.ts';
import { projectFolder, runProgram } from '#test/support/commands.ts';
import { context } from './deployed.ts';

const filled = `--import=${join(projectFolder, 'test/support/filled-stages.mjs')}`;

/** The emulator's own account is the stage's; this one is another customer's. */
const WRONG = { AWS_ACCESS_KEY_ID: 'ANOTHERACCOUNT', AWS_SECRET_ACCESS_KEY: 'secret' };
const noKeys = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' };
const wrongAccount = '999999999999';

const test = useTestAws({ accounts: { [WRONG.AWS_ACCESS_KEY_ID]: wrongAccount } });
const folder = await mkdtemp(join(tmpdir(), 'access-'));
const profiles = { AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials') };
await writeFile(
  profiles.AWS_SHARED_CREDENTIALS_FILE,
  Object.entries({ right: Object.values(localCredentials), wrong: Object.values(WRONG) })
    .map(([name, [id, secret]]) => `[${name}]\naws_access_key_id=${id}\naws_secret_access_key=${secret}\n`)
    .join('\n'),
);
let restore: Restore;
beforeAll(async () => {
  restore = await test.aws.snapshot();
});
beforeEach(() => restore());

const run = (
  [file = '', ...argv]: readonly string[],
  env: Readonly<Record<string, string>>,
  copy?: string,
): ReturnType<typeof runProgram> =>
  runProgram(file, argv, {
    folder: copy,
    env: {
      PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`,
      ...test.env,
      NODE_OPTIONS: filled,
      CDK_DISABLE_CLI_TELEMETRY: 'true',
      ...env,
    },
  });

/** The app as the CDK command line starts it. */
const synth = (given: Readonly<Record<string, string>> = {}, env: Readonly<Record<string, string>> = {}) =>
  run(['bin/app.ts'], {
    CDK_OUTDIR: join(folder, 'out'),
    CDK_CONTEXT_JSON: JSON.stringify({ ...context, stage: 'prod', ...given }),
    ...env,
  });
const says = (code: number, message: RegExp) => ({ code, stderr: expect.stringMatching(message) as string });
/** Tries twice: while a synth runs, the emulator may close the connection that is kept for the next call. */
const write = async (name: string, value: string): Promise<void> => {
  const put = (): Promise<void> => writeGateParameter(test.ssm, `/prod/gates/${name}`, value);
  await put().catch(put);
};

describe('a synth of a stage that is bound to an account and region', () => {
  it('reads the gates there, whatever region the shell has', async () => {
    await write('marker', 'prod');
    await write('A', 'open');
    expect(await synth({}, { AWS_REGION: 'eu-west-1', CDK_DEFAULT_ACCOUNT: '000000000000' })).toMatchObject(
      says(1, /\/prod\/gates\/A is "open"/),
    );
  });

  it('refuses other credentials than its account’s, also those that only the app has', async () => {
    await write('marker', 'prod');
    const refused = says(1, /^prod belongs to account 000000000000, but these .* account 999999999999/);
    // cdk --profile right, in a shell with credentials of another account.
    expect(await synth({}, { ...WRONG, CDK_DEFAULT_ACCOUNT: '000000000000' })).toMatchObject(refused);
    expect(await synth({}, WRONG)).toMatchObject(refused);
    expect(await synth({}, { ...profiles, AWS_PROFILE: 'wrong', ...noKeys })).toMatchObject(refused);
    // cdk --profile wrong, in a shell with the right ones.
    expect(await synth({}, { CDK_DEFAULT_ACCOUNT: wrongAccount })).toMatchObject(
      says(1, /the CDK uses credentials of account 999999999999, this app those of 000000000000/),
    );
  });

  it('says that all gates are closed where the marker stands alone, and its templates can be deployed there only', async () => {
    await write('marker', 'prod');
    expect(await synth()).toMatchObject(says(0, /prod has no gate flags yet: all gates are closed/));
    expect(await templates()).toStrictEqual(new Set(['aws://000000000000/us-east-1 deployable']));
  });

  it('is refused where nothing shows the stage, but for a first deployment that names the place', async () => {
    expect(await synth()).toMatchObject(says(1, /neither \/prod\/gates\/marker nor a gate flag of prod/));
    expect(await synth({ first: '000000000000/eu-west-1' })).toMatchObject(
      says(1, /-c first=000000000000\/eu-west-1: .* lead to 000000000000\/us-east-1/),
    );
    expect(await synth({ first: '000000000000/us-east-1' })).toMatchObject(
      says(0, /first deployment of prod: all gates are closed/),
    );
  });
});

it('a stage that follows the credentials is refused in an account or region without its marker', async () => {
  const agnostic = { BOUND: 'no' };
  await write('marker', 'prod');
  const misplaced = says(1, /neither \/prod\/gates\/marker nor a gate flag of prod/);
  expect(await synth({}, { ...agnostic, ...WRONG })).toMatchObject(misplaced);
  expect(await synth({}, { ...agnostic, AWS_REGION: 'eu-west-1' })).toMatchObject(misplaced);
  expect(await synth({}, agnostic)).toMatchObject(says(0, /prod: account 000000000000, region us-east-1/));
  expect(await templates()).toStrictEqual(new Set(['aws://000000000000/us-east-1 deployable']));
});

it.each([
  ['of -c gates', { gates: 'A,D' }, {}],
  ['of a stage with placeholders', {}, { NODE_OPTIONS: '' }],
])('templates %s are rejected by CloudFormation', async (_, given, env) => {
  await write('marker', 'prod');
  expect(await synth(given, env)).toMatchObject({ code: 0 });
  const [only, ...others] = [...(await templates())];
  expect([only, others]).toStrictEqual([expect.stringMatching(/ rejected$/), []]);
});

it('a stage with a name that is too long for its functions is refused', async () => {
  const name = 'north-carolina-production';
  expect(await synth({ stage: name, gates: '' }, { RENAMED: name })).toMatchObject(
    says(1, /^stage north-carolina-production: the name has 25 characters, expected at most 23/),
  );
});

it('a context that the app does not read is an error', async () => {
  expect(await synth({ gate: 'A' })).toMatchObject(
    says(1, /unknown name "gate": expected first, gates or st/),
  );
});

it('npx cdk alone bundles, and synthesizes what the app allows', async () => {
  // A copy, since other tests run the bundles of this one meanwhile.
  const copy = join(folder, 'copy');
  const left = ['.git', 'node_modules', 'build', 'cdk.out', '.local'];
  await cp(projectFolder, copy, { recursive: true, filter: (source) => !left.includes(basename(source)) });
  await cp(join(projectFolder, 'build/functions'), join(copy, 'build/functions'), { recursive: true });
  await symlink(join(projectFolder, 'node_modules'), join(copy, 'node_modules'));
  const cdk = (...argv: readonly string[]) =>
    run(
      ['node_modules/aws-cdk/bin/cdk', 'synth', '-c', 'stage=prod', '-o', join(folder, 'out'), '-q', ...argv],
      profiles,
      copy,
    );
  await write('marker', 'prod');
  const bundle = join(copy, 'build/functions/inspectAdaptiveRun/index.mjs');
  await rm(bundle);
  expect(await cdk()).toMatchObject({ code: 0 });
  expect(await readFile(bundle, 'utf8')).toContain('handler');
  expect(await cdk('--profile', 'wrong')).toMatchObject(
    says(1, /the CDK uses credentials of account 999999999999/),
  );
});

describe('the commands', () => {
  const settings = ['--stage', 'prod', '--table', 'local-settings'];
  const show = ['ops/gates.ts', 'show', ...settings];
  const early = '2026-01-01T00:00:00Z';
  /** Each with what it ends with once it is in the right place. */
  it.each<readonly [readonly string[], RegExp]>([
    [show, /^$/],
    [['ops/gates.ts', 'apply', '--withdraw', 'C', ...settings], /^$/],
    [['ops/keys.ts', 'list', ...settings], /^$/],
    [
      [
        ...['ops/release.ts', 'deprecate', 'policy', 'p', '--at', early],
        ...['--stage', 'prod', '--table', 'local-records'],
      ],
      /was never released here/,
    ],
    [['tools/docs.ts', '--stage', 'prod', '--out', join(tmpdir(), 'access-docs')], /all gates are closed/],
    [['ops/doctor.ts', '--stage', 'prod'], /^\d+ of \d+ checks failed/],
    [['ops/deploy.ts', '-c', 'stage=prod'], /^the account is not ready/],
    [
      ['ops/restore.ts', '--store', 'records', '--to', early, '--dry-run', '--stage', 'prod'],
      /no records table of stage prod in this account/,
    ],
  ])(
    '%j calls nothing with a profile of another account, and takes region and --profile',
    async (argv, message) => {
      await write('marker', 'prod');
      const refused = says(1, /^prod belongs to account 000000000000, but these .* account 999999999999/);
      expect(await run([...argv, '--profile', 'wrong'], profiles)).toMatchObject(refused);
      expect((await readGateFlags(test.ssm, '/prod/gates')).has('C')).toBe(false);
      expect(
        await run([...argv, '--profile', 'right'], { ...profiles, ...WRONG, AWS_REGION: 'eu-west-1' }),
      ).toMatchObject({ stderr: expect.stringMatching(message) as string });
    },
  );

  it('never show gates with credentials of another account, or where the stores left no marker', async () => {
    expect(await run(show, WRONG)).toMatchObject(says(1, /^prod belongs to account 000000000000/));
    expect(await run(show, {})).toMatchObject(says(1, /neither \/prod\/gates\/marker/));
    await write('C', 'closed');
    expect(await run(show, {})).toMatchObject(says(1, /gate flags without \/prod\/gates\/marker/));
  });
});

/** For each stack of the last synth: where it deploys, and whether CloudFormation takes its template. */
async function templates(): Promise<ReadonlySet<string>> {
  const out = join(folder, 'out');
  const read = async (name: string): Promise<unknown> => JSON.parse(await readFile(join(out, name), 'utf8'));
  const { artifacts } = (await read('manifest.json')) as {
    artifacts: Record<string, { type: string; environment?: string }>;
  };
  const stacks = Object.entries(artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack');
  expect(stacks).not.toHaveLength(0);
  return new Set(
    await Promise.all(
      stacks.map(async ([id, { environment = '' }]) => {
        const { Parameters = {} } = (await read(`${id}.template.json`)) as {
          Parameters?: Record<string, { Default?: string; AllowedValues?: readonly string[] }>;
        };
        const isRejected = Object.values(Parameters).some(
          ({ Default: given, AllowedValues: allowed }) =>
            given !== undefined && allowed !== undefined && !allowed.includes(given),
        );
        return `${environment} ${isRejected ? 'rejected' : 'deployable'}`;
      }),
    ),
  );
}
