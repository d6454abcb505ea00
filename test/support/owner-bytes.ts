import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { TestStack } from './stack.ts';

/** The bytes that an owner serves the tenant's service profile for one read, as they come. */
export async function ownerBytes(
  stack: Pick<TestStack, 'urls' | 'seededTenants'>,
  tenantId: string,
  { path: template, method }: Pick<UpstreamOperation, 'path' | 'method'>,
  call: {
    readonly path: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, string>>;
  },
): Promise<Uint8Array> {
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent({ tenantId, ...call.path }[name] ?? ''),
  );
  const query = new URLSearchParams(call.query).toString();
  const { platformJwt } = stack.seededTenants.get(tenantId)!.platform.credentials;
  const response = await fetch(`${stack.urls.platformUrl}${path}${query === '' ? '' : `?${query}`}`, {
    method,
    headers: { Authorization: `Bearer ${platformJwt}` },
  });
  if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
