import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readSelectionPolicy } from '#shared/contract/mastery/routes.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { createMemoryRecordsTable } from '#test/support/memory-records.ts';
import type { MemoryRecordsTable } from '#test/support/memory-records.ts';
import { preparePolicy, writeRecord } from '#shared/records/release.ts';
import type { PreparedRecord } from '#shared/records/release.ts';
import { samplePolicyFile } from '#test/support/sample-files.ts';
import { createRecordStore } from '#shared/records/store.ts';
import { createTestIssuer, testLambda } from '#test/support/lambda.ts';
import type { TestAnswer, TestIssuer, TestLambda, TestRequest } from '#test/support/lambda.ts';
import { readSelectionPolicyOperation } from './operation.ts';

const OWN = 'policy-of-aurora';
const FOREIGN = 'policy-of-borealis';
const SYSTEM = 'policy-of-the-system';
const deprecationUrl = 'https://docs.example/problems/deprecation';

let issuer: TestIssuer;
let table: MemoryRecordsTable;
let lambda: TestLambda;

async function release(document: object, rest: object = {}): Promise<PreparedRecord> {
  const prepared = preparePolicy(samplePolicyFile({ ...document }, { ...rest }));
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.error));
  await writeRecord(table, prepared.value);
  return prepared.value;
}

function read(policyId: string, request: TestRequest = {}): Promise<TestAnswer> {
  return lambda.invoke({ path: { policyId }, ...request });
}

beforeAll(async () => {
  issuer = await createTestIssuer();
});

beforeEach(async () => {
  table = createMemoryRecordsTable();
  await release({ id: OWN, visibility: 'tenant' }, { tenantId: 'tenant-aurora' });
  await release({ id: FOREIGN, visibility: 'tenant' }, { tenantId: 'tenant-borealis' });
  await release({ id: SYSTEM });
  const store = createRecordStore({ table, mayReadSystem: (tenantId) => tenantId === 'tenant-aurora' });
  lambda = await testLambda(readSelectionPolicy, readSelectionPolicyOperation({ store, deprecationUrl }), {
    issuer,
  });
});

describe('200', () => {
  it('is exactly the released document, with the checksum over the rest of it [MA-173, MA-115]', async () => {
    const answer = await read(OWN);
    expect(answer.status).toBe(200);
    const { checksum, ...rest } = answer.body;
    expect(rest).toEqual(samplePolicyFile({ id: OWN, visibility: 'tenant' })['document']);
    expect(checksum).toBe(hashCanonical(rest));
    expect(answer.headers).toMatchObject({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  });

  it('keeps null where it switches the time rule off, and all of the rules as they were released [MA-111, MA-113]', async () => {
    const { body } = await read(OWN);
    expect(body['timeBudgetSeconds']).toBeNull();
    expect(body['eligibilityRules']).toEqual(
      (samplePolicyFile()['document'] as Record<string, unknown>)['eligibilityRules'],
    );
  });

  it('gives a system policy to an authorized platform tenant [MA-104]', async () => {
    expect(await read(SYSTEM)).toMatchObject({ status: 200, body: { id: SYSTEM, visibility: 'system' } });
  });

  it('finds ids whose characters a path must encode, byte for byte [MA-040]', async () => {
    for (const id of ['a/b', 'ß %2F+?#', 'Policy-Of-Aurora']) {
      await release({ id, visibility: 'tenant' }, { tenantId: 'tenant-aurora' });
      expect(await read(id)).toMatchObject({ status: 200, body: { id } });
    }
  });

  it('carries Deprecation, Sunset and Link exactly while the policy is deprecated [MA-049, MA-050]', async () => {
    const { headers: before } = await read(OWN);
    for (const name of ['Deprecation', 'Sunset', 'Link']) expect(before).not.toHaveProperty(name);
    const plain = await read(OWN);
    await table.setLifecycle(
      { kind: 'policy', id: OWN, tenantId: 'tenant-aurora' },
      { deprecatedAt: '2026-01-01T00:00:00Z', sunsetAt: '2026-11-06T08:49:37Z' },
    );
    const deprecated = await read(OWN);
    expect(deprecated.headers).toMatchObject({
      Deprecation: '@1767225600',
      Sunset: 'Fri, 06 Nov 2026 08:49:37 GMT',
      Link: `<${deprecationUrl}>; rel="deprecation"; type="text/html"`,
    });
    expect(deprecated.text).toBe(plain.text);
  });
});

describe('400', () => {
  it.each([
    ['an unsupported query parameter', { query: { tenantId: 'tenant-borealis' } }],
    ['a malformed path id', { rawPath: { policyId: '%E0%A4%A' } }],
  ])('invalid-request for %s [MA-187]', async (_name, request) => {
    expect(await read(OWN, request)).toMatchObject({
      status: 400,
      body: { code: 'invalid-request', retryable: false },
    });
    expect(table.calls.read).toBe(3);
  });
});

describe('401', () => {
  it('authentication-required without a token; nothing is looked up [MA-044, MA-148]', async () => {
    const answer = await read(OWN, { headers: { Authorization: undefined } });
    expect(answer).toMatchObject({
      status: 401,
      body: { code: 'authentication-required', retryable: false },
    });
    expect(table.calls.read).toBe(3);
  });
});

describe('403', () => {
  it('insufficient-scope for a token without mastery:read [MA-158]', async () => {
    const token = await issuer.sign({ scope: 'mastery:run mastery:readx' });
    const answer = await read(OWN, { headers: { Authorization: `Bearer ${token}` } });
    expect(answer).toMatchObject({ status: 403, body: { code: 'insufficient-scope', retryable: false } });
  });
});

describe('404', () => {
  it('is the same to the byte for a policy of another tenant as for none, but for its own id [MA-174, MA-214]', async () => {
    // Otherwise a tenant could find out which policies another one has.
    const [foreign, absent] = await Promise.all([read(FOREIGN), read('policy-that-never-was')]);
    expect(foreign).toMatchObject({ status: 404, body: { code: 'resource-not-found', retryable: false } });
    expect(withoutOccurrence(foreign)).toEqual(withoutOccurrence(absent));
  });

  it('hides a system policy from a tenant that is not authorized [MA-104]', async () => {
    const token = await issuer.sign({ tenantId: 'tenant-borealis' });
    const headers = { Authorization: `Bearer ${token}` };
    const [hidden, absent] = await Promise.all([
      read(SYSTEM, { headers }),
      read('policy-that-never-was', { headers }),
    ]);
    expect(hidden.status).toBe(404);
    expect(withoutOccurrence(hidden)).toEqual(withoutOccurrence(absent));
  });

  it.each([
    ['an alias', 'latest'],
    ['another case', OWN.toUpperCase()],
    ['a trailing space', `${OWN} `],
    ['more bytes than a key holds', 'x'.repeat(4000)],
  ])('resolves exact ids only: %s is not found [MA-051, MA-040]', async (_name, id) => {
    expect((await read(id)).status).toBe(404);
  });

  it('says nothing of the deprecation of another tenant’s policy', async () => {
    await table.setLifecycle(
      { kind: 'policy', id: FOREIGN, tenantId: 'tenant-borealis' },
      { deprecatedAt: '2026-01-01T00:00:00Z' },
    );
    expect((await read(FOREIGN)).headers).not.toHaveProperty('Deprecation');
  });
});

describe('500', () => {
  it('internal-error for a stored policy that is not the released one: this route has no other answer [MA-224]', async () => {
    const { key, stored } = await release({ id: 'damaged' });
    table.corrupt(key, { document: stored.document.replace('"maxItems":12', '"maxItems":99') });
    const answer = await read('damaged');
    expect(answer).toMatchObject({ status: 500, body: { code: 'internal-error', retryable: false } });
    expect(answer.headers).not.toHaveProperty('Retry-After');
    expect(answer.text).not.toContain('checksum');
  });
});

/** Status, headers and text of an answer without what names this very request. */
function withoutOccurrence({ status, headers, body, text }: TestAnswer): unknown {
  const requestId = String(body['requestId']);
  const { 'X-Request-Id': named, ...rest } = headers;
  expect(named).toBe(requestId);
  return { status, headers: rest, text: text.replaceAll(requestId, '…') };
}
