import { describe, expect, it } from 'vitest';
import { readyCatalog, blockedCatalog } from '#test/support/catalog.ts';
import { checkCatalog } from './check.ts';
import { decideQuickstart } from './quickstart.ts';

const decide = (record: unknown) => {
  const catalog = checkCatalog(record);
  return catalog.ok ? decideQuickstart(catalog.value) : undefined;
};

describe('decideQuickstart', () => {
  it('answers 503 and creates no operation while the catalog is blocked [RC-002]', () => {
    expect(decide(blockedCatalog())).toEqual({ status: 503, createsOperation: false });
  });

  it('answers 202 and creates an operation when the catalog is ready [RC-003]', () => {
    expect(decide(readyCatalog())).toEqual({ status: 202, createsOperation: true });
  });
});
