import { beforeAll, describe, expect, it } from 'vitest';
import { openContinuation, sealContinuation } from '#functions/mastery/continuation/continuation.ts';
import { localCredentials, localStage, localTableName } from '#shared/stage/local-stage.ts';
import { localRegion } from '#shared/stage/local-stage.ts';
import { createEndpointClients } from '#shared/stores/endpoint-clients.ts';
import { createDataKeyOpener } from '#shared/stores/kms.ts';
import { createKeySettings } from '#shared/stores/settings-table.ts';
import { advanceAdaptiveRun, inspectAdaptiveRun } from '#shared/contract/mastery/routes.ts';
import { createKeyRing } from '#shared/keys/create-key-ring.ts';
import { openAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { indistinguishable } from '#test/support/gateway-call.ts';
import { callMastery, refusalOf } from '#test/support/mastery-call.ts';
import type { GatewayReply } from '#test/support/gateway-call.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { useTestStack } from '#test/support/stack.ts';

const HOUR = 3_600_000;

const stack = useTestStack();
let good: string;
let foreign: string;
/** Sealed by the stack's own key, 25 hours ago; and a run of eight days ago whose token has just been renewed. */
let expired: string;
let tooOld: string;
beforeAll(async () => {
  const token = async (tenantId: string): Promise<string> => {
    const runs = openAdaptiveRuns(stack, tenantId);
    const { body } = await runs.start().sendForRun();
    runs.close();
    return body.continuationToken;
  };
  [good, foreign] = await Promise.all([token('tenant-aurora'), token('tenant-borealis')]);
  const clients = createEndpointClients({
    endpoint: stack.urls.awsUrl,
    region: localRegion,
    credentials: localCredentials,
  });
  const keys = createKeyRing({
    settings: createKeySettings(clients.dynamo, localTableName('settings')),
    kms: createDataKeyOpener(clients.kms),
    stage: localStage,
    purposes: ['continuation'],
    clock: Date.now,
  });
  const opened = await openContinuation(keys, good, 'tenant-aurora', Date.now());
  if (!opened.ok) throw new Error(opened.error);
  const { state } = opened.value;
  expired = (await sealContinuation(keys, state, Date.now() - 25 * HOUR)).token;
  const started = { ...state, startedAt: Date.now() - 8 * 24 * HOUR };
  tooOld = (await sealContinuation(keys, started, Date.now() - HOUR)).token;
  clients.destroy();
});

/** The token's parts, to be spoilt one at a time. */
function parts(token: string): [string, string, string, string, string] {
  return token.split('.') as [string, string, string, string, string];
}

function withHeader(change: object): string {
  const [header, ...rest] = parts(good);
  const decoded = JSON.parse(Buffer.from(header, 'base64url').toString()) as object;
  return [Buffer.from(JSON.stringify({ ...decoded, ...change })).toString('base64url'), ...rest].join('.');
}

function flipped(text: string, at = Math.floor(text.length / 2)): string {
  const replacement = text[at] === 'A' ? 'B' : 'A';
  return `${text.slice(0, at)}${replacement}${text.slice(at + 1)}`;
}

describe.each([inspectAdaptiveRun, advanceAdaptiveRun])('the continuation of $operationId', (route) => {
  const send = (continuationToken: unknown): Promise<GatewayReply> =>
    callMastery(stack, route, {
      body: { continuationToken },
      ...(route.request.ifMatch ? { ifMatch: '"x"' } : {}),
    });
  /** What is answered, and that no owner was asked for it. */
  async function refused(token: unknown): Promise<GatewayReply> {
    const { result, calls } = await callsDuring(stack, () => send(token));
    expect(calls).toEqual([]);
    return result;
  }

  it.each<[string, () => string]>([
    ['zip', () => withHeader({ zip: 'DEF' })],
    ['crit', () => withHeader({ crit: ['exp'], exp: 1 })],
    ['another algorithm', () => withHeader({ alg: 'A256KW' })],
    ['another encryption', () => withHeader({ enc: 'A128GCM' })],
    ['another type', () => withHeader({ typ: 'JWT' })],
    ['a header that is no JSON', () => parts(good).with(0, 'AAAA').join('.')],
  ])('%s: 400, malformed [MA-059, MA-061]', async (_, token) => {
    expect(refusalOf(await refused(token()))).toBe('400 invalid-request /body/continuationToken malformed');
  });

  it.each([
    ['25 hours old', () => expired],
    ['of a run of eight days ago', () => tooOld],
  ])('%s: 400, expired [MA-060, MA-061, MA-062]', async (_, token) => {
    expect(refusalOf(await refused(token()))).toBe('400 invalid-request /body/continuationToken expired');
  });

  it('tampered with, under an unknown key, or of another tenant: one hidden 404 that tells nothing [MA-061, MA-159]', async () => {
    const [header, key, iv, ciphertext, tag] = parts(good);
    const replies = [
      await refused([header, key, flipped(iv), ciphertext, tag].join('.')),
      await refused([header, key, iv, flipped(ciphertext), tag].join('.')),
      await refused([header, key, iv, ciphertext, flipped(tag, 0)].join('.')),
      await refused([header, key, iv, ciphertext.slice(0, -4), tag].join('.')),
      await refused(withHeader({ kid: 'nobody-s' })),
      await refused(foreign),
    ];
    expect(replies.map(refusalOf)).toEqual(replies.map(() => '404 resource-not-found'));
    expect(new Set(replies.map((reply) => JSON.stringify(indistinguishable(reply)))).size).toBe(1);
  });

  it('is judged by what it holds, never by its length [MA-064]', async () => {
    const [header, key, iv, ciphertext, tag] = parts(good);
    const long = [header, key, iv, `${ciphertext}${'A'.repeat(200_000)}`, tag].join('.');
    expect(refusalOf(await refused(long))).toBe('404 resource-not-found');
  });
});
