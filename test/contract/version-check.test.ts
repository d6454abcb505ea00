import { copyFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFunctionPool, type FunctionPool } from '#local/gateway/function-pool.ts';
import { variablesOf } from '#local/stack/function-variables.ts';
import { deployedFunctions, versionCheck } from '#shared/contract/functions.ts';
import { grantsOf, type Grant } from '#shared/contract/grants.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { versionCheckStatements } from '#shared/stage/permissions.ts';
import type * as versionCheckHandler from '#functions/deployment/check-version/handler.ts';
import { bundledFunctions, startTestStack, type TestStack } from '#test/support/stack.ts';

// The bundle of the check, with stand-ins for the two packages of Lambda's runtime, calls the bundles of all functions as Lambda would.

type Call = readonly [command: string, input: Readonly<Record<string, unknown>>];

const folder = mkdtempSync(join(tmpdir(), 'version-check-'));
const calls: Call[] = [];
/** What CodeDeploy answers with. */
let deployment: Readonly<Record<string, unknown>>;
let content: string | undefined;
let stack: TestStack;
let pool: FunctionPool;
let check: typeof versionCheckHandler.handler;

const broken = 'throwsAtLoad';
const unset = 'variablesMissing';
const deaf = 'doesNotKnowTheCheck';
/** What the version last called has answered. */
let answered: unknown;

beforeAll(async () => {
  const bundles = bundledFunctions();
  const fileOf = (operationId: string): string =>
    bundles.find((built) => built.operationId === operationId)?.file ?? '';
  stack = await startTestStack();
  const { masteryUrl, awsUrl } = stack.urls;
  const places = { awsUrl, gatewayUrl: new URL(masteryUrl).origin, releaseKey: stack.rehearsal.releaseKey };
  writeFileSync(join(folder, 'broken.mjs'), "throw new Error('does not load');");
  writeFileSync(
    join(folder, 'deaf.mjs'),
    'export const handler = async () => ({ statusCode: 401, body: "" });',
  );
  const { lambda } = startAdaptiveRun;
  pool = createFunctionPool(
    [
      ...deployedFunctions.map((row) => ({
        name: row.operationId,
        bundleUrl: pathToFileURL(fileOf(row.operationId)).href,
        ...row.lambda,
        variables: variablesOf(row, places),
      })),
      { name: deaf, bundleUrl: pathToFileURL(join(folder, 'deaf.mjs')).href, ...lambda, variables: {} },
      { name: broken, bundleUrl: pathToFileURL(join(folder, 'broken.mjs')).href, ...lambda, variables: {} },
      { name: unset, bundleUrl: pathToFileURL(fileOf('startAdaptiveRun')).href, ...lambda, variables: {} },
    ],
    1,
    () => () => undefined,
  );

  Object.assign(globalThis, { versionCheckAws: answer });
  standIn('client-codedeploy', 'CodeDeploy');
  standIn('client-lambda', 'Lambda');
  copyFileSync(fileOf(versionCheck.operationId), join(folder, 'index.mjs'));
  const url = pathToFileURL(join(folder, 'index.mjs')).href;
  ({ handler: check } = (await import(/* @vite-ignore */ url)) as typeof versionCheckHandler);
});
afterAll(async () => {
  Reflect.deleteProperty(globalThis, 'versionCheckAws');
  await pool.close();
  await stack.close();
});
beforeEach(() => {
  calls.length = 0;
  of('startAdaptiveRun');
});

/** A package of Lambda's runtime, whose client hands every call to `answer`. */
function standIn(name: string, client: string): void {
  const place = join(folder, 'node_modules/@aws-sdk', name);
  mkdirSync(place, { recursive: true });
  writeFileSync(
    join(place, 'index.js'),
    `exports.${client} = function () { return new Proxy({}, { get: (_, name) => (input) => globalThis.versionCheckAws(name, input) }); };`,
  );
}

/** A deployment of version 7 of a function. */
function of(operationId: string, changes: Readonly<Record<string, unknown>> = {}): void {
  deployment = {
    applicationName: 'application-1',
    deploymentGroupName: operationId,
    creator: 'CloudFormation',
    revision: { revisionType: 'String', string: { sha256: 'digest' } },
    ...changes,
  };
  const Properties = { Name: operationId, Alias: 'live', CurrentVersion: '6', TargetVersion: '7' };
  content = JSON.stringify({
    version: 0,
    Resources: [{ fn: { Type: 'AWS::Lambda::Function', Properties } }],
  });
}

async function answer(...call: Call): Promise<object> {
  calls.push(call);
  const [command, input] = call;
  switch (command) {
    case 'getDeployment':
      return { deploymentInfo: deployment };
    case 'getApplicationRevision':
      return { revision: { revisionType: 'String', string: { content } } };
    case 'invoke': {
      const [name = ''] = String(input['FunctionName']).split(':');
      const event = JSON.parse(String(input['Payload'])) as unknown;
      const outcome = await pool.invoke(name, event, 'request-1', new AbortController().signal);
      if (outcome.kind === 'streaming' || outcome.kind === 'answered') {
        const Payload =
          outcome.kind === 'streaming'
            ? await buffer(outcome.stream)
            : Buffer.from(JSON.stringify(outcome.value ?? null));
        answered = JSON.parse(Payload.toString());
        return { Payload };
      }
      return { FunctionError: 'Unhandled', Payload: new TextEncoder().encode(JSON.stringify(outcome)) };
    }
    default:
      return {};
  }
}

async function report(): Promise<unknown> {
  await check(
    { DeploymentId: 'd-1', LifecycleEventHookExecutionId: 'hook-1' },
    { awsRequestId: 'invocation-1' },
  );
  const [command, { status, ...hook } = {}] = calls.at(-1) ?? [];
  expect([command, hook]).toEqual([
    'putLifecycleEventHookExecutionStatus',
    { deploymentId: 'd-1', lifecycleEventHookExecutionId: 'hook-1' },
  ]);
  return status;
}

/** The grants that the check can try without writing anything; the rotation lists the keys that it may not open. */
const readable = (grant: Grant): readonly string[] => {
  if (grant === 'ring:rotate') return ['keys:continuation', 'keys:cursor', 'keys:receipt-link'];
  return /^(keys:.*|(records|release|profiles):read|improvement:read-part|control:write)$/.test(grant)
    ? [grant]
    : [];
};

describe('the check of a new version', () => {
  it.each(deployedFunctions)(
    'accepts $operationId as it is bundled, once it has proved each grant that can be read',
    async (deployed) => {
      const { operationId: name } = deployed;
      of(name);
      expect(await report()).toBe('Succeeded');
      expect(calls.filter(([command]) => command === 'invoke')).toMatchObject([
        ['invoke', { FunctionName: `${name}:7` }],
      ]);
      const answersCaller = !('trigger' in deployed) || /^(link|sandbox)$/.test(deployed.trigger);
      const expected = [
        ...new Set(grantsOf(deployed).flatMap(readable)),
        ...(answersCaller ? ['pipeline'] : []),
      ].toSorted();
      // The watcher and the canary only read when they work.
      if (expected.length === 0) expected.push('environment');
      const { versionCheck: proofs } = answered as { versionCheck: readonly { readonly of: string }[] };
      expect(proofs.toSorted((one, other) => (one.of < other.of ? -1 : 1))).toEqual(
        expected.map((grant) => ({ of: grant })),
      );
    },
  );

  it('writes nothing', async () => {
    const writes = ['PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems', 'BatchWriteItem'];
    const written = () => [
      ...writes.map((write) => stack.awsCalls('dynamodb', write)),
      ...(['s3', 'sqs', 'ssm'] as const).map((service) =>
        ['PutObject', 'SendMessage', 'PutParameter'].map((write) => stack.awsCalls(service, write)),
      ),
    ];
    const before = written();
    for (const { operationId } of deployedFunctions) {
      of(operationId);
      await report();
    }
    expect(written()).toEqual(before);
  });

  it('says that a version went live unproved, and lets it', async () => {
    const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    process.env['CANARY_TENANT'] = 'tenant-without-a-profile';
    try {
      expect(await report()).toBe('Succeeded');
      expect(written.mock.calls.map(([line]) => JSON.parse(String(line)) as unknown)).toMatchObject([
        { code: 'VERSION_UNPROVED', reason: 'startAdaptiveRun:7: profiles:read: missing' },
      ]);
    } finally {
      delete process.env['CANARY_TENANT'];
      written.mockRestore();
    }
  });

  it('makes every call that its role allows, and no other', async () => {
    await report();
    const actions = calls.map(([command]) =>
      command === 'invoke'
        ? 'lambda:InvokeFunction'
        : `codedeploy:${command.charAt(0).toUpperCase()}${command.slice(1)}`,
    );
    const granted = versionCheckStatements([], '', []).flatMap(({ Action }) => Action);
    expect(new Set(actions)).toStrictEqual(new Set(granted));
  });

  it('reads the version from an AppSpec in YAML, too', async () => {
    content =
      "Resources:\n  - fn:\n      Properties:\n        CurrentVersion: '6'\n        TargetVersion: '12'\n";
    expect(await report()).toBe('Succeeded');
    expect(calls.map(([, { FunctionName }]) => FunctionName)).toContain('startAdaptiveRun:12');
  });

  it.each<readonly [string, () => void]>([
    ['a version that throws while it is loaded', () => of(broken)],
    ['a version whose variables are missing', () => of(unset)],
    ['a version that answers something else', () => of(deaf)],
    ['a function that does not exist', () => of('unknown')],
    ['a revision that names no version', () => (content = undefined)],
  ])('rejects %s', async (_, set) => {
    set();
    expect(await report()).toBe('Failed');
  });

  it.each(['codeDeployRollback', 'CloudFormationRollback'])('does not hold up %s', async (creator) => {
    of(broken, { creator });
    expect(await report()).toBe('Succeeded');
    expect(calls.map(([command]) => command)).not.toContain('invoke');
  });
});
