import { beforeEach, describe, expect, it } from 'vitest';
import { err, ok } from '#shared/kernel/result.ts';
import { createAnalysisPolicyStore } from './analysis-policy-store.ts';
import type { AnalysisPolicyStore, PolicyPin } from './analysis-policy-store.ts';
import { createMemoryRecordsTable, type MemoryRecordsTable } from '#test/support/memory-records.ts';
import { documentChecksum } from './checksum.ts';
import { prepareAnalysisPolicy, writeRecord } from './release.ts';
import { sampleAnalysisPolicyFile } from '#test/support/sample-files.ts';

const TENANT = 'tenant-1';
const ID = 'revision-thresholds-3';

let table: MemoryRecordsTable;
beforeEach(() => {
  table = createMemoryRecordsTable();
});

/** Releases a policy of the platform, or of a tenant; returns what it is pinned by. */
async function release(version: string, tenantId?: string): Promise<PolicyPin> {
  const owner = tenantId === undefined ? 'system' : 'tenant';
  const file = sampleAnalysisPolicyFile(
    { version, visibility: owner },
    tenantId === undefined ? {} : { tenantId },
  );
  const prepared = prepareAnalysisPolicy(file);
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.error));
  await writeRecord(table, prepared.value);
  return { owner, id: ID, checksum: prepared.value.checksum };
}

function open(mayReadSystem: () => boolean = () => true): AnalysisPolicyStore {
  return createAnalysisPolicyStore({ table, mayReadSystem, now: Date.now });
}

describe('a pinned policy', () => {
  it('of the platform stays what it was, whatever the tenant releases or may choose later [RP-146]', async () => {
    const pin = await release('1.0');
    await release('2.0', TENANT);
    for (const isAuthorized of [true, false])
      expect(await open(() => isAuthorized).readPinned(TENANT, pin)).toMatchObject(
        ok({ version: '1.0', checksum: pin.checksum }),
      );
  });

  it('of a tenant is its own, not another tenant’s nor the platform’s [MA-104, RP-146]', async () => {
    const pin = await release('2.0', TENANT);
    await release('1.0');
    expect(await open().readPinned(TENANT, pin)).toMatchObject({ value: { version: '2.0' } });
    expect(await open().readPinned('tenant-2', pin)).toEqual(ok(undefined));
    expect(await open().readPinned(TENANT, { ...pin, owner: 'system' })).toEqual(ok(undefined));
  });

  it('is not there under another id or with another checksum [RP-146]', async () => {
    const pin = await release('1.0');
    expect(await open().readPinned(TENANT, { ...pin, id: 'another' })).toEqual(ok(undefined));
    expect(await open().readPinned(TENANT, { ...pin, checksum: '0'.repeat(64) })).toEqual(ok(undefined));
  });

  it('that is stored damaged, or in a form of another build, is a fault and not absent', async () => {
    const pin = await release('1.0', TENANT);
    const key = { kind: 'analysis-policy', id: ID, tenantId: TENANT } as const;
    for (const [document, kind] of [
      ['{"checksum":', 'checksum-mismatch'],
      [JSON.stringify({ checksum: documentChecksum({}) }), 'unreadable'],
    ] as const) {
      table.corrupt(key, { document });
      for (const read of [open().readPinned(TENANT, pin), open().read(TENANT, ID)])
        expect(await read).toMatchObject(err({ kind }));
    }
  });
});
