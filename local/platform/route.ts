import type * as z from 'zod';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { TenantState } from './tenant-state.ts';

/** What an owner is asked, after the credential, the path, the query and the body's schema have been checked. */
export interface OwnerRequest<Body = unknown> {
  readonly tenant: TenantState;
  /** Decoded path parameters. */
  readonly path: Readonly<Record<string, string>>;
  /** Every demanded parameter and the optional ones that were given, none of them empty. */
  readonly query: Readonly<Record<string, string>>;
  readonly body: Body;
  /** The header's value, or '' on a route that does not demand one. */
  readonly idempotencyKey: string;
  /** The platform's time. */
  readonly now: string;
}

/** The owner's answer; `body` undefined is an empty one. */
export interface OwnerAnswer<Body = unknown> {
  readonly status: number;
  readonly body: Body;
}

/** The owner's refusal, sent as a problem document. */
export interface OwnerRefusal {
  readonly refused: number;
  readonly detail: string;
}

export function refuse(status: number, detail: string): OwnerRefusal {
  return { refused: status, detail };
}

/** One route of an owner. */
export interface OwnerRoute {
  readonly operation: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Query names that every call gives. */
  readonly query: readonly string[];
  /** Query names that a call may leave out. */
  readonly optionalQuery: readonly string[];
  /** Whose token it takes: the service profile's, or the player's. */
  readonly caller: 'profile' | 'player';
  readonly demandsIdempotencyKey: boolean;
  readonly body: z.ZodType | undefined;
  readonly tenantInAnswer: boolean;
  /** An entity with a validator: the answer carries a strong ETag, and `If-None-Match` may be answered with 304. */
  readonly versioned: boolean;
  /** JSON Pointers to the ids by which a caller sees what the answer is about, for the fault `other_entity`. */
  readonly identities: readonly string[];
  readonly handle: (request: OwnerRequest) => OwnerAnswer | OwnerRefusal;
  /** Looks at the parsed body before its schema, where the standard wants another status than 400. */
  readonly precheck: ((body: unknown) => OwnerRefusal | undefined) | undefined;
  /** The same entity in another version, for the fault `version_drift`. */
  readonly drift: ((body: object) => object) | undefined;
  /** What the owner answered earlier, for the fault `stale`. */
  readonly stale: ((request: OwnerRequest) => OwnerAnswer | OwnerRefusal) | undefined;
  /** What another tenant would be answered, for the fault `wrong_tenant` where the answer itself names no tenant. */
  readonly foreign: ((other: TenantState) => object | undefined) | undefined;
}

type BodyOf<Body extends z.ZodType | undefined> = Body extends z.ZodType ? z.output<Body> : undefined;

/** How an owner serves one upstream operation; the row contains everything else. */
interface Service<Answer extends z.ZodType, Body extends z.ZodType | undefined> {
  readonly identities: readonly string[];
  readonly handle: (request: OwnerRequest<BodyOf<Body>>) => OwnerAnswer<z.input<Answer>> | OwnerRefusal;
  readonly versioned?: boolean;
  readonly demandsIdempotencyKey?: boolean;
  readonly precheck?: (body: unknown) => OwnerRefusal | undefined;
  readonly drift?: (body: z.output<Answer>) => z.input<Answer>;
  readonly stale?: (request: OwnerRequest<BodyOf<Body>>) => OwnerAnswer<z.input<Answer>> | OwnerRefusal;
  readonly foreign?: (other: TenantState) => z.input<Answer> | undefined;
}

/** Returns the route of an upstream operation, typed by the row's own schemas. */
export function serve<Answer extends z.ZodType, Body extends z.ZodType | undefined>(
  row: UpstreamOperation<Answer, Body>,
  service: Service<Answer, Body>,
): OwnerRoute {
  return {
    operation: row.id,
    method: row.method,
    path: row.path,
    query: row.query,
    optionalQuery: row.optionalQuery ?? [],
    caller: 'profile',
    demandsIdempotencyKey: service.demandsIdempotencyKey ?? false,
    body: row.body,
    tenantInAnswer: row.tenantInAnswer,
    versioned: service.versioned ?? false,
    identities: service.identities,
    // SAFETY: the server hands over only bodies that `row.body` has parsed, and only bodies that this route itself answered.
    handle: service.handle as OwnerRoute['handle'],
    precheck: service.precheck,
    drift: service.drift as OwnerRoute['drift'],
    stale: service.stale as OwnerRoute['stale'],
    foreign: service.foreign as OwnerRoute['foreign'],
  };
}
