import * as z from 'zod';

/** Sends a request to the platform's control API; throws when it is refused, so that a test never goes on without its fault. */
export type Control = (method: string, path: string, body?: unknown) => Promise<unknown>;

export function controlOf(platformUrl: string): Control {
  return async (method, path, body) => {
    const response = await fetch(`${platformUrl}/_control/${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as unknown;
  };
}

const count = z.record(z.string(), z.number());
const counts = z.object({ tenants: z.record(z.string(), count) });
const tenantState = z.object({
  counts: count,
  entities: z.record(z.string(), z.record(z.string(), z.unknown())),
});
/** What the platform's owners hold of one tenant. */
export type PlatformState = z.infer<typeof tenantState>;
export const platformState = z.object({ counts: count, tenants: z.record(z.string(), tenantState) });

/** What the owners hold of a tenant. */
export async function stateOf(
  stack: { readonly control: Control },
  tenantId: string,
): Promise<PlatformState> {
  return platformState.parse(await stack.control('GET', 'state')).tenants[tenantId]!;
}

/** How much of each kind they hold. */
export async function countsOf(
  stack: { readonly control: Control },
  tenantId: string,
): Promise<PlatformState['counts']> {
  return counts.parse(await stack.control('GET', 'counts')).tenants[tenantId]!;
}
