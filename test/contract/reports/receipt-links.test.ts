import { createHash, randomBytes } from 'node:crypto';
import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sealReceiptLink } from '#functions/reports/receipts/link.ts';
import { localBucketName, localCredentials, localStage, localTableName } from '#shared/stage/local-stage.ts';
import { localRegion } from '#shared/stage/local-stage.ts';
import { localTenantIds } from '#local/seeds/tenants.ts';
import { createClients, type Clients } from '#shared/stores/clients.ts';
import { createDataKeyOpener } from '#shared/stores/kms.ts';
import { createReceiptBucket } from '#shared/stores/receipt-bucket.ts';
import { createKeySettings } from '#shared/stores/settings-table.ts';
import type { ReceiptLink } from '#shared/contract/reports/receipt-link.ts';
import type { Bundle, ReceiptStore } from '#shared/improvement/receipts.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createKeyRing } from '#shared/keys/create-key-ring.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import { ALWAYS } from '#test/lemmas/faults.ts';
import { indistinguishable, type GatewayReply } from '#test/support/gateway-call.ts';
import { callRaw } from '#test/support/raw-call.ts';
import { reportsAnswerOf } from '#test/support/reports-call.ts';
import { useTestStack } from '#test/support/stack.ts';

// Links to receipts over the whole function: who holds one gets the bytes, everybody else learns nothing.

const TENANT = 'tenant-aurora';

/** How much faster the time limits of functions pass. */
const hurry = { factor: 1 };
const { sleep } = processRuntime();
const stack = useTestStack({
  inProcess: () => ({ sleep: (milliseconds, signal) => sleep(milliseconds / hurry.factor, signal) }),
});
let clients: Clients;
let s3: S3Client;
let keys: KeyRing;
let store: ReceiptStore;
beforeAll(() => {
  const endpoint = { endpoint: stack.urls.awsUrl, region: localRegion, credentials: localCredentials };
  clients = createClients(endpoint);
  s3 = new S3Client(endpoint);
  store = createReceiptBucket(s3, localBucketName);
  keys = createKeyRing({
    settings: createKeySettings(clients.dynamo, localTableName('settings')),
    kms: createDataKeyOpener(clients.kms),
    stage: localStage,
    purposes: ['receipt-link'],
    clock: Date.now,
  });
});
afterEach(() => stack.awsFaults.reset());
afterAll(() => {
  clients.destroy();
  s3.destroy();
});

function bundleOf(content: object): Bundle {
  const bytes = Buffer.from(JSON.stringify(content));
  return { bytes, mediaType: 'application/json', sha256: createHash('sha256').update(bytes).digest('hex') };
}

const small = bundleOf({ of: 'ümlaut' });
const zipped: Bundle = { ...bundleOf({ of: 'an archive' }), mediaType: 'application/zip' };

/** A link that was made some time ago. */
function linkTo(bundle: Bundle, tenantId: string = TENANT, secondsAgo = 0): Promise<ReceiptLink> {
  const { sha256, mediaType } = bundle;
  const receipt = { tenantId, sha256, mediaType };
  return sealReceiptLink(keys, stack.urls.receiptsUrl, receipt, Date.now() - secondsAgo * 1000);
}

const sha256Of = (bytes: ArrayBuffer): string =>
  createHash('sha256').update(Buffer.from(bytes)).digest('hex');

/** What follows `{receipts_url}` in a link. */
const targetOf = ({ downloadUrl }: ReceiptLink): string => downloadUrl.slice(stack.urls.receiptsUrl.length);

function get(target: string, options: Parameters<typeof callRaw>[2] = {}): Promise<GatewayReply> {
  return callRaw(stack.urls.receiptsUrl, target, options);
}

// A busy machine needs a while for megabytes, whole runs and the SDK's own repetitions.
describe('a receipt link', { timeout: 120_000 }, () => {
  it.each(localTenantIds)(
    'gives its holder the very bytes, without a token, as a file of its media type that nobody keeps: %s [RP-210, RP-211, RP-212]',
    async (tenantId) => {
      for (const [bundle, extension] of [
        [small, 'json'],
        [zipped, 'zip'],
      ] as const) {
        await store.put(tenantId, bundle);
        const link = await linkTo(bundle, tenantId);
        expect(link.downloadUrl.startsWith(`${stack.urls.receiptsUrl}/${bundle.sha256}?`)).toBe(true);
        const response = await fetch(link.downloadUrl);
        expect(response.status).toBe(200);
        expect(Object.fromEntries(response.headers)).toMatchObject({
          'content-type': bundle.mediaType,
          'content-disposition': `attachment; filename="${bundle.sha256}.${extension}"`,
          'cache-control': 'no-store, no-transform',
          'x-content-type-options': 'nosniff',
          'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        });
        expect(sha256Of(await response.arrayBuffer())).toBe(link.sha256);
      }
    },
  );

  it('is one 404 for whatever is wrong with it, the same in every byte and header, and only its holder has the bucket asked [RP-212, RP-213]', async () => {
    await store.put(TENANT, small);
    const [link, absent, foreign, expired, forged] = await Promise.all([
      linkTo(small),
      linkTo(bundleOf({ never: 'stored' })),
      linkTo(small, 'tenant-unknown'),
      linkTo(small, TENANT, 301),
      // Under a key that the ring does not have.
      sealReceiptLink(
        { ...keys, active: () => Promise.resolve({ kid: 'k9', key: randomBytes(32) }) },
        stack.urls.receiptsUrl,
        { tenantId: TENANT, sha256: small.sha256, mediaType: small.mediaType },
        Date.now(),
      ),
    ]);
    const target = targetOf(link);
    const [path = '', query = ''] = target.split('?');
    const [expires = '', signature = ''] = query.split('&');
    const wrong: Readonly<Record<string, string>> = {
      'no query': path,
      'no signature': `${path}?${expires}`,
      'no expiry': `${path}?${signature}`,
      'an empty signature': `${path}?${expires}&signature=`,
      'a signature twice': `${target}&${signature}`,
      'an expiry twice': `${target}&${expires}`,
      'a parameter more': `${target}&x=1`,
      'a parameter that AWS would know': `${target}&X-Amz-Signature=1`,
      'a later expiry': target.replace(/expires=\d+/, (text) =>
        text.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10)),
      ),
      'a signature that is no token': `${path}?${expires}&signature=%00`,
      'another digest': target.replace(/^\/./, (text) => (text === '/0' ? '/1' : '/0')),
      'a digest in capitals': target.replace(path, path.toUpperCase()),
      'a digest with an escape': target.replace(
        /^\/(.)/,
        (_, char: string) => `/%${char.charCodeAt(0).toString(16)}`,
      ),
      'a digest that is none': target.replace(path, '/%2e%2e%2fsecret'),
      'an expired link': targetOf(expired),
      'a link that was forged': targetOf(forged),
    };
    const missing = {
      'a link to a bundle that is not there': targetOf(absent),
      'a link of a tenant that has no such bundle': targetOf(foreign),
    };
    expect((await get(target)).status).toBe(200);
    const reference = await get(`/${'0'.repeat(64)}?expires=1&signature=x`);
    expect(reportsAnswerOf(reference)).toBe('404 not-found');
    for (const [cases, isBucketAsked] of [
      [missing, true],
      [wrong, false],
    ] as const) {
      if (!isBucketAsked) stack.awsFaults.unavailable('s3', ALWAYS);
      for (const [what, each] of Object.entries(cases))
        expect(indistinguishable(await get(each)), what).toEqual(indistinguishable(reference));
    }
    expect(reportsAnswerOf(await get(target))).toBe('503 dependency-unavailable unknown');
    const body = await get(target, { headers: [['Content-Type', 'application/json']], body: '{}' });
    expect(indistinguishable(body)).toEqual(indistinguishable(reference));
  });

  it.each(['s3', 'settings', 'kms'] as const)(
    'meets a store that fails with a 503, and works again afterwards: %s [RP-324]',
    async (name) => {
      await store.put(TENANT, small);
      const target = targetOf(await linkTo(small));
      for (const how of ['hangs', ...(name === 's3' ? (['stalls'] as const) : []), 'is down'] as const) {
        // A container keeps the keys that it has.
        await stack.killWorkers('readReceipt');
        stack.awsFaults.break(name, how);
        hurry.factor = how === 'is down' ? 1 : 10;
        expect(reportsAnswerOf(await get(target)), how).toBe('503 dependency-unavailable unknown');
        hurry.factor = 1;
        stack.awsFaults.reset();
        expect((await get(target)).status, how).toBe(200);
      }
    },
  );

  it('leaves nothing of itself in any log line', async () => {
    const bundle = bundleOf({ canary: 'canary-7731' });
    await store.put(TENANT, bundle);
    const before = stack.logs().length;
    const link = await linkTo(bundle);
    const absent = await linkTo(bundleOf({ never: 'there' }), 'canary-tenant');
    await get(targetOf(link));
    await get(`${targetOf(link)}&canary=1`);
    await get(targetOf(absent));
    stack.awsFaults.unavailable('s3', 3);
    await get(targetOf(link));
    const lines = stack.logs().slice(before);
    const codes = lines.map(({ line }) => (line as { readonly code?: string }).code);
    for (const code of ['REQUEST_STARTED', 'REQUEST_COMPLETED', 'RECEIPT_ABSENT', 'STORE_UNAVAILABLE'])
      expect(codes).toContain(code);
    const said = JSON.stringify(lines);
    for (const { sha256, downloadUrl } of [link, absent]) {
      const { searchParams } = new URL(downloadUrl);
      for (const secret of [sha256, ...searchParams.values(), 'canary', TENANT])
        expect(said).not.toContain(secret);
    }
  });
});
