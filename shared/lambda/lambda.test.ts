import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Context } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDataKeyMaker } from '#shared/stores/kms.ts';
import { createWritableKeySettings } from '#shared/stores/settings-table.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { initKeyRing } from '#shared/keys/administration.ts';
import { problem } from '#shared/problems/registry.ts';
import { localKeyAlias } from '#shared/stage/local-stage.ts';
import { startTestAws } from '#test/support/aws.ts';
import type { TestAws } from '#test/support/aws.ts';
import { createTestIssuer, proxyEvent, testAudience, testIssuerUrl } from '#test/support/lambda.ts';
import type { TestIssuer, TestRequest } from '#test/support/lambda.ts';
import { actOnProbe, readProbe } from '#test/support/probe-routes.ts';
import { createLambda } from './lambda.ts';
import type { BufferedFunction, LambdaFunction } from './lambda-function.ts';
import { processRuntime } from './process-runtime.ts';
import { createReadLambda } from './read-lambda.ts';

let aws: TestAws;
let issuer: TestIssuer;
let keySetServer: Server;
let authorization: string;
let variables: Readonly<Record<string, string>>;
const lines: string[] = [];

beforeAll(async () => {
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
  aws = await startTestAws();
  issuer = await createTestIssuer();
  keySetServer = createServer((_, response) => response.end(JSON.stringify(issuer.jwks)));
  await new Promise<void>((resolve) => keySetServer.listen(0, '127.0.0.1', resolve));
  const { port } = keySetServer.address() as AddressInfo;
  variables = {
    ...aws.env,
    TOKEN_ISSUER: testIssuerUrl,
    TOKEN_AUDIENCE: testAudience.mastery,
    TOKEN_JWKS_URL: `http://127.0.0.1:${port}/keys`,
    TOKEN_ALGORITHMS: 'ES256',
    PROBLEMS_URL: 'https://docs.example/problems',
  };
  await initKeyRing({
    settings: createWritableKeySettings(aws.dynamo, aws.env['SETTINGS_TABLE'] ?? ''),
    kms: createDataKeyMaker(aws.kms, localKeyAlias),
    stage: aws.env['STAGE'] ?? '',
    clock: Date.now,
  });
  const now = Math.floor(Date.now() / 1000);
  authorization = `Bearer ${await issuer.sign({ iat: now, exp: now + 600 })}`;
});
beforeEach(() => {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await new Promise((resolve) => keySetServer.close(resolve));
  await aws.close();
});

async function invoke(handler: LambdaFunction, row: Parameters<typeof proxyEvent>[0], request: TestRequest) {
  const context = { awsRequestId: crypto.randomUUID(), getRemainingTimeInMillis: () => 29_000 } as Context;
  const defaults = { Authorization: authorization, 'Idempotency-Key': 'key-1' };
  // SAFETY: the probes are buffered.
  const answer = await (handler as BufferedFunction)(
    proxyEvent(row, { path: { probeId: 'p' }, ...request }, defaults),
    context,
  );
  return { status: answer.statusCode, body: JSON.parse(answer.body) as Record<string, unknown> };
}

describe('a function bound to its environment', () => {
  it('keeps its control records in DynamoDB under a key of the ring, and resumes from there in another container [MA-190, MA-191]', async () => {
    const row = actOnProbe('mastery');
    const replayed: boolean[] = [];
    const container = (): LambdaFunction =>
      createLambda(row, () => async ({ idempotent, body }) => {
        const done = await idempotent((control) => {
          replayed.push(control.replayed);
          return Promise.resolve(
            body.attemptId === 'final'
              ? err(problem('mastery', 'calibration-invalid', 422))
              : ok(control.operationId),
          );
        });
        return done.ok ? ok({ body: { seen: {}, operation: done.value } }) : done;
      })(processRuntime());
    const [first, second] = [container(), container()];
    const original = await invoke(first, row, { body: { attemptId: 'a' } });
    const repeated = await invoke(second, row, { body: { attemptId: 'a' } });
    expect(original.status).toBe(201);
    expect(repeated).toEqual(original);
    expect(replayed).toEqual([false, true]);
    expect((await invoke(second, row, { body: { attemptId: 'b' } })).status).toBe(409);

    const failing = { body: { attemptId: 'final' }, headers: { 'Idempotency-Key': 'key-2' } };
    expect((await invoke(first, row, failing)).status).toBe(422);
    expect((await invoke(second, row, failing)).status).toBe(422);
    expect(replayed).toEqual([false, true, false, true]);
    expect(lines.join('')).toContain('OPERATION_SETTLED');
    expect(lines.join('')).not.toContain('key-2');
  });

  it('does its work once for many identical requests that arrive together', async () => {
    const row = actOnProbe('mastery');
    const operations = new Set<string>();
    const handler = createLambda(row, () => async ({ idempotent }) => {
      const done = await idempotent((control) => {
        operations.add(control.operationId);
        return Promise.resolve(ok(control.operationId));
      });
      return done.ok ? ok({ body: { seen: {}, operation: done.value } }) : done;
    })(processRuntime());
    const request = { body: { attemptId: 'a' }, headers: { 'Idempotency-Key': 'key-3' } };
    const answers = await Promise.all(Array.from({ length: 8 }, () => invoke(handler, row, request)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(operations.size).toBe(1);
  });

  it('that takes no key touches neither the control table nor the key ring', async () => {
    vi.stubEnv('CONTROL_TABLE', undefined);
    vi.stubEnv('SETTINGS_TABLE', undefined);
    const row = readProbe('mastery');
    const handler = createReadLambda(
      row,
      () =>
        ({ path }) =>
          Promise.resolve(ok({ body: { seen: path } })),
    )(processRuntime());
    expect(await invoke(handler, row, {})).toEqual({ status: 200, body: { seen: { probeId: 'p' } } });
  });
});
