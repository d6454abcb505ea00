import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checkDeployment, type Verdict } from '#functions/deployment/check-version/check-deployment.ts';
import { localRoles } from '#local/aws/resources.ts';
import { createFunctionPool, type FunctionPool } from '#local/gateway/function-pool.ts';
import { variablesOf } from '#local/stack/function-variables.ts';
import { deployedFunctions } from '#shared/contract/functions.ts';
import { localTableName } from '#shared/stage/local-stage.ts';
import { readProfileItem, writeProfileItem } from '#shared/stores/service-profile-items.ts';
import type { ReleaseKey } from '#shared/release/release-key.ts';
import type { openVersionCheckClients } from '#shared/stores/version-check-clients.ts';
import { startTestAws } from '#test/support/aws.ts';
import { inProcess, sourceOf, type PortsOf } from '#test/support/in-process.ts';
import { createSigner } from '#test/support/release.ts';
import { clientsOf, useTestStack } from '#test/support/stack.ts';

// The check and the functions from their sources, over the emulator of AWS, on a clock of the check's own.

const stack = useTestStack();
const MINUTE_MS = 60_000;
const tenantId = 'tenant-aurora';
const throttled = 'TooManyRequestsException';

/** The functions over an emulator. */
function poolOver(awsUrl: string, ports?: PortsOf, releaseKey = stack.rehearsal.releaseKey): FunctionPool {
  const places = { awsUrl, gatewayUrl: new URL(stack.urls.masteryUrl).origin, releaseKey };
  return createFunctionPool(
    deployedFunctions.map((row) => ({
      name: row.operationId,
      bundleUrl: sourceOf(row),
      ...row.lambda,
      variables: variablesOf(row, places),
    })),
    1,
    () => () => undefined,
    inProcess(ports),
  );
}

/** The clients of a deployment of a function's version 7, whose calls go to the pool. */
function clientsFor(pool: FunctionPool, operationId: string, before: () => void = () => undefined) {
  const content = JSON.stringify({ Properties: { TargetVersion: '7' } });
  const clients = {
    codeDeploy: {
      getDeployment: () => ({ deploymentInfo: { deploymentGroupName: operationId, creator: 'user' } }),
      getApplicationRevision: () => ({ revision: { string: { content } } }),
    },
    lambda: {
      async invoke({ Payload }: { readonly Payload: string }) {
        before();
        const event = JSON.parse(Payload) as unknown;
        const outcome = await pool.invoke(operationId, event, 'request-1', new AbortController().signal);
        if (outcome.kind === 'streaming') return { Payload: await buffer(outcome.stream) };
        return outcome.kind === 'answered'
          ? { Payload: Buffer.from(JSON.stringify(outcome.value)) }
          : { FunctionError: outcome.kind };
      },
    },
  };
  // SAFETY: these are all the calls that a check makes.
  return clients as unknown as ReturnType<typeof openVersionCheckClients>;
}

let pool: FunctionPool;
let minutes: number;
beforeAll(() => {
  pool = poolOver(stack.urls.awsUrl);
});
afterAll(() => pool.close());
beforeEach(() => {
  minutes = 0;
});
afterEach(() => stack.awsFaults.reset());

interface Checked {
  readonly tenant?: string;
  readonly over?: FunctionPool;
  readonly before?: () => void;
}

/** Checks a version, with a clock that only its own waits move. */
function check(operationId: string, { tenant, over = pool, before }: Checked = {}): Promise<Verdict> {
  return checkDeployment('d-1', clientsFor(over, operationId, before), {
    environment: { CANARY_TENANT: tenant },
    now: () => minutes * MINUTE_MS,
    sleep: (milliseconds) => {
      minutes += milliseconds / MINUTE_MS;
      return Promise.resolve();
    },
  });
}

/** Lets AWS reject every call of an operation for the first minutes. */
const rejecting = (operation: string, type: string, until: number) => () =>
  stack.awsFaults.refuse(operation, type, minutes < until ? 1_000 : 0);

describe('a version that cannot use what it needs', () => {
  it.each([
    ['the table is missing', 'startAdaptiveRun', 'Query', 'ResourceNotFoundException', 'keys:continuation'],
    ['the key is disabled', 'startAdaptiveRun', 'Decrypt', 'DisabledException', 'keys:continuation'],
    ['the key is missing', 'readReceipt', 'Decrypt', 'NotFoundException', 'keys:receipt-link'],
    [
      'the keys were wrapped for another stage',
      'listCandidateReports',
      'Decrypt',
      'InvalidCiphertextException',
      'keys:cursor',
    ],
    [
      'the table of records is missing',
      'readSelectionPolicy',
      'GetItem',
      'ResourceNotFoundException',
      'records:read',
    ],
    [
      'a table has another form',
      'sweepImprovementRuns',
      'GetItem',
      'ValidationException',
      'improvement:read-part',
    ],
  ])('is rejected at once where %s: %s', async (_, operationId, operation, type, of) => {
    stack.awsFaults.refuse(operation, type, 1_000);
    expect(await check(operationId)).toEqual({
      kind: 'broken',
      reason: `${operationId}:7: ${of}: ${type}`,
    });
    expect(minutes).toBe(0);
  });

  it.each(['Query', 'Decrypt', 'GetItem'])(
    'is rejected for a denied %s, but not before a new permission is known everywhere',
    async (operation) => {
      const before = rejecting(operation, 'AccessDeniedException', 100);
      expect(await check('startAdaptiveRun', { before })).toMatchObject({
        kind: 'broken',
        reason: expect.stringMatching(/: AccessDeniedException$/) as unknown,
      });
      expect(minutes).toBe(1);
      minutes = 0;
      const known = rejecting(operation, 'AccessDeniedException', 0.5);
      expect(await check('startAdaptiveRun', { before: known })).toEqual({ kind: 'works' });
    },
  );
});

describe('the manifest of the release', () => {
  async function checkWith(...ports: readonly [PortsOf?, ReleaseKey?]): Promise<Verdict> {
    const over = poolOver(stack.urls.awsUrl, ...ports);
    try {
      return await check('readAttemptReport', { over });
    } finally {
      await over.close();
    }
  }

  it('has to be signed with the key that the version trusts', async () => {
    expect(await checkWith(undefined, createSigner().key)).toEqual({
      kind: 'broken',
      reason: 'readAttemptReport:7: release:read: unsigned',
    });
  });

  it('may have expired: no version changes that', async () => {
    expect(await checkWith(() => ({ now: () => Date.now() + 1e12 }))).toEqual({
      kind: 'unproved',
      reason: 'readAttemptReport:7: release:read: expired',
    });
  });
});

describe('an outage', () => {
  it.each([
    ['DynamoDB throttles', 'settings', 'throttles'],
    ['KMS is down', 'kms', 'is down'],
  ] as const)(
    'of nine minutes delays a version, one of eleven lets it pass unproved: %s',
    async (_, store, how) => {
      const until = (end: number) => () => {
        if (minutes < end) stack.awsFaults.break(store, how);
        else stack.awsFaults.reset();
      };
      expect(await check('startAdaptiveRun', { before: until(9) })).toEqual({ kind: 'works' });
      expect(minutes).toBe(9);
      minutes = 0;
      expect((await check('startAdaptiveRun', { before: until(11) })).kind).toBe('unreachable');
      expect(minutes).toBe(10);
    },
  );

  it('of Lambda itself counts as one', async () => {
    const before = (end: number) => () => {
      if (minutes < end) throw Object.assign(new Error(), { name: throttled, $fault: 'client' });
    };
    expect(await check('startAdaptiveRun', { before: before(9) })).toEqual({ kind: 'works' });
    minutes = 0;
    expect(await check('startAdaptiveRun', { before: before(11) })).toEqual({
      kind: 'unreachable',
      reason: `startAdaptiveRun:7: ${throttled}`,
    });
  });
});

describe('the profile of the canary tenant', () => {
  const settings = localTableName('settings');
  /** Checks a version while the stored profile is another one. */
  async function with_(changes: Readonly<Record<string, unknown>>): Promise<Verdict> {
    const { dynamo } = clientsOf(stack);
    const item = await readProfileItem(dynamo, settings, tenantId);
    if (typeof item !== 'object') throw new Error('the tenant has no profile');
    const changed = { ...item, ...changes };
    await writeProfileItem(dynamo, settings, tenantId, changed, item);
    const verdict = await check('readAttemptReport', { tenant: tenantId });
    await writeProfileItem(dynamo, settings, tenantId, item, changed);
    return verdict;
  }
  const reasonOf = (error: string) => `readAttemptReport:7: profiles:read: ${error}`;

  it('is opened', async () => {
    const before = stack.awsCalls('kms', 'Decrypt');
    expect(await check('readAttemptReport', { tenant: tenantId })).toEqual({ kind: 'works' });
    expect(stack.awsCalls('kms', 'Decrypt')).toBe(before + 1);
  });

  it('may be missing or expired: no tenant stops a release', async () => {
    expect(await check('readAttemptReport', { tenant: 'tenant-unknown' })).toEqual({
      kind: 'unproved',
      reason: reasonOf('missing'),
    });
    expect(await with_({ credentialExpiresAt: Date.now() - 1 })).toEqual({
      kind: 'unproved',
      reason: reasonOf('expired'),
    });
  });

  it('must be one that the version can open and use', async () => {
    expect(await with_({ wrappedCredential: new Uint8Array(80) })).toEqual({
      kind: 'broken',
      reason: reasonOf('not-opened'),
    });
    const parameters = { PLATFORM_TENANT: tenantId, PLATFORM_URL: 'https://not-approved.example' };
    expect(await with_({ parameters })).toEqual({ kind: 'broken', reason: reasonOf('invalid') });
  });
});

describe('a stage in which nothing is stored yet', () => {
  it('takes every version', async () => {
    const empty = await startTestAws({ roles: localRoles(deployedFunctions) });
    const over = poolOver(empty.aws.url);
    try {
      for (const { operationId } of deployedFunctions) {
        const { kind } = await check(operationId, { over });
        expect(['works', 'unproved'], operationId).toContain(kind);
      }
    } finally {
      await over.close();
      await empty.close();
    }
  });
});
