import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { allOperations } from './all-operations.ts';
import type { UpstreamOperation } from './operation.ts';

describe('operations', () => {
  const rows = allOperations;

  it('are all that the owners’ files export, once', async () => {
    const files = globSync('owners/*.ts', { cwd: import.meta.dirname, exclude: ['**/*.test.ts'] });
    expect(files.length).toBeGreaterThan(10);
    const exported: unknown[] = [];
    for (const file of files) {
      const values = Object.values((await import(`./${file}`)) as Readonly<Record<string, unknown>>);
      exported.push(...values.filter((value) => typeof value === 'object' && value && 'answer' in value));
    }
    expect(new Set(exported)).toEqual(new Set(rows));
    expect(exported).toHaveLength(rows.length);
  });

  it('have an id each: answers are kept and receipts are read by it', () => {
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  });

  it('read what hangs on an id that they name: none lists what a tenant has, whose one anchor table apart [RP-030]', () => {
    const reads = rows.filter(({ method }) => method === 'GET');
    const naming = ({ path, query }: UpstreamOperation) =>
      path.replace('{tenantId}', '').includes('{') || query.includes('eventIri');
    expect(reads.filter((row) => !naming(row)).map(({ id }) => id)).toEqual(['extmap.verify_anchor']);
  });

  it('name each query parameter once, as demanded or as optional', () => {
    for (const { id, query, optionalQuery = [] } of rows) {
      const names = [...query, ...optionalQuery];
      expect(new Set(names).size, id).toBe(names.length);
    }
  });
});
