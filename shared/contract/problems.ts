/** The texts of one problem type at one status, and what its occurrences carry. */
export interface ProblemTexts {
  /** Stable summary, 1-120 characters; clients must not branch on it. */
  readonly title: string;
  /** The public text of an occurrence that has no more specific one, 1-1000 characters. */
  readonly detail: string;
  /** Seconds in `Retry-After` when the occurrence is retryable. A row without them never is. */
  readonly retryAfterSeconds?: number;
  /** `occurrence`: depends on whether the failure was transient; the builder then requires it. */
  readonly retryable?: 'occurrence';
  /** A member of every occurrence. */
  readonly carries?: 'invalidParams' | 'currentEtag' | 'upstream' | 'dependency';
  /** Every occurrence has the same text: a differing one could distinguish an absent thing from a forbidden one, or one bad token from another. */
  readonly uniform?: true;
  /** For the problem page: what the response means, why it occurs, what the caller should do. */
  readonly meaning: string;
  readonly cause: string;
  readonly remedy: string;
}

/** Texts that both services share, with one page. */
const authenticationRequired = {
  title: 'Authentication required',
  detail: 'The request needs exactly one valid bearer token from the configured issuer for this service.',
  uniform: true,
  meaning: 'The caller could not be authenticated. Nothing was read or changed.',
  cause:
    'The Authorization header is missing, repeated, empty or not `Bearer`; or the token is malformed, expired, not yet valid, from another issuer, for another audience, signed with an unknown key or an unsupported algorithm, or lacks a required claim. The response is the same in every case.',
  remedy:
    'Obtain a new token from the platform’s issuer and repeat the request with exactly one `Authorization: Bearer <JWT>` header. If a fresh token is rejected, check the client’s clock.',
} as const;

const payloadTooLarge = {
  title: 'Request body too large',
  detail: 'The request body is larger than this operation accepts.',
  meaning: 'The body was not parsed. Nothing was read or changed.',
  cause:
    'The body exceeds the operation’s limit in this deployment (256 KiB unless the operation’s description gives another).',
  remedy: 'Send only the documented fields. White space and escape sequences count towards the limit.',
} as const;

const rateLimited = {
  title: 'Too many requests',
  detail: 'The rate limit of this service was reached.',
  retryAfterSeconds: 1,
  meaning: 'The request was rejected before any work. Nothing was read or changed.',
  cause:
    'The requests exceed the rate limit of the stage, of the caller’s tenant or of the caller’s address.',
  remedy:
    'Wait for the time in `Retry-After`, then repeat the identical request with the same `Idempotency-Key`. Back off with jitter.',
} as const;

/** Cause and remedy differ: only the mastery engine has `If-Match`, only the reports service names the operation. */
const keyReused = {
  title: 'Idempotency key reused',
  detail:
    'This Idempotency-Key was already used for a different request to this operation in the last 24 hours.',
  meaning:
    'The tenant already used this Idempotency-Key for a different request with the same method and path. No owner was called.',
} as const;

const internalErrorTexts = {
  title: 'Unexpected failure',
  detail: 'The service failed unexpectedly. Give the requestId to its operators; their log has the cause.',
  retryAfterSeconds: 5,
  meaning: 'A defect of the service itself stopped the request.',
  cause:
    'A stored record is damaged, a simulation exceeded its time limit, or the service or its deployment has a defect. The service’s log contains the cause under the requestId.',
  remedy:
    'If `retryable` is true, repeat the identical request with the same `Idempotency-Key`: nothing is written twice. If the failure persists, report the requestId.',
} as const;

/** Every problem of both services, by `<status> <code>`. The order is that of the tables in the API documents. */
export const problems = {
  mastery: {
    '400 invalid-request': {
      title: 'Invalid request',
      detail: 'The request does not match the documented shape of this operation.',
      carries: 'invalidParams',
      meaning: 'The request is not a valid call of this operation. Nothing was read or changed.',
      cause:
        'Malformed JSON, a repeated member name, an unknown field, a field with learner data, a wrong type, a value out of range, a malformed path id, an unsupported query parameter, a missing or malformed `Idempotency-Key`, a media type other than `application/json`, or a continuation that has expired.',
      remedy:
        'Correct every location in `invalidParams` (JSON Pointers into path, query, headers and body). If the reason is `expired`, start a new run.',
    },
    '401 authentication-required': authenticationRequired,
    '403 insufficient-scope': {
      title: 'Insufficient scope',
      detail: 'The token is valid but does not carry the scope that this operation needs.',
      uniform: true,
      meaning: 'The caller is authenticated but is not allowed to use this operation.',
      cause: 'The token’s space-separated `scope` claim lacks the operation’s scope.',
      remedy:
        'Request a token with the scope of the operation: `mastery:run`, `mastery:read` or `mastery:simulate`.',
    },
    '404 resource-not-found': {
      title: 'Resource not found',
      detail: 'No such resource is visible to this caller.',
      uniform: true,
      meaning:
        'No resource with this id is visible to your token. It may or may not exist. An unknown path returns the same response.',
      cause:
        'The id is wrong or belongs to another tenant, or the deployment cannot open the continuation. The response is the same in every case.',
      remedy: 'Check the id, and check that the token is for the tenant that owns the resource.',
    },
    '409 idempotency-key-reused': {
      ...keyReused,
      cause:
        'The body or the `If-Match` header differs from that of the first request with this key. The order of members and white space do not matter.',
      remedy: 'Use a new key for a new request. To retry a request, send it unchanged.',
    },
    '409 stream-conflict': {
      title: 'Stream conflict',
      detail: 'The continuation no longer matches the owners’ records of this run.',
      meaning: 'The run cannot continue from this continuation.',
      cause:
        'The Content blueprint changed, QTI outcomes contradict each other or one that the run has already used, the continuation does not match its sessions, or the candidate already has an offer for a different item.',
      remedy:
        'If start or advance returned this, inspect the run once. If inspect returns it too, the run cannot continue: report the requestId to the operators, and start a new run once they have corrected the owners’ records.',
    },
    '409 adaptive-pool-version-drift': {
      title: 'Adaptive pool version drift',
      detail: 'The pool differs from the version that this run is pinned to.',
      meaning:
        'The item pool changed after the service had reconciled it. No item was offered from the changed pool.',
      cause:
        'The QTI root, a member, its knowledge components, an ETag or the resolved pool hash changed between two reads.',
      remedy: 'Stop this run. Start a new one only with a newly certified, immutable version of the pool.',
    },
    '412 stream-conflict': {
      title: 'Entity tag is not current',
      detail: 'If-Match does not equal the current strong entity tag of this run.',
      retryAfterSeconds: 1,
      carries: 'currentEtag',
      meaning:
        'The run has changed since the tag was issued, usually because an attempt was scored. No outcome was consumed.',
      cause: '`If-Match` contains an outdated or weak tag, `*`, a list, or a tag without quotation marks.',
      remedy:
        'Inspect the run, update the client’s view of it, then advance with `currentEtag` and a new `Idempotency-Key`.',
    },
    '413 simulation-limit-exceeded': {
      title: 'Simulation limit exceeded',
      detail: 'A simulation accepts at most 100 profiles with at most 500 knowledge components each.',
      meaning: 'The simulation was not started.',
      cause: '`profiles` has more than 100 entries, or the `knownMastery` of a profile has more than 500.',
      remedy: 'Split the profiles among several requests, each with its own `Idempotency-Key`.',
    },
    '413 payload-too-large': payloadTooLarge,
    '422 calibration-invalid': {
      title: 'Calibration cannot be used',
      detail: 'The scale calibration cannot be used for this pool at this time.',
      meaning: 'The calibration exists but cannot measure with this pool for this request.',
      cause:
        'Item or knowledge-component parameters are missing or incompatible, the CASE framework, subject or grade differs, its validity has ended, its licence does not cover this use, or its stored checksum does not match.',
      remedy: 'Choose a valid calibration for this pool.',
    },
    '424 upstream-unavailable': {
      title: 'Upstream dependency unavailable',
      detail: 'A required owner did not return a usable response.',
      retryable: 'occurrence',
      retryAfterSeconds: 5,
      carries: 'upstream',
      meaning:
        'The operation needs a fact, a capability or an acknowledgement that its owner did not provide. No run is returned.',
      cause:
        '`upstream.service` and `upstream.operation` name the owner and its operation. `platform_auth` means the tenant’s service profile, the issuer’s key set or the service itself: a store of it with the operation `platform_auth.own_stores`, a simulation that ran out of time with `platform_auth.own_computation`.',
      remedy:
        'If `retryable` is true, repeat the identical request with the same `Idempotency-Key` after the time in `Retry-After`; split the profiles of a simulation that still does not end in time over several requests. Otherwise report the named operation to its owner. Do not send a credential, a list of items or any other substitute.',
    },
    '424 finalization-incomplete': {
      title: 'Finalization incomplete',
      detail: 'A write that completes the run, or the read that verifies it, was not acknowledged.',
      retryAfterSeconds: 5,
      carries: 'upstream',
      meaning: 'The test has ended, but not every owner has acknowledged its result yet.',
      cause: 'Results or Caliper rejected a step of the finalization or did not respond to it.',
      remedy:
        'If the response has `Retry-After`, wait that long, then send the identical advance again with the same `Idempotency-Key`. If it has none, inspect the run first.',
    },
    '428 precondition-required': {
      title: 'Precondition required',
      detail: 'Advance needs an If-Match header with the current strong entity tag.',
      meaning:
        'Without the tag, the request could act on a state that the client has not seen. No outcome was consumed.',
      cause: 'The request has no `If-Match` header.',
      remedy: 'Inspect the run, then advance with the `ETag` of that response in `If-Match`.',
    },
    '429 rate-limited': rateLimited,
    '500 internal-error': { ...internalErrorTexts, retryable: 'occurrence' },
    '502 qti-adaptive-pool-invalid': {
      title: 'Adaptive pool violates its contract',
      detail: 'The Bank manifest and the QTI root do not describe one valid pool.',
      carries: 'upstream',
      meaning: 'The owners’ data is present but wrong. The service never selects items from part of a pool.',
      cause:
        'A reference of the QTI root does not resolve to exactly one resource, a member is not in the package’s graph, an array of CASE items or knowledge components is empty or not canonical, the package identity or hash does not match, or two reads of the same resource differ.',
      remedy: 'Report the requestId and the `receiptId` to the owner in `upstream`.',
    },
  },
  reports: {
    '400 validation': {
      title: 'Invalid request',
      detail: 'The request does not match the documented shape of this operation.',
      carries: 'invalidParams',
      meaning: 'A field, query parameter or header is malformed or invalid. Nothing was read or changed.',
      cause:
        'Malformed JSON, a repeated member or query name, an unknown body field, a wrong type, a value out of range, a malformed reference, a missing or malformed `Idempotency-Key`, a body on an operation that has none, a cursor from a different request, or a media type other than `application/json`.',
      remedy: 'Correct every location in `fieldErrors` (JSON Pointers into path, query, headers and body).',
    },
    '400 unsupported-parameter': {
      title: 'Unsupported query parameter',
      detail: 'The request has a query parameter or a sort order that this operation does not support.',
      carries: 'invalidParams',
      meaning:
        'The service rejects unknown query parameters, because ignoring a filter would return more than the caller asked for.',
      cause: 'The query contains an unknown parameter name or an unsupported value of `sort`.',
      remedy:
        'Remove the parameters in `fieldErrors`. Names are case-sensitive: the filter for a QTI test is `qtiTestId`.',
    },
    '401 authentication-required': authenticationRequired,
    '403 authorization-denied': {
      title: 'Permission scope missing',
      detail: 'The token is valid but does not carry the permission scope that this operation needs.',
      uniform: true,
      meaning: 'The caller is authenticated but is not allowed to use this operation.',
      cause:
        'The token’s space-separated `scope` claim lacks `reports:read` (for reads) or `reports:write` (for materialize and analyze).',
      remedy: 'Request a token with the scope of the operation.',
    },
    '404 not-found': {
      title: 'Not found',
      detail: 'No such resource is visible to this caller.',
      uniform: true,
      meaning: 'No resource with this id is visible to your token. It may or may not exist.',
      cause:
        'The id or path is wrong, or the resource belongs to another tenant or is not covered by the token’s resource claims. The response is the same in every case.',
      remedy: 'Check the id, and check the tenant and the resource claims of the token.',
    },
    '409 idempotency-conflict': {
      ...keyReused,
      cause:
        'The body differs from that of the first request with this key. The order of members and white space do not matter.',
      remedy:
        'Use a new key for a new request. To retry a request, send it unchanged. `operationId` identifies the operation that the first request started.',
    },
    '409 source-version-conflict': {
      title: 'Source versions differ',
      detail: 'The sources returned different versions in repeated reads.',
      retryAfterSeconds: 2,
      carries: 'dependency',
      meaning:
        'The facts of the response belong to different versions, even after the service read them again.',
      cause: 'An owner changed the facts while the service was composing the response.',
      remedy: 'Repeat the identical request after the time in `Retry-After`.',
    },
    '413 payload-too-large': payloadTooLarge,
    '429 rate-limited': rateLimited,
    '500 internal-error': { ...internalErrorTexts, uniform: true },
    '503 dependency-unavailable': {
      title: 'Dependency unavailable',
      detail: 'A required source is currently unavailable.',
      retryAfterSeconds: 5,
      carries: 'dependency',
      meaning:
        'A required source is unavailable. The service never returns a partial report. In `incompleteSections` of a report, an optional source is unavailable, and the report is complete without it.',
      cause:
        '`dependency` names the owner that did not return a usable response. `unknown` means that the issuer’s key set or a store of the service itself is unavailable, the tenant has no service profile yet, or the route’s release gate has been withdrawn.',
      remedy:
        'Repeat the identical request after the time in `Retry-After`, with the same `Idempotency-Key` if you sent one.',
    },
    '503 dependency-incomplete': {
      title: 'Dependency incomplete',
      detail: 'A fact that the response needs is missing or outdated at its owner.',
      retryAfterSeconds: 30,
      carries: 'dependency',
      meaning:
        'The owner responds, but it has not settled the fact yet. The service never estimates a missing fact.',
      cause: '`dependency` names the owner. Usually, Results has not settled the record of the attempt yet.',
      remedy:
        'Repeat the identical request once the owner has settled the fact, at the earliest after the time in `Retry-After`.',
    },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<`${number} ${string}`, ProblemTexts>>>>;

type ProblemKeys = { readonly [S in keyof typeof problems]: keyof (typeof problems)[S] };

/** A problem that a route of the service can return. */
export type ProblemKey<S extends keyof ProblemKeys = keyof ProblemKeys> = ProblemKeys[S];
