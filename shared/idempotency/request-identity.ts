import { createHmac } from 'node:crypto';
import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import type { ControlRecord } from './control-record.ts';

/** What identifies a request as the same. */
export interface IdentifiedRequest {
  readonly tenantId: string;
  readonly method: string;
  /** From the route's template and the decoded ids, never from the raw URL. */
  readonly canonicalPath: string;
  readonly idempotencyKey: string;
  readonly ifMatch: string | undefined;
  /** The checked JSON body with its defaults filled in; undefined if the route takes none. */
  readonly body: unknown;
  /** The JSON body as sent, by which versions up to 0.1.0 recognise a request; absent if it is the same. */
  readonly sentBody?: unknown;
}

export interface RequestIdentity {
  /** HMAC of the scope: verified tenant, method, canonical path and key [MA-189, RP-292]. */
  readonly id: string;
  /** HMAC of the canonical request [MA-191]. A plain hash of a body with a learner's id could be guessed. */
  readonly hash: string;
  /** The HMAC of the request as sent: never stored. */
  readonly sentHash: string;
}

/** Computes all digests, base64url, under the key ring's idempotency key. Throws if the key ring cannot be reached. */
export async function identifyRequest(keys: KeyRing, request: IdentifiedRequest): Promise<RequestIdentity> {
  const { key } = await keys.active('idempotency');
  const hmac = (value: unknown): string =>
    createHmac('sha256', key).update(canonicalJson(value)).digest('base64url');
  const hashWith = (body: unknown): string =>
    hmac({
      method: request.method,
      canonicalPath: request.canonicalPath,
      ifMatch: request.ifMatch ?? null,
      body: body ?? null,
    });
  // One is an array and the other an object, so that no scope can have the canonical form of a request.
  return {
    id: hmac([request.tenantId, request.method, request.canonicalPath, request.idempotencyKey]),
    hash: hashWith(request.body),
    sentHash: hashWith(request.sentBody ?? request.body),
  };
}

/**
 * Returns whether a record of the same id was written for this request. The hash does not show for which form of the request it is, and need not: a
 * body that equals another request's checked form has that checked form itself.
 */
export function isSameRequest(
  { hash }: Pick<ControlRecord, 'hash'>,
  request: Pick<RequestIdentity, 'hash' | 'sentHash'>,
): boolean {
  return hash === request.hash || hash === request.sentHash;
}

/** Returns the path of a request with each decoded id encoded as one segment, so that every spelling of an id gives one path. */
export function canonicalPath(template: string, parameters: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name];
    if (value === undefined) throw new TypeError(`canonicalPath: no value for ${name}`);
    return encodeURIComponent(value);
  });
}
