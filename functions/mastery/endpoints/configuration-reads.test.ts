import { beforeEach, describe, expect, it } from 'vitest';
import { readScaleCalibration } from '#shared/contract/mastery/routes/read-scale-calibration.ts';
import { readSelectionPolicy } from '#shared/contract/mastery/routes/read-selection-policy.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { createMemoryRecordsTable, releaseInto } from '#test/support/memory-records.ts';
import type { MemoryRecordsTable } from '#test/support/memory-records.ts';
import { prepareCalibration, preparePolicy, type PreparedRecord } from '#shared/records/release.ts';
import { KC_A, sampleCalibrationFile, samplePolicyFile } from '#test/support/sample-files.ts';
import { createRecordStore } from '#shared/records/store.ts';
import { testIssuer, testLambda, type TestAnswer, type TestLambda } from '#test/support/lambda.ts';
import { readScaleCalibrationOperation } from './read-scale-calibration/operation.ts';
import { readSelectionPolicyOperation } from './read-selection-policy/operation.ts';
import type { RecordDependencies } from './support/dependencies.ts';

const OWN = 'Record of/aurora ß%2F+?#';
const FOREIGN = 'record-of-borealis';
const SYSTEM = 'record-of-the-system';
const deprecationUrl = 'https://docs.example/problems/deprecation';
const lifecycle = { deprecatedAt: '2026-01-01T00:00:00.999Z', sunsetAt: '2026-11-06T08:49:37Z' };
const deprecationHeaders = {
  Deprecation: '@1767225600',
  Sunset: 'Fri, 06 Nov 2026 08:49:37 GMT',
  Link: `<${deprecationUrl}>; rel="deprecation"; type="text/html"`,
};

/** The two reads, which differ in what they do with a damaged record. */
const reads = [
  {
    kind: 'policy',
    sample: samplePolicyFile,
    prepare: preparePolicy,
    path: (policyId: string) => ({ policyId }),
    open: (dependencies: RecordDependencies) =>
      testLambda(readSelectionPolicy, readSelectionPolicyOperation(dependencies)),
    damaged: { status: 500, body: { code: 'internal-error', retryable: false } },
  },
  {
    kind: 'calibration',
    sample: sampleCalibrationFile,
    prepare: (file: unknown) => prepareCalibration(file, () => []),
    path: (calibrationId: string) => ({ calibrationId }),
    open: (dependencies: RecordDependencies) =>
      testLambda(readScaleCalibration, readScaleCalibrationOperation(dependencies)),
    damaged: { status: 422, body: { code: 'calibration-invalid', retryable: false } },
  },
] as const;

let table: MemoryRecordsTable;
let now = 0;
let lambda: TestLambda;

describe.each(reads)('the read of a $kind', ({ kind, sample, prepare, path, open, damaged }) => {
  const release = (document: object, rest: object = {}): Promise<PreparedRecord> =>
    releaseInto(table, sample({ ...document }, { ...rest }));
  const read = async (id: string, tenantId = 'tenant-aurora'): Promise<TestAnswer> => {
    const Authorization = `Bearer ${await testIssuer.sign({ tenantId })}`;
    return lambda.invoke({ path: path(id), headers: { Authorization } });
  };
  beforeEach(async () => {
    table = createMemoryRecordsTable();
    await release({ id: OWN, visibility: 'tenant' }, { tenantId: 'tenant-aurora' });
    await release({ id: FOREIGN, visibility: 'tenant' }, { tenantId: 'tenant-borealis' });
    await release({ id: SYSTEM });
    await startContainer();
  });
  async function startContainer(): Promise<void> {
    const mayReadSystem = (tenantId: string) => tenantId === 'tenant-aurora';
    const store = createRecordStore({ table, mayReadSystem, now: () => now });
    lambda = await open({ store, deprecationUrl });
  }

  it('returns exactly the released document, with the checksum over the rest of it [MA-040, MA-111, MA-113, MA-115, MA-116, MA-122, MA-173, MA-175]', async () => {
    const { status, body, headers } = await read(OWN);
    const { checksum, ...rest } = body;
    expect(status).toBe(200);
    expect(rest).toEqual(sample({ id: OWN, visibility: 'tenant' })['document']);
    expect(checksum).toBe(hashCanonical(rest));
    for (const name of Object.keys(rest))
      expect([name, prepare(sample({ [name]: undefined })).ok]).toEqual([name, false]);
    expect(headers).toMatchObject({
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store, no-transform',
    });
  });

  it('gives a record of the system whole to a tenant that may read it, and hides it from any other [MA-104, MA-119]', async () => {
    const given = await read(SYSTEM);
    expect(given).toMatchObject({ status: 200, body: sample({ id: SYSTEM })['document'] as object });
    expect((await read(SYSTEM, 'tenant-borealis')).status).toBe(404);
  });

  it('has the headers of deprecation exactly while the record is deprecated, a damaged one too [MA-049, MA-050]', async () => {
    const plain = await read(OWN);
    for (const name of Object.keys(deprecationHeaders)) expect(plain.headers).not.toHaveProperty(name);
    const key = { kind, id: OWN, tenantId: 'tenant-aurora' } as const;
    await table.changeLifecycle(key, { deprecatedAt: lifecycle.deprecatedAt });
    // A container looks again after a minute.
    expect((await read(OWN)).headers).not.toHaveProperty('Deprecation');
    now += 60_000;
    expect((await read(OWN)).headers).toHaveProperty('Deprecation');
    expect((await read(OWN)).headers).not.toHaveProperty('Sunset');
    await table.changeLifecycle(key, lifecycle);
    now += 60_000;
    const deprecated = await read(OWN);
    expect(deprecated.headers).toMatchObject(deprecationHeaders);
    expect(deprecated.text).toBe(plain.text);
    if (kind === 'policy') return;
    table.corrupt(key, { document: '{}' });
    await startContainer();
    expect(await read(OWN)).toMatchObject({ status: 422, headers: deprecationHeaders });
  });

  // That nothing tells it from a record that nobody has: test/lemmas/principals.contract.test.ts.
  it('hides a record of another tenant, whatever its state, and finds none under an id that is nearly its own [MA-104, MA-174, MA-176, MA-214]', async () => {
    const key = { kind, id: FOREIGN, tenantId: 'tenant-borealis' } as const;
    await table.changeLifecycle(key, lifecycle);
    table.corrupt(key, { document: '{}' });
    for (const id of [FOREIGN, `${OWN} `]) {
      const { status, headers } = await read(id);
      expect([status, headers['Deprecation']]).toEqual([404, undefined]);
    }
  });

  it('returns nothing of a stored record that fails its checksum [MA-177, MA-195, MA-224]', async () => {
    const { key, stored } = await release({ id: 'damaged' });
    // Only the checksum tells: the form is that of a record.
    table.corrupt(key, {
      document: stored.document.replace('"visibility":"system"', '"visibility":"tenant"'),
    });
    const answer = await read('damaged');
    expect(answer).toMatchObject(damaged);
    expect(answer.headers).not.toHaveProperty('Retry-After');
    expect(answer.text).not.toMatch(/visibility|Mathematics|maxItems/);
  });

  if (kind === 'calibration') {
    it('shows nothing of the parameters, does not read them, and works while they are damaged [MA-120, MA-123]', async () => {
      table.corrupt({ kind, id: OWN, tenantId: 'tenant-aurora' }, { parameters: undefined });
      const { status, text } = await read(OWN);
      expect(status).toBe(200);
      for (const secret of ['theta', 'slope', 'probabilities', 'av-1', 'item-1', 'parametersHash', KC_A])
        expect(text).not.toContain(secret);
      expect(text).not.toContain('null');
      expect(table.calls.readParameters).toBe(0);
    });

    it('gives a version that is not valid now: only a run needs a valid one [MA-177]', async () => {
      const years = [
        '2020-01-01T00:00:00Z',
        '2021-01-01T00:00:00Z',
        '2098-01-01T00:00:00Z',
        '2099-01-01T00:00:00Z',
      ];
      for (const at of [0, 2]) {
        const [validFrom, validUntil] = years.slice(at);
        await release({ id: `from ${validFrom}`, validFrom, validUntil });
        expect(await read(`from ${validFrom}`)).toMatchObject({ status: 200, body: { validUntil } });
      }
    });
  }
});
