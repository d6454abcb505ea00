import { expect, it } from 'vitest';
import { useTestStack } from '#test/support/stack.ts';

const stack = useTestStack();

it('the local stack lets the player’s call through with a client’s token of the same tenant only [MA-030]', async () => {
  const attempt = async (tenantId: string, tokenOf?: string): Promise<number> => {
    const token = tokenOf === undefined ? 'nobody' : await stack.tokenFor(tokenOf, []);
    const path = `/tenants/${tenantId}/qti/delivery-sessions/none/attempts`;
    const { status } = await fetch(`${stack.urls.platformUrl}${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      // Not an outcome: refused by what is asked, once the caller is known.
      body: '{}',
    });
    return status;
  };
  expect(await attempt('tenant-aurora', 'tenant-aurora')).toBe(400);
  expect(await attempt('tenant-aurora', 'tenant-borealis')).toBe(404);
  expect(await attempt('tenant-aurora')).toBe(401);
});
