import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readScaleCalibration } from '#shared/contract/mastery/routes.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { createMemoryRecordsTable } from '#test/support/memory-records.ts';
import type { MemoryRecordsTable } from '#test/support/memory-records.ts';
import { prepareCalibration, writeRecord } from '#shared/records/release.ts';
import type { PreparedRecord } from '#shared/records/release.ts';
import { KC_A, sampleCalibrationFile } from '#test/support/sample-files.ts';
import { createRecordStore } from '#shared/records/store.ts';
import { createTestIssuer, testLambda } from '#test/support/lambda.ts';
import type { TestAnswer, TestIssuer, TestLambda, TestRequest } from '#test/support/lambda.ts';
import { readScaleCalibrationOperation } from './operation.ts';

const OWN = 'calibration-of-aurora';
const FOREIGN = 'calibration-of-borealis';
const SYSTEM = 'calibration-of-the-system';
const deprecationUrl = 'https://docs.example/problems/deprecation';
const lifecycle = { deprecatedAt: '2026-01-01T00:00:00Z', sunsetAt: '2026-11-06T08:49:37Z' };
const deprecationHeaders = {
  Deprecation: '@1767225600',
  Sunset: 'Fri, 06 Nov 2026 08:49:37 GMT',
  Link: `<${deprecationUrl}>; rel="deprecation"; type="text/html"`,
};

let issuer: TestIssuer;
let table: MemoryRecordsTable;
let lambda: TestLambda;

async function release(document: object, rest: object = {}): Promise<PreparedRecord> {
  const prepared = prepareCalibration(sampleCalibrationFile({ ...document }, { ...rest }), () => []);
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.error));
  await writeRecord(table, prepared.value);
  return prepared.value;
}

function read(calibrationId: string, request: TestRequest = {}): Promise<TestAnswer> {
  return lambda.invoke({ path: { calibrationId }, ...request });
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
  lambda = await testLambda(readScaleCalibration, readScaleCalibrationOperation({ store, deprecationUrl }), {
    issuer,
  });
});

describe('200', () => {
  it('is exactly the released descriptor, with the checksum over the rest of it [MA-175, MA-116, MA-122]', async () => {
    const answer = await read(OWN);
    expect(answer.status).toBe(200);
    const { checksum, ...rest } = answer.body;
    expect(rest).toEqual(sampleCalibrationFile({ id: OWN, visibility: 'tenant' })['document']);
    expect(checksum).toBe(hashCanonical(rest));
  });

  it('shows nothing of the parameters, and does not even read them [MA-120, MA-123]', async () => {
    const { text } = await read(OWN);
    for (const secret of ['theta', 'slope', 'probabilities', 'av-1', 'item-1', 'parametersHash', KC_A]) {
      expect(text).not.toContain(secret);
    }
    expect(table.calls.readParameters).toBe(0);
  });

  it('gives the anchor whole to every caller [MA-119]', async () => {
    expect((await read(SYSTEM)).body['anchor']).toEqual({
      source: 'r90',
      version: '90.1',
      checksum: 'ab'.repeat(32),
      licenseScope: 'classroom',
    });
  });

  it('gives an expired and a not yet valid version: only a run needs a valid one [MA-177]', async () => {
    for (const [id, validFrom, validUntil] of [
      ['expired', '2020-01-01T00:00:00Z', '2021-01-01T00:00:00Z'],
      ['future', '2030-01-01T00:00:00Z', '2031-01-01T00:00:00Z'],
    ] as const) {
      await release({ id, validFrom, validUntil });
      expect(await read(id)).toMatchObject({ status: 200, body: { validUntil } });
    }
  });

  it('stays readable while the parameters are damaged', async () => {
    const { key } = await release({ id: 'damaged-parameters' });
    table.corrupt(key, { parameters: undefined });
    expect((await read('damaged-parameters')).status).toBe(200);
  });

  it('carries Deprecation, Sunset and Link exactly while the calibration is deprecated [MA-049, MA-050]', async () => {
    const { headers: before } = await read(OWN);
    for (const name of Object.keys(deprecationHeaders)) expect(before).not.toHaveProperty(name);
    await release({ id: 'old' }, lifecycle);
    expect((await read('old')).headers).toMatchObject(deprecationHeaders);
  });
});

describe('400', () => {
  it.each([
    ['an unsupported query parameter', { query: { include: 'parameters' } }],
    ['a malformed path id', { rawPath: { calibrationId: '%' } }],
  ])('invalid-request for %s [MA-187]', async (_name, request) => {
    expect(await read(OWN, request)).toMatchObject({
      status: 400,
      body: { code: 'invalid-request', retryable: false },
    });
  });
});

describe('401', () => {
  it('authentication-required for an expired token [MA-044, MA-148]', async () => {
    const token = await issuer.sign({ exp: 1 });
    const answer = await read(OWN, { headers: { Authorization: `Bearer ${token}` } });
    expect(answer).toMatchObject({
      status: 401,
      body: { code: 'authentication-required', retryable: false },
    });
  });
});

describe('403', () => {
  it('insufficient-scope for a token without mastery:read [MA-158]', async () => {
    const token = await issuer.sign({ scope: 'mastery:run mastery:simulate' });
    const answer = await read(OWN, { headers: { Authorization: `Bearer ${token}` } });
    expect(answer).toMatchObject({ status: 403, body: { code: 'insufficient-scope', retryable: false } });
  });
});

describe('404', () => {
  it('is the same to the byte for a calibration of another tenant as for none, but for its own id [MA-176, MA-214]', async () => {
    // Otherwise a tenant could find out which calibrations another one has.
    const [foreign, absent] = await Promise.all([read(FOREIGN), read('calibration-that-never-was')]);
    expect(foreign).toMatchObject({ status: 404, body: { code: 'resource-not-found', retryable: false } });
    expect(withoutOccurrence(foreign)).toEqual(withoutOccurrence(absent));
  });

  it('hides a damaged or deprecated calibration of another tenant like a sound one', async () => {
    const { key } = await release(
      { id: 'hidden', visibility: 'tenant' },
      { tenantId: 'tenant-borealis', ...lifecycle },
    );
    table.corrupt(key, { document: '{}' });
    const [hidden, absent] = await Promise.all([read('hidden'), read('calibration-that-never-was')]);
    expect(withoutOccurrence(hidden)).toEqual(withoutOccurrence(absent));
  });

  it('hides a system calibration from a tenant that is not authorized [MA-104]', async () => {
    const token = await issuer.sign({ tenantId: 'tenant-borealis' });
    const answer = await read(SYSTEM, { headers: { Authorization: `Bearer ${token}` } });
    expect(answer).toMatchObject({ status: 404, body: { code: 'resource-not-found' } });
  });
});

describe('422', () => {
  it('calibration-invalid for a stored descriptor that fails its checksum; nothing of it goes out [MA-177, MA-195]', async () => {
    const { key, stored } = await release({ id: 'damaged' });
    table.corrupt(key, { document: stored.document.replace('Mathematics', 'Alchemy') });
    const answer = await read('damaged');
    expect(answer).toMatchObject({ status: 422, body: { code: 'calibration-invalid', retryable: false } });
    expect(answer.text).not.toContain('Alchemy');
    expect(answer.headers).not.toHaveProperty('Deprecation');
  });

  it('carries the deprecation of the damaged one as well: every answer about a deprecated resource does [MA-049]', async () => {
    const { key } = await release({ id: 'damaged' }, lifecycle);
    table.corrupt(key, { document: '{}' });
    expect(await read('damaged')).toMatchObject({ status: 422, headers: deprecationHeaders });
  });
});

/** Status, headers and text of an answer without what names this very request. */
function withoutOccurrence({ status, headers, body, text }: TestAnswer): unknown {
  const requestId = String(body['requestId']);
  const { 'X-Request-Id': named, ...rest } = headers;
  expect(named).toBe(requestId);
  return { status, headers: rest, text: text.replaceAll(requestId, '…') };
}
