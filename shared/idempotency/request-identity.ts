import { createHmac } from 'node:crypto';
import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';

/** What makes a request the same request. */
export interface IdentifiedRequest {
  readonly tenantId: string;
  readonly method: string;
  /** From the route's template and the decoded ids, never from the raw URL. */
  readonly canonicalPath: string;
  readonly idempotencyKey: string;
  readonly ifMatch: string | undefined;
  /** The parsed JSON body as it was sent; undefined when the route takes none. */
  readonly body: unknown;
}

export interface RequestIdentity {
  /** HMAC of the scope: verified tenant, method, canonical path and key [MA-189, RP-292]. */
  readonly id: string;
  /** HMAC of the canonical request [MA-191]. A plain hash of a body that holds a learner's id could be guessed. */
  readonly hash: string;
}

/** Both digests, base64url, under the key ring's idempotency key. Throws when the key ring cannot be reached. */
export async function identifyRequest(keys: KeyRing, request: IdentifiedRequest): Promise<RequestIdentity> {
  const { key } = await keys.active('idempotency');
  const hmac = (value: unknown): string =>
    createHmac('sha256', key).update(canonicalJson(value)).digest('base64url');
  // One is an array and the other an object: no scope can have the canonical form of a request.
  return {
    id: hmac([request.tenantId, request.method, request.canonicalPath, request.idempotencyKey]),
    hash: hmac({
      method: request.method,
      canonicalPath: request.canonicalPath,
      ifMatch: request.ifMatch ?? null,
      body: request.body ?? null,
    }),
  };
}

/** The path of a request with each decoded id encoded as one segment, so that every spelling of an id is one path. */
export function canonicalPath(template: string, parameters: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name];
    if (value === undefined) throw new TypeError(`canonicalPath: no value for ${name}`);
    return encodeURIComponent(value);
  });
}
