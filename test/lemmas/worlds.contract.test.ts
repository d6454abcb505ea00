import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localTenantIds } from '#local/seeds/tenants.ts';
import { openPublishedContract } from '#test/support/published-contract.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { openWorlds, operations } from './worlds.ts';
import type { Worlds } from './worlds.ts';

let stack: TestStack;
let worlds: Worlds;
beforeAll(async () => {
  stack = await startTestStack();
  worlds = openWorlds(stack);
});
afterAll(async () => {
  worlds.close();
  await stack.close();
});

describe.each(operations)('$operation', ({ operation, route }) => {
  it.each(localTenantIds)('serves its request for %s, once and again', async (tenantId) => {
    const hold = openPublishedContract(route.service);
    const call = await worlds.request(operation, tenantId);
    for (const claims of [call.claims, ...worlds.openers(operation, tenantId)]) {
      const reply = await worlds.send(operation, { ...call, ...(claims === undefined ? {} : { claims }) });
      expect([claims, reply.status, reply.status === route.success.status || reply.text]).toEqual([
        claims,
        route.success.status,
        true,
      ]);
      hold(route, reply);
    }
  });
});
