import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFunctionPool } from '#local/gateway/function-pool.ts';
import type { FunctionPool } from '#local/gateway/function-pool.ts';
import { answerOfGateway } from '#local/gateway/gateway-response.ts';
import { startGateway } from '#local/gateway/gateway.ts';
import type { Gateway } from '#local/gateway/gateway.ts';
import { projectRoot } from '#tools/bundling/build.ts';
import { bundle } from '#tools/bundling/bundle.ts';
import { testAudience, testIssuer, testIssuerUrl } from '#test/support/lambda.ts';
import { streamedProbe } from '#test/support/probe-routes.ts';

// A streamed route from end to end: the pipeline in a bundle, in an environment, behind the gateway.

const route = streamedProbe();
const problemsUrl = 'https://docs.example/problems';

let directory: string;
let keySetServer: Server;
let pool: FunctionPool;
let gateway: Gateway;
let authorization: string;
let output = '';

beforeAll(async () => {
  const now = Math.floor(Date.now() / 1000);
  authorization = `Bearer ${await testIssuer.sign({ iat: now, exp: now + 600 })}`;
  keySetServer = createServer((_, response) => response.end(JSON.stringify(testIssuer.jwks)));
  await new Promise<void>((resolve) => keySetServer.listen(0, '127.0.0.1', resolve));

  const { operationId } = route;
  const built = await bundle(projectRoot, [{ operationId, handler: 'test/support/streamed-probe.ts' }]);
  if (!built.ok) throw new Error(built.error.join('\n'));
  directory = await mkdtemp(join(tmpdir(), 'streamed-'));
  const file = join(directory, 'index.mjs');
  await writeFile(file, built.value[0]?.code ?? '');
  pool = createFunctionPool(
    [
      {
        name: operationId,
        bundleUrl: pathToFileURL(file).href,
        memoryMb: 128,
        timeoutSeconds: 10,
        variables: {
          STAGE: 'test',
          TOKEN_ISSUER: testIssuerUrl,
          TOKEN_AUDIENCE: testAudience.reports,
          TOKEN_JWKS_URL: `http://127.0.0.1:${(keySetServer.address() as AddressInfo).port}/keys`,
          TOKEN_ALGORITHMS: 'ES256',
          PROBLEMS_URL: problemsUrl,
        },
      },
    ],
    1,
    () => (text) => {
      output += text;
    },
  );
  gateway = await startGateway(0, () => ({
    stage: 'test',
    services: [{ service: 'reports', basePath: '/reports', routes: [route] }],
    pool,
    gatewayResponse: answerOfGateway(problemsUrl),
    page: () => undefined,
  }));
});
afterAll(async () => {
  await gateway.close();
  await new Promise((resolve) => keySetServer.close(resolve));
  await rm(directory, { recursive: true });
});

/** Asks without any decoding on the way; the body is still to be read. */
function ask(probeId: string, headers: Readonly<Record<string, string>> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpRequest(
      `${gateway.url}/reports/v1/probes/${probeId}`,
      { headers: { Authorization: authorization, ...headers } },
      resolve,
    )
      .on('error', reject)
      .end();
  });
}

describe('a streamed route', () => {
  it('answers more than 6 MB as JSON, whole and compressed alike [RP-224]', async () => {
    const plain = await ask('large');
    expect(plain.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      vary: 'Accept-Encoding',
      'transfer-encoding': 'chunked',
    });
    expect(plain.headers['content-encoding']).toBeUndefined();
    const text = await buffer(plain);
    expect(text.length).toBeGreaterThan(6 * 1024 * 1024);
    const { seen } = JSON.parse(text.toString()) as { seen: { rows: readonly { text: string }[] } };
    expect(seen.rows).toHaveLength(10_000);
    expect(seen.rows[9_999]?.text).toBe('é"\\\n'.repeat(200));

    const compressed = await ask('large', { 'Accept-Encoding': 'br;q=0.5, gzip' });
    expect(compressed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    const bytes = await buffer(compressed);
    expect(bytes.length).toBeLessThan(text.length / 20);
    expect(gunzipSync(bytes).equals(text)).toBe(true);
  });

  it.each(['broken', 'dead'])(
    'that breaks off in the middle cannot be taken for a whole answer: %s',
    async (probeId) => {
      for (const headers of [{}, { 'Accept-Encoding': 'gzip' }]) {
        output = '';
        const response = await ask(probeId, headers);
        expect(response.statusCode).toBe(200);
        await expect(buffer(response)).rejects.toThrow('aborted');
        if (probeId === 'broken') expect(output).toContain('"code":"ANSWER_BROKEN"');
        expect(output).not.toContain('canary');
      }
      expect((await ask('small')).statusCode).toBe(200);
    },
  );

  it('ends quietly when its caller hangs up, and serves the next one', async () => {
    output = '';
    (await ask('large')).destroy();
    await expect.poll(() => output, { timeout: 10_000 }).toContain('"code":"ANSWER_ABANDONED"');
    expect(output).not.toMatch(/Error|ANSWER_BROKEN/);
    expect((await buffer(await ask('small'))).toString()).toBe('{"seen":{}}');
  });
});
