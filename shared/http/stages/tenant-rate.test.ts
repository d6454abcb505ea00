import { describe, expect, it } from 'vitest';
import { serviceNames } from '#shared/contract/route.ts';
import { createMemoryControlTable } from '#test/support/control-table.ts';
import { actOnProbe, readProbe, seen, testProbe } from '#test/support/probe-routes.ts';
import type { TenantRate } from '../tenant-rate.ts';

describe.each(serviceNames)('a tenant of %s that has used up its requests', (service) => {
  it('gets 429 before any work; the same key works afterwards as if it were new [RP-338, MA-226]', async () => {
    let found: ReturnType<TenantRate> = 7;
    let operated = 0;
    const asked: string[] = [];
    const lambda = await testProbe(
      actOnProbe(service),
      ({ idempotent }) => {
        operated += 1;
        return idempotent(seen);
      },
      {
        rate: (tenantId) => {
          asked.push(tenantId);
          return found;
        },
      },
    );
    for (const wait of [7, Promise.resolve(7)]) {
      found = wait;
      const { summary, headers, body } = await lambda.invoke();
      expect([summary, headers['Retry-After']]).toEqual(['429 rate-limited', '7']);
      expect(body).toMatchObject({ retryable: true, status: 429 });
    }
    expect([operated, lambda.table.records()]).toEqual([0, []]);
    expect(lambda.lines.join('')).not.toContain('PROBLEM_UNDECLARED');
    found = Promise.resolve(undefined);
    const { status, headers } = await lambda.invoke();
    expect([status, headers['Idempotent-Replayed']]).toEqual([201, undefined]);
    // A repetition is a request, too.
    expect((await lambda.invoke()).status).toBe(201);
    expect(asked).toEqual(Array.from({ length: 4 }, () => 'tenant-aurora'));
  });
});

it('counts only what passes the checks of token, scope and syntax', async () => {
  let counted = 0;
  const rate: TenantRate = () => {
    counted += 1;
    return Promise.resolve(undefined);
  };
  const lambda = await testProbe(readProbe('reports'), seen, { rate });
  const { status } = await lambda.invoke({ headers: { Authorization: 'Bearer x' } });
  expect([status, (await lambda.invoke({ query: { wrong: '1' } })).status, counted]).toEqual([401, 400, 0]);
  await lambda.invoke();
  expect(counted).toBe(1);
});

it('counts while the idempotency record is read', async () => {
  let counted: (wait: undefined) => void = () => undefined;
  const table = createMemoryControlTable();
  const read = table.read.bind(table);
  // A request that waited for its count first would never get here.
  table.read = (...given) => {
    counted(undefined);
    return read(...given);
  };
  const rate: TenantRate = () => new Promise((resolve) => (counted = resolve));
  const lambda = await testProbe(actOnProbe('mastery'), seen, { table, rate });
  expect((await lambda.invoke()).status).toBe(201);
});
