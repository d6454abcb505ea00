import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LocalChange } from '#local/aws/account.ts';
import { stackName, type StackId } from '#shared/stage/stack-names.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { NOW, startSoundStage, type SoundStage } from '#test/support/sound-stage.ts';
import { runChecks } from '#ops/doctor/finding.ts';
import { writeGateParameter } from '#shared/stores/gate-parameters.ts';
import { stageChecks } from '#ops/doctor/stage-checks.ts';
import { CHANGE_SET, deployGuided, type Deploying } from './guided.ts';

/*
 * The CDK command line is played: it prepares the change sets of `changes`, and executes them. CloudFormation, and every check, are the
 * emulator's.
 */

const ids = { RecordsAndKeys: 'records-and-keys', Mastery: 'mastery', Reports: 'reports' } as const;
type Id = keyof typeof ids;

const assembly = await mkdtemp(join(tmpdir(), 'assembly-'));
let stage: SoundStage;
/** The changes that CloudFormation would make; a stack without an entry cannot be prepared. */
let changes: Map<Id, readonly LocalChange[]>;
let calls: string[];
let printed: string[];

beforeAll(async () => {
  stage = await startSoundStage();
  const stack = (id: Id, dependencies: readonly string[]) => ({
    type: 'aws:cloudformation:stack',
    dependencies,
    properties: { stackName: stackName('prod', ids[id]), templateFile: 'template.json' },
  });
  const artifacts = {
    Mastery: stack('Mastery', ['RecordsAndKeys', 'Mastery.assets']),
    Reports: stack('Reports', ['RecordsAndKeys']),
    'Mastery.assets': { type: 'cdk:asset-manifest' },
    RecordsAndKeys: stack('RecordsAndKeys', []),
  };
  await writeFile(join(assembly, 'manifest.json'), JSON.stringify({ artifacts }));
  await writeFile(join(assembly, 'template.json'), JSON.stringify({ Resources: { A: {}, B: {} } }));
});
afterAll(() => stage.close());
beforeEach(() => {
  changes = new Map([
    ['RecordsAndKeys', []],
    ['Mastery', [modified]],
    ['Reports', [added, modified, modified]],
  ]);
  [calls, printed] = [[], []];
});
afterEach(() => stage.reset());

const modified: LocalChange = {
  Action: 'Modify',
  LogicalResourceId: 'Function1',
  ResourceType: 'AWS::Lambda::Function',
  Replacement: 'False',
};
const added: LocalChange = {
  Action: 'Add',
  LogicalResourceId: 'Alarm1',
  ResourceType: 'AWS::CloudWatch::Alarm',
};
const lost: LocalChange = {
  ...modified,
  LogicalResourceId: 'Api1',
  ResourceType: 'AWS::ApiGateway::RestApi',
  Replacement: 'True',
};

/** @returns 1 where the CDK would fail */
function cdk(argv: readonly string[]): Promise<number> {
  const [command, id] = argv as readonly [string, Id];
  const method = argv[argv.indexOf('--method') + 1];
  const { account } = stage.test.aws;
  const at = `${stackName('prod', ids[id])}/${CHANGE_SET}`;
  if (command === 'synth') {
    calls.push('synth');
    return Promise.resolve(changes.size === 0 ? 1 : 0);
  }
  calls.push(`${argv.includes('--method') ? String(method) : 'deploy'} ${id}`);
  if (method === 'prepare-change-set') {
    const prepared = changes.get(id);
    if (prepared === undefined) return Promise.resolve(1);
    account.changeSets.set(at, {
      status: prepared.length === 0 ? 'FAILED' : 'CREATE_COMPLETE',
      changes: prepared,
    });
    return Promise.resolve(0);
  }
  if (method === 'execute-change-set' && !account.changeSets.delete(at)) return Promise.resolve(1);
  // What a deployment of the stores gives to the others.
  for (const late of ['Mastery', 'Reports'] as const) if (!changes.has(late)) changes.set(late, [modified]);
  const outputs = account.stacks.get(stackName('prod', ids[id]))?.outputs ?? {};
  account.stacks.set(stackName('prod', ids[id]), {
    status: 'UPDATE_COMPLETE',
    terminationProtection: true,
    outputs,
  });
  return Promise.resolve(0);
}

const deploy = (changed: Partial<Deploying> = {}) =>
  deployGuided({
    subject: () => stage.subject(),
    cdk,
    assembly,
    stacks: [],
    context: ['-c', 'stage=prod'],
    rest: [],
    allowed: new Set(),
    yes: true,
    prepare: false,
    withoutProfiles: false,
    ask: undefined,
    print: (line) => printed.push(line),
    ...changed,
  });

const prepared = [
  'prepare-change-set RecordsAndKeys',
  'prepare-change-set Mastery',
  'prepare-change-set Reports',
];

describe('npm run deploy', () => {
  it('shows every change of every stack, executes what was shown, and ends with checks and addresses', async () => {
    expect(await deploy()).toStrictEqual(ok(undefined));
    expect(calls).toStrictEqual([
      'synth',
      ...prepared,
      'execute-change-set Mastery',
      'execute-change-set Reports',
    ]);
    const text = printed.join('\n');
    expect(text).toContain(
      'mastery-reports-prod-records-and-keys: no changes\nmastery-reports-prod-mastery:\n  modify            AWS::Lambda::Function  Function1',
    );
    expect(text).toContain('  add               AWS::CloudWatch::Alarm  Alarm1');
    expect(text.match(/Function1/g)).toHaveLength(3);
    expect(text).toContain('ok       health       mastery: https://mastery.test/v1/');
    expect(printed.slice(-2)).toStrictEqual([
      'mastery-reports-prod-reports BaseUrl: https://reports.test',
      'mastery-reports-prod-reports ReceiptsUrl: https://receipts.test',
    ]);
    expect(printed).toContain(
      'mastery-reports-prod-documentation SandboxUrl: https://docs.school.org/sandbox',
    );
  });

  it('stops before anything is deployed when an address would be lost, unless that is allowed by name', async () => {
    changes.set('Reports', [modified, modified, lost]);
    expect(await deploy()).toStrictEqual(
      err(
        expect.stringMatching(
          /replace +AWS::ApiGateway::RestApi {2}Api1 of mastery-reports-prod-reports\n.*--allow-replacement Api1\nNothing was deployed/,
        ),
      ),
    );
    expect(calls).toStrictEqual(['synth', ...prepared]);
    expect(await deploy({ allowed: new Set(['Api1']) })).toMatchObject({ ok: true });
  });

  it('asks; without a terminal it says how to agree', async () => {
    const questions: string[] = [];
    const ask = (answer: boolean) => (question: string) => {
      questions.push(question);
      return Promise.resolve(answer);
    };
    expect(await deploy({ yes: false })).toMatchObject({ error: expect.stringContaining('--yes') as string });
    expect(await deploy({ yes: false, ask: ask(false) })).toMatchObject({ error: 'not deployed' });
    expect(calls.filter((call) => call.startsWith('execute'))).toStrictEqual([]);
    expect(await deploy({ yes: false, ask: ask(true) })).toMatchObject({ ok: true });
    expect(questions).toHaveLength(2);
    calls = [];
    expect(await deploy({ yes: false, prepare: true })).toMatchObject({ ok: true });
    expect(calls).toStrictEqual(['synth', ...prepared]);
  });

  it('makes the keys of a first deployment before the first function that needs them', async () => {
    const { account } = stage.test.aws;
    await stage.beforeKeys();
    for (const id of Object.values(ids) as readonly StackId[]) account.stacks.delete(stackName('prod', id));
    const keysAt: Record<string, string | undefined> = {};
    const watched: Deploying['cdk'] = async (argv) => {
      if (argv[0] === 'deploy')
        keysAt[argv[1]!] = (await runChecks({ keys: stageChecks.keys }, stage.subject()))[0]?.status;
      return cdk(argv);
    };
    expect(await deploy({ stacks: ['Mastery'], cdk: watched })).toMatchObject({ ok: false });
    expect(calls).toStrictEqual(['synth', 'deploy RecordsAndKeys', 'deploy Mastery']);
    expect(keysAt).toStrictEqual({ RecordsAndKeys: undefined, Mastery: 'ok' });
    expect(printed).toContain('mastery-reports-prod-mastery: a new stack of 2 resources');
    expect(printed.join('\n')).toMatch(/ok +keys +5 purposes have one active key each/);
  });

  describe('service profiles that new functions would not find', () => {
    const name = '/prod/profiles/dGVuYW50Mg';
    beforeEach(async () => {
      for (const [parameter, value] of [
        ['PLATFORM_TENANT', 'tenant2'],
        ['PLATFORM_URL', 'https://platform.school.org'],
        ['PLATFORM_JWT', 'credential'],
      ] as const)
        await writeGateParameter(stage.test.ssm, `${name}/${parameter}`, value);
    });

    it('are stored before any stack is deployed', async () => {
      expect(await deploy()).toStrictEqual(ok(undefined));
      const stored = printed.findIndex((line) => line.includes('mended: profile of tenant2: stored'));
      expect(stored).toBeGreaterThan(-1);
      expect(printed.at(-1)).toContain('ReceiptsUrl');
      expect(printed.join('\n')).toContain('2 service profiles are complete, and as functions read them');
    });

    it.each([
      ['cannot be stored', 'Encrypt', 2, /dGVuYW50Mg is not stored/],
      ['cannot be looked at', 'GetParametersByPath', 2, /profiles +not checked: AWS refused/],
    ])(
      'and that %s stop it with the command, unless it may go on without them',
      async (_, call, count, why) => {
        const refuse = () => stage.test.aws.faults.refuse(call, 'AccessDeniedException', count);
        const guard: Deploying['cdk'] = (argv) => {
          // The checks before have had their answers.
          if (argv[1] === 'Reports' && argv.includes('prepare-change-set')) refuse();
          return cdk(argv);
        };
        const stopped = await deploy({ cdk: guard });
        expect(stopped).toMatchObject({ ok: false, error: expect.stringMatching(why) as string });
        expect(stopped).toMatchObject({
          error: expect.stringContaining('npm run release -- profile --all --stage prod') as string,
        });
        expect(calls.filter((each) => each.startsWith('execute'))).toStrictEqual([]);
        await deploy({ cdk: guard, withoutProfiles: true });
        expect(calls.filter((each) => each.startsWith('execute'))).toHaveLength(2);
      },
    );
  });

  it('prepares a stack again that reads what is not there yet', async () => {
    changes = new Map([['RecordsAndKeys', [added]]]);
    expect(await deploy()).toMatchObject({ ok: true });
    expect(calls.slice(4)).toStrictEqual([
      'execute-change-set RecordsAndKeys',
      'prepare-change-set Mastery',
      'execute-change-set Mastery',
      'prepare-change-set Reports',
      'execute-change-set Reports',
    ]);
  });

  it.each<readonly [string, RegExp, () => unknown, readonly string[]]>([
    [
      'an account that is not ready',
      /not ready: nothing was changed/,
      () => stage.test.aws.account.settings.clear(),
      [],
    ],
    ['a synthesis that fails', /the synthesis failed/, () => changes.clear(), ['synth']],
    ['an unknown stack', /unknown stack "Maestry": expected Mastery, Reports/, () => undefined, ['synth']],
  ])('%s stops it', async (_, message, spoil, made) => {
    spoil();
    expect(await deploy({ stacks: made.length === 1 && changes.size > 0 ? ['Maestry'] : [] })).toStrictEqual(
      err(expect.stringMatching(message)),
    );
    expect(calls).toStrictEqual(made);
  });

  it('is not stopped by what its role may not look at, but by what it finds', async () => {
    stage.test.aws.faults.refuse('GET /account', 'AccessDeniedException', 2);
    expect(await deploy({ subject: () => ({ ...stage.subject(), now: NOW }) })).toMatchObject({ ok: true });
    expect(printed.join('\n')).toContain('log role     not checked: AWS refused: AccessDeniedException');
    stage.replies.set('https://mastery.test/v1/', [500, 'internal-error']);
    expect(await deploy()).toMatchObject({
      error: expect.stringMatching(/^deployed, but 1 checks failed/) as string,
    });
  });
});
