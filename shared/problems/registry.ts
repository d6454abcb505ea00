import type { ServiceName } from '#shared/contract/route.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { DeprecationHeaders, InvalidParam, Problem, UpstreamReference } from './problem.ts';

/** What an occurrence may carry beside its row. */
interface Extras {
  readonly invalidParams: readonly InvalidParam[];
  readonly currentEtag: string;
  readonly upstream: UpstreamReference;
  readonly dependency: SourceService;
}

/**
 * One problem type of one service at one status: the only place where a status stands beside a text. The serializers, the problem pages,
 * OpenAPI and the gateway's own responses read it.
 */
export interface ProblemRow {
  readonly service: ServiceName;
  /** Suffix of the `type` URI. Stable: it may gain documentation, never change its meaning [MA-205, RP-322]. */
  readonly code: string;
  readonly status: number;
  /** Stable summary, 1-120 characters; nobody branches on it. */
  readonly title: string;
  /** The public text of an occurrence that says nothing more specific, 1-1000 characters. */
  readonly detail: string;
  /** `occurrence`: true or false as the failure was transient or not; the builder then demands it. */
  readonly retryable: boolean | 'occurrence';
  /** Seconds in `Retry-After` when the occurrence is retryable. */
  readonly retryAfterSeconds?: number;
  /** What every occurrence carries. */
  readonly carries: readonly (keyof Extras)[];
  /** Every occurrence reads the same: another text could tell an absent thing from a forbidden one, or one bad token from another. */
  readonly uniform?: true;
  /** For the problem page: what the answer states, why it happens, what the caller does. */
  readonly meaning: string;
  readonly cause: string;
  readonly remedy: string;
}

/** Texts that both services share with one page. */
const authenticationRequired = {
  code: 'authentication-required',
  status: 401,
  title: 'Authentication required',
  detail: 'The request needs one valid bearer token of the configured issuer for this service.',
  retryable: false,
  carries: [],
  uniform: true,
  meaning: 'Nobody could be identified. Nothing was read and nothing was done.',
  cause:
    'The Authorization header is missing, repeated, empty or not `Bearer`; or the token is malformed, expired, not yet valid, of another issuer or audience, signed with an unknown key or a refused algorithm, or lacks a required claim. Every such request gets this same answer.',
  remedy:
    'Obtain a new token from the platform’s issuer and repeat the request with exactly one `Authorization: Bearer <JWT>` header. Check the clock of the client when fresh tokens are refused.',
} as const;

const payloadTooLarge = {
  code: 'payload-too-large',
  status: 413,
  title: 'Request body too large',
  detail: 'The request body is larger than this operation accepts.',
  retryable: false,
  carries: [],
  meaning: 'The body was not parsed and nothing was done.',
  cause:
    'The body exceeds the limit that the deployment sets for the operation (256 KiB unless its page says otherwise).',
  remedy: 'Send only the documented fields. White space and repeated encoding count.',
} as const;

const rateLimited = {
  code: 'rate-limited',
  status: 429,
  title: 'Too many requests',
  detail: 'The rate limit of this service was reached.',
  retryable: true,
  retryAfterSeconds: 1,
  carries: [],
  meaning: 'The request was refused before any work.',
  cause: 'More requests arrived than the stage, or the caller’s share of it, admits.',
  remedy:
    'Wait as long as `Retry-After` says, then repeat the identical request with the same `Idempotency-Key`. Back off with jitter.',
} as const;

const internalErrorTexts = {
  code: 'internal-error',
  status: 500,
  title: 'Unexpected failure',
  detail: 'The service failed unexpectedly. No detail is disclosed; quote the requestId to its operators.',
  retryAfterSeconds: 5,
  carries: [],
  meaning: 'A defect or an outage inside the service stopped the request.',
  cause:
    'The deployment’s own stores or keys were unreachable, a stored record is damaged, a simulation was not finished in its time, or the service has a defect. The log holds the reason under the requestId.',
  remedy:
    'Where `retryable` is true, repeat the identical request with the same `Idempotency-Key`: what was already written is recognised and not written twice. Report the requestId when it persists.',
} as const;

/** Every problem of both services. The order is that of the tables in the API documents. */
export const problemRows = [
  {
    service: 'mastery',
    code: 'invalid-request',
    status: 400,
    title: 'Invalid request',
    detail: 'The request does not match the documented shape of this operation.',
    retryable: false,
    carries: ['invalidParams'],
    meaning: 'The request was understood as HTTP but not as a call of this operation. Nothing was done.',
    cause:
      'Malformed JSON, a repeated member name, an unknown or learner-data field, a wrong type or range, a malformed path id, an unsupported query parameter, a missing or malformed `Idempotency-Key`, a media type other than `application/json`, or a continuation that has expired.',
    remedy:
      'Correct every location that `invalidParams` names (JSON Pointers into path, query, headers and body). After `expired`, start a new run.',
  },
  { service: 'mastery', ...authenticationRequired },
  {
    service: 'mastery',
    code: 'insufficient-scope',
    status: 403,
    title: 'Insufficient scope',
    detail: 'The token is valid but does not carry the scope that this operation needs.',
    retryable: false,
    carries: [],
    uniform: true,
    meaning: 'The caller is known and may not use this operation.',
    cause: 'The token’s space-separated `scope` claim lacks the operation’s scope.',
    remedy:
      'Request a token with `mastery:run`, `mastery:read` or `mastery:simulate`, as the operation says.',
  },
  {
    service: 'mastery',
    code: 'resource-not-found',
    status: 404,
    title: 'Resource not found',
    detail: 'No such resource is visible to this caller.',
    retryable: false,
    carries: [],
    uniform: true,
    meaning:
      'What the request names does not exist for the verified tenant. An unknown path answers the same.',
    cause:
      'The id is wrong, belongs to another tenant, or the continuation cannot be opened here. These cannot be told apart.',
    remedy: 'Check the id with its owner, and that the token is of the tenant that owns it.',
  },
  {
    service: 'mastery',
    code: 'idempotency-key-reused',
    status: 409,
    title: 'Idempotency key reused',
    detail: 'This Idempotency-Key was used for another request to this operation within the last 24 hours.',
    retryable: false,
    carries: [],
    meaning:
      'The key already stands for a different request of this tenant, method and path. Nothing was done upstream.',
    cause:
      'The body or the `If-Match` header differs from the first request with this key. Member order and white space do not count.',
    remedy: 'Use a new key for a new request; send an unchanged request to retry.',
  },
  {
    service: 'mastery',
    code: 'stream-conflict',
    status: 409,
    title: 'Stream conflict',
    detail: 'The continuation and the owners’ records no longer form one coherent stream.',
    retryable: false,
    carries: [],
    meaning: 'The run cannot go on from this continuation as it is.',
    cause:
      'The Content blueprint changed, QTI outcomes contradict each other or a consumed one, the token and its sessions disagree, or the candidate already holds an offer of another item.',
    remedy:
      'After start or advance, inspect once. When inspect itself answers this, the continuation is finished: keep the requestId, have the upstream drift repaired, and start a new run.',
  },
  {
    service: 'mastery',
    code: 'adaptive-pool-version-drift',
    status: 409,
    title: 'Adaptive pool version drift',
    detail: 'The pool that was read again differs from the version that this run is pinned to.',
    retryable: false,
    carries: [],
    meaning: 'The item pool is no longer the one that was reconciled. No item was offered from it.',
    cause:
      'The QTI root, a member, its knowledge components, an ETag or the resolved pool hash changed between two reads.',
    remedy: 'Stop this run. Start a new one only against a newly certified immutable version.',
  },
  {
    service: 'mastery',
    code: 'stream-conflict',
    status: 412,
    title: 'Entity tag is not current',
    detail: 'If-Match does not equal the current strong entity tag of this run.',
    retryable: true,
    retryAfterSeconds: 1,
    carries: ['currentEtag'],
    meaning:
      'The run has moved on since the tag was issued, usually because an attempt was scored. Nothing was consumed.',
    cause: '`If-Match` is stale, weak, `*`, a list or unquoted.',
    remedy: 'Inspect, reconcile, then advance with `currentEtag` and a fresh `Idempotency-Key`.',
  },
  {
    service: 'mastery',
    code: 'simulation-limit-exceeded',
    status: 413,
    title: 'Simulation limit exceeded',
    detail: 'A simulation takes at most 100 profiles of at most 500 knowledge components each.',
    retryable: false,
    carries: [],
    meaning: 'The simulation was not begun.',
    cause: '`profiles` has over 100 entries, or the `knownMastery` of one of them over 500.',
    remedy: 'Split the matrix into requests within the limits, each with its own key.',
  },
  { service: 'mastery', ...payloadTooLarge },
  {
    service: 'mastery',
    code: 'calibration-invalid',
    status: 422,
    title: 'Calibration cannot be used',
    detail: 'The scale calibration is not usable for this pool at this time.',
    retryable: false,
    carries: [],
    meaning: 'The calibration exists but cannot measure what the request asks.',
    cause:
      'Item or knowledge-component parameters are missing or incompatible, the CASE framework, subject or grade differs, the validity has ended, the licence does not cover the use, or the stored checksum does not match.',
    remedy: 'Choose a valid calibration for this pool.',
  },
  {
    service: 'mastery',
    code: 'upstream-unavailable',
    status: 424,
    title: 'Upstream dependency unavailable',
    detail: 'A required owner gave no usable answer.',
    retryable: 'occurrence',
    retryAfterSeconds: 5,
    carries: ['upstream'],
    meaning:
      'The operation needs a fact, a capability or an acknowledgement that its owner did not give. No run is returned.',
    cause:
      '`upstream.service` and `upstream.operation` name it. `platform_auth` is the service profile or the issuer’s key set.',
    remedy:
      'When `retryable`, repeat the identical request with the same key after `Retry-After`. Otherwise have the named owner repaired. Never send a credential, an item list or another substitute.',
  },
  {
    service: 'mastery',
    code: 'finalization-incomplete',
    status: 424,
    title: 'Finalization incomplete',
    detail: 'A write or a read-back that completes the run was not acknowledged.',
    retryable: true,
    retryAfterSeconds: 5,
    carries: ['upstream'],
    meaning: 'The test has ended; its result is not yet acknowledged by every owner.',
    cause: 'Results or Caliper refused or could not answer a finalization step.',
    remedy:
      'With `Retry-After`: wait that long, then send the same advance again, `Idempotency-Key` included. Without it: inspect before anything else.',
  },
  {
    service: 'mastery',
    code: 'precondition-required',
    status: 428,
    title: 'Precondition required',
    detail: 'Advance needs an If-Match header with the current strong entity tag.',
    retryable: false,
    carries: [],
    meaning: 'The request could overwrite a state that the client has not seen. Nothing was consumed.',
    cause: '`If-Match` is absent.',
    remedy: 'Inspect, then advance with the `ETag` of that answer in `If-Match`.',
  },
  { service: 'mastery', ...rateLimited },
  { service: 'mastery', ...internalErrorTexts, retryable: 'occurrence' },
  {
    service: 'mastery',
    code: 'qti-adaptive-pool-invalid',
    status: 502,
    title: 'Adaptive pool breaks its contract',
    detail: 'The Bank manifest and the QTI root do not describe one valid pool.',
    retryable: false,
    carries: ['upstream'],
    meaning: 'Owner data is present and wrong. Nothing is ever selected from a part of it.',
    cause:
      'A root reference does not resolve exactly once, a member lies outside the graph, a CASE or knowledge-component array is empty or not canonical, package identity or hash disagree, or repeated reads differ.',
    remedy:
      'Keep the requestId and the receipt id, and report the violation to the owner that `upstream` names.',
  },
  {
    service: 'reports',
    code: 'validation',
    status: 400,
    title: 'Invalid request',
    detail: 'The request does not match the documented shape of this operation.',
    retryable: false,
    carries: ['invalidParams'],
    meaning: 'A known field, query parameter or header is malformed or invalid. Nothing was done.',
    cause:
      'Malformed JSON, a repeated member or query name, an unknown body field, a wrong type, range or reference, a missing or malformed `Idempotency-Key`, a body where none is taken, a cursor that does not belong to this request, or a media type other than `application/json`.',
    remedy:
      'Correct every location that `fieldErrors` names (JSON Pointers into path, query, headers and body).',
  },
  {
    service: 'reports',
    code: 'unsupported-parameter',
    status: 400,
    title: 'Unsupported query parameter',
    detail: 'The request has a query parameter, or a sort order, that this operation does not support.',
    retryable: false,
    carries: ['invalidParams'],
    meaning: 'Unknown names are never ignored, since an ignored filter would widen the answer.',
    cause: 'A query name that the operation does not know, or an unsupported `sort` value.',
    remedy:
      'Remove what `fieldErrors` points at. Names are case-sensitive; the QTI test filter is `qtiTestId`.',
  },
  { service: 'reports', ...authenticationRequired },
  {
    service: 'reports',
    code: 'authorization-denied',
    status: 403,
    title: 'Permission scope missing',
    detail: 'The token is valid but does not carry the permission scope that this operation needs.',
    retryable: false,
    carries: [],
    uniform: true,
    meaning: 'The caller is known and may not use this operation.',
    cause:
      'The token’s space-separated `scope` claim lacks `reports:read` (reads) or `reports:write` (materialize, analyze).',
    remedy: 'Request a token with the scope that the operation names.',
  },
  {
    service: 'reports',
    code: 'not-found',
    status: 404,
    title: 'Not found',
    detail: 'No such resource is visible to this caller.',
    retryable: false,
    carries: [],
    uniform: true,
    meaning:
      'Nothing of this name lies within the verified claims. It says nothing about what exists upstream.',
    cause:
      'The id or path is wrong, belongs to another tenant, or lies outside the token’s resource claims. These cannot be told apart.',
    remedy: 'Check the id with its owner, and the claims of the token.',
  },
  {
    service: 'reports',
    code: 'idempotency-conflict',
    status: 409,
    title: 'Idempotency key reused',
    detail: 'This Idempotency-Key was used for another request to this operation within the last 24 hours.',
    retryable: false,
    carries: [],
    meaning:
      'The key already stands for a different request of this tenant, method and path. Nothing was done upstream.',
    cause:
      'The body differs from the first request with this key. Member order and white space do not count.',
    remedy:
      'Use a new key for a new request; send an unchanged request to retry. `operationId` names the first operation.',
  },
  {
    service: 'reports',
    code: 'source-version-conflict',
    status: 409,
    title: 'Source versions differ',
    detail: 'The authoritative versions of the sources did not converge.',
    retryable: true,
    retryAfterSeconds: 2,
    carries: ['dependency'],
    meaning: 'Two reads of one composition belong to different versions, also after one more read.',
    cause: 'An owner was writing while the report was composed.',
    remedy: 'Repeat the identical request after `Retry-After`.',
  },
  { service: 'reports', ...payloadTooLarge },
  { service: 'reports', ...rateLimited },
  { service: 'reports', ...internalErrorTexts, retryable: true, uniform: true },
  {
    service: 'reports',
    code: 'dependency-unavailable',
    status: 503,
    title: 'Dependency unavailable',
    detail: 'A required source is unavailable at present.',
    retryable: true,
    retryAfterSeconds: 5,
    carries: ['dependency'],
    meaning: 'No report is given rather than a partial one.',
    cause:
      '`dependency` names the owner that did not answer; `unknown` is the issuer’s key set, a tenant that has no service profile yet, or a release gate that was withdrawn.',
    remedy:
      'Repeat the identical request after `Retry-After`, with the same `Idempotency-Key` where one was sent.',
  },
  {
    service: 'reports',
    code: 'dependency-incomplete',
    status: 503,
    title: 'Dependency incomplete',
    detail: 'A settled fact that the answer needs is absent or stale at its owner.',
    retryable: true,
    retryAfterSeconds: 30,
    carries: ['dependency'],
    meaning: 'The owner answers, but the fact is not settled yet. Nothing is estimated in its place.',
    cause: '`dependency` names the owner; an attempt without its settled Results record is the usual case.',
    remedy: 'Repeat the identical request when the owner has settled the fact, not before `Retry-After`.',
  },
] as const satisfies readonly ProblemRow[];

type Row = (typeof problemRows)[number];
export type ProblemCode<S extends ServiceName> = Extract<Row, { service: S }>['code'];
export type ProblemStatus<S extends ServiceName, C extends string> = Extract<
  Row,
  { service: S; code: C }
>['status'];

/** The keys of a service's rows, as the contract names them. */
export type RegisteredKey<S extends ServiceName> =
  Extract<Row, { service: S }> extends infer R
    ? R extends { readonly status: infer T extends number; readonly code: infer C extends string }
      ? `${T} ${C}`
      : never
    : never;

type RowOf<S extends ServiceName, C extends string, T extends number> = Extract<
  Row,
  { service: S; code: C; status: T }
>;

/** What the builder takes for a row: its carried members, `retryable` where the row leaves it open, and what any occurrence may add. */
export type ProblemExtras<S extends ServiceName, C extends string, T extends number> = Readonly<
  Pick<Extras, RowOf<S, C, T>['carries'][number]>
> &
  (RowOf<S, C, T>['retryable'] extends 'occurrence'
    ? { readonly retryable: boolean }
    : { readonly retryable?: never }) &
  (RowOf<S, C, T> extends { uniform: true }
    ? { readonly detail?: never }
    : {
        /** A constant sentence for this kind of occurrence: never made of submitted or upstream text. */
        readonly detail?: string;
      }) &
  (S extends 'reports' ? { readonly operationId?: string } : { readonly operationId?: never }) & {
    /** `never`: a repetition can succeed, but only after somebody has mended something, so no time is given. */
    readonly retryAfterSeconds?: number | 'never';
    readonly headers?: DeprecationHeaders;
  };

/** Required when some member of the extras is. */
type ExtrasArgument<E> = Partial<E> extends E ? [extras?: E] : [extras: E];

/**
 * One occurrence of a registered problem: only triples of the registry compile, with exactly the members that the row carries.
 * @example problem('mastery', 'stream-conflict', 412, { currentEtag })
 */
export function problem<S extends ServiceName, C extends ProblemCode<S>, T extends ProblemStatus<S, C>>(
  service: S,
  code: C,
  status: T,
  ...[extras]: ExtrasArgument<ProblemExtras<S, C, T>>
): Problem {
  const row = problemRow(service, code, status);
  if (row === undefined) throw new TypeError(`problem: ${service} ${status} ${code} is not registered`);
  const { retryAfterSeconds: asked, ...others } = extras ?? ({} as NonNullable<typeof extras>);
  const { retryable, detail, ...carried } = others as Partial<Problem>;
  const mayRetry = row.retryable === 'occurrence' ? retryable === true : row.retryable;
  const wait = asked === 'never' ? undefined : (asked ?? row.retryAfterSeconds);
  return {
    service,
    code,
    status,
    detail: detail ?? row.detail,
    retryable: mayRetry,
    ...(mayRetry && wait !== undefined ? { retryAfterSeconds: wait } : {}),
    ...carried,
  };
}

/** A 500 of a service. That no repetition gets past it is something that only the mastery engine says. */
export function internalError(service: ServiceName, retryable = true): Problem {
  return service === 'mastery'
    ? problem('mastery', 'internal-error', 500, { retryable })
    : problem('reports', 'internal-error', 500);
}

const byKey: ReadonlyMap<string, ProblemRow> = new Map(
  problemRows.map((row) => [`${row.service} ${row.status} ${row.code}`, row]),
);

/** The row of a triple, or undefined. */
export function problemRow(service: ServiceName, code: string, status: number): ProblemRow | undefined {
  return byKey.get(`${service} ${status} ${code}`);
}

/** The row that a service's route means by `409 stream-conflict`, or undefined. */
export function problemRowByKey(service: ServiceName, key: string): ProblemRow | undefined {
  return byKey.get(`${service} ${key}`);
}
