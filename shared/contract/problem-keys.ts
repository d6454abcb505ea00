/**
 * Every problem of each service, as `status code`: what rows of routes may name. The problem registry has one row per key; its test does not
 * compile while one of them lacks the other.
 */
interface ProblemKeys {
  readonly mastery:
    | '400 invalid-request'
    | '401 authentication-required'
    | '403 insufficient-scope'
    | '404 resource-not-found'
    | '409 adaptive-pool-version-drift'
    | '409 idempotency-key-reused'
    | '409 stream-conflict'
    | '412 stream-conflict'
    | '413 payload-too-large'
    | '413 simulation-limit-exceeded'
    | '422 calibration-invalid'
    | '424 finalization-incomplete'
    | '424 upstream-unavailable'
    | '428 precondition-required'
    | '429 rate-limited'
    | '500 internal-error'
    | '502 qti-adaptive-pool-invalid';
  readonly reports:
    | '400 unsupported-parameter'
    | '400 validation'
    | '401 authentication-required'
    | '403 authorization-denied'
    | '404 not-found'
    | '409 idempotency-conflict'
    | '409 source-version-conflict'
    | '413 payload-too-large'
    | '429 rate-limited'
    | '500 internal-error'
    | '503 dependency-incomplete'
    | '503 dependency-unavailable';
}

/** A problem that a route of the service can return. */
export type ProblemKey<S extends keyof ProblemKeys = keyof ProblemKeys> = ProblemKeys[S];
