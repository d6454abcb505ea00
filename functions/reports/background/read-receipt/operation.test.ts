import { createHash, randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { sealReceiptLink } from '#functions/reports/receipts/link.ts';
import type { PipelineAnswer } from '#shared/http/answers.ts';
import type { Bundle } from '#shared/improvement/receipts.ts';
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
const asked: string[] = [];

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
  store: ReceiptDependencies['store'] = bucket,
): Promise<PipelineAnswer<Uint8Array>> {
  const pipeline = createReceiptFunction(
    {
      environment: { PROBLEMS_URL: 'https://docs.example/problems' },
      now: () => NOW,
      random: (bytes) => new Uint8Array(bytes).fill(7),
      write: () => undefined,
    },
    () => ({ keys, store }),
    () => () => Promise.resolve({ state: wholeRelease }),
  );
  return pipeline(event, {
    awsRequestId: randomUUID(),
    getRemainingTimeInMillis: () => 29_000,
  } as Context);
}

// Over HTTP, with whatever can be wrong with a link: test/contract/reports/receipt-links.test.ts; while a gate is withdrawn: withdrawal.slow.test.ts.
describe('the function of receipts', () => {
  it('names a file by its media type, and may compress it for a caller that takes gzip [RP-210]', async () => {
    const zip = bundleOf('PK', 'application/zip');
    const headers = { 'Accept-Encoding': ['br, gzip'] };
    const answer = await answerTo(eventOf(await linkTo(zip), { multiValueHeaders: headers }), {
      get: () => Promise.resolve(zip.bytes),
    });
    expect(answer).toMatchObject({ statusCode: 200, gzip: true });
    expect(answer.headers).toMatchObject({
      'Content-Type': 'application/zip',
      'Content-Disposition': `attachment; filename="${zip.sha256}.zip"`,
    });
  });

  it('asks the bucket only for a caller that holds a link [RP-212, RP-213]', async () => {
    const link = await linkTo();
    const other = await linkTo(bundleOf('other'));
    const wrong = [
      eventOf({ ...link, query: {} }),
      eventOf({ ...link, query: other.query }),
      eventOf({ ...link, query: { ...link.query, download: ['1'] } }),
      eventOf({ ...link, sha256: other.sha256 }),
      eventOf(link, { pathParameters: null }),
      eventOf(link, { httpMethod: 'HEAD' }),
      eventOf(await linkTo(bundle, NOW - 300_000)),
    ];
    for (const event of [...wrong, eventOf(other)]) expect((await answerTo(event)).statusCode).toBe(404);
    expect(asked).toEqual([`${TENANT} ${other.sha256}`]);
  });
});
