import { describe, expect, it } from 'vitest';
import { allOperations } from '#shared/platform/all-operations.ts';
import { ownerRoutes } from './routes.ts';

describe('the platform emulator', () => {
  it('serves every upstream operation, and no other path but the player’s', () => {
    const served = ownerRoutes.map((route) => `${route.method} ${route.path}`);
    const rows: string[] = allOperations.map((row) => `${row.method} ${row.path}`);
    expect(served.filter((route) => !rows.includes(route))).toEqual([
      'POST /tenants/{tenantId}/qti/delivery-sessions/{deliverySessionId}/attempts',
    ]);
    expect(rows.filter((row) => !served.includes(row))).toEqual([]);
    expect(new Set(served).size).toBe(served.length);
  });
});
