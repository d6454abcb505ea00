import { describe, expect, it } from 'vitest';
import { allOperations } from './all-operations.ts';
import * as operations from './operations.ts';

describe('operations', () => {
  const rows = allOperations;

  it('are all in the list of them, once', () => {
    const listed = Object.entries(operations).filter(([, row]) => rows.includes(row));
    expect(listed.map(([name]) => name)).toEqual(Object.keys(operations));
    expect(rows).toHaveLength(listed.length);
  });

  it('have an id each: answers are kept and receipts are read by it', () => {
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  });

  it('read with GET and write with POST, as their retry class says', () => {
    const classes = { GET: 'safe-read', POST: 'idempotent-write' };
    for (const row of rows) expect(row.retry, row.id).toBe(classes[row.method]);
  });

  it('name each query parameter once, as demanded or as optional', () => {
    for (const { id, query, optionalQuery = [] } of rows) {
      const names = [...query, ...optionalQuery];
      expect(new Set(names).size, id).toBe(names.length);
    }
  });
});
