import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Route } from '#shared/contract/route.ts';
import type { TestStack } from './stack.ts';

/** Resource claims of a token. */
type Claims = NonNullable<Parameters<TestStack['tokenFor']>[2]>;

/** A request as a test wants it, right or wrong. What it leaves out is what a good client sends. */
export interface GatewayCall {
  /** Default: `tenant-aurora`. */
  readonly tenantId?: string;
  /** Default: the route's own. */
  readonly scopes?: readonly string[];
  readonly claims?: Claims;
  /** Default: a fresh one, where the route takes one; null sends none. */
  readonly key?: string | null;
  readonly ifMatch?: string | undefined;
  /** A string is sent byte for byte, anything else as JSON. */
  readonly body?: unknown;
  /** Beside those of a good client, or instead of them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Path parameters, not encoded yet. */
  readonly path?: Readonly<Record<string, string>>;
  /** What follows the path, with its question mark. */
  readonly query?: string;
}

export interface GatewayReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Sends one request of a route to a service of the gateway. */
export async function callGateway(
  stack: Pick<TestStack, 'tokenFor'>,
  serviceUrl: string,
  route: Route,
  call: GatewayCall,
): Promise<GatewayReply> {
  const { tenantId = 'tenant-aurora', scopes = [route.scope], claims, key, ifMatch } = call;
  const { body, headers, path, query = '' } = call;
  const target = Object.entries(path ?? {}).reduce<string>(
    (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)),
    route.path,
  );
  const idempotencyKey = key === undefined && route.request.idempotencyKey ? randomUUID() : key;
  const response = await fetch(`${serviceUrl}${target}${query}`, {
    method: route.method,
    headers: {
      Authorization: `Bearer ${await stack.tokenFor(tenantId, scopes, claims)}`,
      ...(route.request.body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(typeof idempotencyKey === 'string' ? { 'Idempotency-Key': idempotencyKey } : {}),
      ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/**
 * Everything that a caller can tell two answers apart by, without what names the occurrence: a request of its own is a request of its own
 * wherever its resource belongs to.
 */
export function indistinguishable({ status, headers, text }: GatewayReply): object {
  const { requestId, traceId, instance, ...rest } = JSON.parse(text) as Record<string, unknown>;
  expect(instance).toBe(`urn:uuid:${String(requestId)}`);
  const named = [...headers].filter(([name]) => !['date', 'x-request-id', 'x-amzn-requestid'].includes(name));
  const order = Object.keys(JSON.parse(text) as object);
  return { status, headers: named, rest, order, length: text.length, traced: traceId !== undefined };
}
