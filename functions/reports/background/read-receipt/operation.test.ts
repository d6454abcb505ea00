import { createHash, randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { beforeEach, describe, expect, it } from 'vitest';
import { sealReceiptLink } from '#functions/reports/receipts/link.ts';
import type { Gate } from '#shared/contract/gates.ts';
import { reportsProblem } from '#shared/contract/reports/problem.ts';
import type { PipelineAnswer } from '#shared/http/answers.ts';
import { EnvironmentError } from '#shared/http/environment.ts';
import type { Bundle } from '#shared/improvement/receipts.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import type { ReleaseState } from '#shared/release/release-state.ts';
import { createMemoryKeyRing } from '#test/support/key-ring.ts';
import { wholeRelease } from '#test/support/release.ts';
import { createReceiptFunction } from './operation.ts';
import type { ReceiptDependencies } from './operation.ts';

const NOW = Date.parse('2026-03-01T08:00:00.750Z');
const TENANT = 'tenant-a';
const keys = createMemoryKeyRing();

function bundleOf(text: string, mediaType: Bundle['mediaType'] = 'application/json'): Bundle {
  const bytes = new TextEncoder().encode(text);
  return { bytes, mediaType, sha256: createHash('sha256').update(bytes).digest('hex') };
}
const bundle = bundleOf('{"digest":"é"}');

/** Tenant and digest of every read of the bucket. */
let asked: string[];
let lines: string[];
beforeEach(() => {
  asked = [];
  lines = [];
});

const bucket: ReceiptDependencies['store'] = {
  get(tenantId, sha256) {
    asked.push(`${tenantId} ${sha256}`);
    return Promise.resolve(tenantId === TENANT && sha256 === bundle.sha256 ? bundle.bytes : undefined);
  },
};

interface Request {
  readonly sha256: string;
  readonly query: Readonly<Record<string, readonly string[]>>;
}

async function linkTo(
  receipt: { readonly tenantId?: string } & Pick<Bundle, 'sha256' | 'mediaType'> = bundle,
  now = NOW,
): Promise<Request> {
  const { sha256, mediaType, tenantId = TENANT } = receipt;
  const link = await sealReceiptLink(keys, 'https://receipts.example', { tenantId, sha256, mediaType }, now);
  const { searchParams } = new URL(link.downloadUrl);
  return { sha256, query: Object.fromEntries([...searchParams].map(([name, value]) => [name, [value]])) };
}

function eventOf(
  { sha256, query }: Request,
  change: Partial<APIGatewayProxyEvent> = {},
): APIGatewayProxyEvent {
  const lists = Object.entries(query).map(([name, values]): [string, string[]] => [name, [...values]]);
  return {
    resource: '/{sha256}',
    path: `/receipts/${sha256}`,
    httpMethod: 'GET',
    headers: {},
    multiValueHeaders: {},
    queryStringParameters: Object.fromEntries(lists.map(([name, values]) => [name, values.at(-1) ?? ''])),
    multiValueQueryStringParameters: Object.fromEntries(lists),
    pathParameters: { sha256 },
    stageVariables: null,
    body: null,
    isBase64Encoded: false,
    requestContext: { requestId: randomUUID() } as APIGatewayProxyEvent['requestContext'],
    ...change,
  };
}

async function answerTo(
  event: APIGatewayProxyEvent,
  bind: () => ReceiptDependencies = () => ({ keys, store: bucket }),
  state: ReleaseState = wholeRelease,
): Promise<PipelineAnswer<Uint8Array>> {
  const pipeline = createReceiptFunction(
    {
      environment: { PROBLEMS_URL: 'https://docs.example/problems' },
      now: () => NOW,
      random: (bytes) => new Uint8Array(bytes).fill(7),
      write: (line) => lines.push(line),
    },
    bind,
    () => () => Promise.resolve({ state }),
  );
  return pipeline(event, {
    awsRequestId: randomUUID(),
    getRemainingTimeInMillis: () => 29_000,
  } as Context);
}

function textOf({ body }: PipelineAnswer<Uint8Array>): string {
  if (typeof body !== 'string') throw new TypeError('bytes, where a problem was expected');
  return body;
}

/** All of a refusal but what names the request. */
function refusalOf(answer: PipelineAnswer<Uint8Array>): object {
  const { statusCode, headers, gzip } = answer;
  const text = textOf(answer);
  const document = reportsProblem.parse(JSON.parse(text));
  expect(document.instance).toBe(`urn:uuid:${document.requestId}`);
  expect(headers['X-Request-Id']).toBe(document.requestId);
  return {
    statusCode,
    gzip,
    headers: { ...headers, 'X-Request-Id': '' },
    body: { ...document, requestId: '', traceId: '', instance: '' },
    length: text.length,
  };
}

describe('the function of receipts', () => {
  it('answers an unexpired link with the very bytes, as a download that nobody keeps [RP-211, RP-212]', async () => {
    const answer = await answerTo(eventOf(await linkTo()));
    expect(answer).toMatchObject({ statusCode: 200, body: bundle.bytes, gzip: false });
    expect(answer.headers).toMatchObject({
      'Content-Type': 'application/json',
      'Content-Disposition': `attachment; filename="${bundle.sha256}.json"`,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      Vary: 'Accept-Encoding',
    });
    expect(asked).toEqual([`${TENANT} ${bundle.sha256}`]);
  });

  it('names a file by its media type, and may compress it for a caller that takes gzip [RP-210]', async () => {
    const zip = bundleOf('PK', 'application/zip');
    const headers = { 'Accept-Encoding': ['br, gzip'] };
    const answer = await answerTo(eventOf(await linkTo(zip), { multiValueHeaders: headers }), () => ({
      keys,
      store: { get: () => Promise.resolve(zip.bytes) },
    }));
    expect(answer).toMatchObject({ statusCode: 200, gzip: true });
    expect(answer.headers).toMatchObject({
      'Content-Type': 'application/zip',
      'Content-Disposition': `attachment; filename="${zip.sha256}.zip"`,
    });
  });

  it('answers whatever is wrong with one and the same 404, and asks the bucket only for who holds a link [RP-212, RP-213]', async () => {
    const link = await linkTo();
    const { expires = [], signature = [] } = link.query;
    const with_ = (query: Request['query'], sha256 = link.sha256): APIGatewayProxyEvent =>
      eventOf({ sha256, query });
    const other = await linkTo(bundleOf('other'));
    const foreign = await linkTo({ ...bundle, tenantId: 'tenant-b' });
    const wrong: Readonly<Record<string, APIGatewayProxyEvent>> = {
      'no query': eventOf(link, { queryStringParameters: null, multiValueQueryStringParameters: null }),
      'no signature': with_({ expires }),
      'no expiry': with_({ signature }),
      'an empty signature': with_({ expires, signature: [''] }),
      'a signature twice': with_({ expires, signature: [...signature, ...signature] }),
      'an expiry twice': with_({ expires: [...expires, ...expires], signature }),
      'a parameter more': with_({ ...link.query, download: ['1'] }),
      'a parameter in another case': with_({ Expires: expires, signature }),
      'a later expiry': with_({ expires: [String(Number(expires[0]) + 1)], signature }),
      'the signature of another bundle': with_({ expires, signature: other.query['signature'] ?? [] }),
      'another bundle’s path': with_(link.query, other.sha256),
      'a path in capitals': with_(link.query, link.sha256.toUpperCase()),
      'a path with an escape': with_(
        link.query,
        `%${link.sha256.charCodeAt(0).toString(16)}${link.sha256.slice(1)}`,
      ),
      'a path that is no digest': with_(link.query, '..%2f..'),
      'no path parameter': eventOf(link, { pathParameters: null }),
      'a signature that is no token': with_({ expires, signature: ['x'] }),
      'an expired link': eventOf(await linkTo(bundle, NOW - 300_000)),
      'another method': eventOf(link, { httpMethod: 'HEAD' }),
      'a body': eventOf(link, { body: '{}' }),
      'a bundle that is not there': eventOf(other),
      'a bundle that another tenant has': eventOf(foreign),
    };
    const expected = refusalOf(await answerTo(with_({})));
    expect(expected).toMatchObject({
      statusCode: 404,
      body: { type: 'https://docs.example/problems/not-found', status: 404 },
    });
    for (const [what, event] of Object.entries(wrong))
      expect(refusalOf(await answerTo(event)), what).toEqual(expected);
    expect(asked).toEqual([`${TENANT} ${other.sha256}`, `tenant-b ${bundle.sha256}`]);
    // An unknown key.
    const forgetful: KeyRing = { ...keys, open: () => Promise.resolve(undefined) };
    const store = { get: () => Promise.reject(new Error('nobody holds a link')) };
    expect(refusalOf(await answerTo(eventOf(link), () => ({ keys: forgetful, store })))).toEqual(expected);
  });

  it.each([
    [
      'keys',
      (): ReceiptDependencies => ({
        keys: { ...keys, open: () => Promise.reject(new Error('KMS is down')) },
        store: bucket,
      }),
    ],
    [
      'bucket',
      (): ReceiptDependencies => ({ keys, store: { get: () => Promise.reject(new Error('S3 is down')) } }),
    ],
    [
      'environment',
      (): never => {
        throw new EnvironmentError(['RECEIPTS_BUCKET']);
      },
    ],
  ] as const)('answers an outage of its %s with a 500 [RP-324]', async (_, bind) => {
    const answer = await answerTo(eventOf(await linkTo()), bind);
    expect(answer.statusCode).toBe(500);
    expect(reportsProblem.parse(JSON.parse(textOf(answer))).type).toMatch(/\/internal-error$/);
    expect(lines.join('')).toMatch(/REQUEST_FAILED|ENVIRONMENT_INVALID/);
  });

  it('answers nobody while a gate is withdrawn, and looks at nothing', async () => {
    const unasked = (): never => {
      throw new Error('must not be bound');
    };
    const state = { ...wholeRelease, open: new Set<Gate>(['A', 'B', 'C', 'D']) };
    for (const event of [eventOf(await linkTo()), eventOf({ sha256: 'x', query: {} })]) {
      const answer = await answerTo(event, unasked, state);
      expect(answer.statusCode).toBe(503);
      expect(reportsProblem.parse(JSON.parse(textOf(answer)))).toMatchObject({
        type: 'https://docs.example/problems/dependency-unavailable',
        retryable: true,
      });
    }
    expect(lines.join('')).toMatch(/"code":"RELEASE_WITHDRAWN"[^}]*"missing":\["F"\]/);
  });

  it('logs that it was asked and what came of it, and nothing of a link', async () => {
    const link = await linkTo();
    const absent = await linkTo(bundleOf('other'));
    await answerTo(eventOf(link));
    await answerTo(eventOf(absent));
    await answerTo(eventOf({ ...link, query: { ...link.query, [link.sha256]: ['x'] } }));
    const codes = lines.map((line) => (JSON.parse(line) as { readonly code: string }).code);
    expect(codes).toEqual([
      'REQUEST_STARTED',
      'REQUEST_COMPLETED',
      'REQUEST_STARTED',
      'RECEIPT_ABSENT',
      'REQUEST_COMPLETED',
      'REQUEST_STARTED',
      'REQUEST_COMPLETED',
    ]);
    const said = lines.join('');
    for (const request of [link, absent])
      for (const secret of [request.sha256, TENANT, ...Object.values(request.query).flat()])
        expect(said).not.toContain(secret);
  });
});
