import { problems, type ProblemKey, type ProblemTexts } from '#shared/contract/problems.ts';
import { serviceNames, type ServiceName } from '#shared/contract/route.ts';
import type { DeprecationHeaders, Problem } from './problem.ts';

/** Members that a row may require of its occurrences. */
type Extras = Required<Pick<Problem, 'invalidParams' | 'currentEtag' | 'upstream' | 'dependency'>>;

/** One problem of one service. The serializers, the problem pages, OpenAPI and the gateway's own responses read it. */
export type ProblemRow = Omit<ProblemTexts, 'retryable'> & {
  readonly service: ServiceName;
  /** Suffix of the `type` URI. Stable: it may gain documentation, never change its meaning [MA-205, RP-322]. */
  readonly code: string;
  readonly status: number;
  readonly retryable: boolean | 'occurrence';
};

/** Every problem of both services, in the order of the tables. */
export const problemRows: readonly ProblemRow[] = serviceNames.flatMap((service) =>
  Object.entries<ProblemTexts>(problems[service]).map(([key, texts]) => {
    const [status = '', code = ''] = key.split(' ');
    const retryable = texts.retryAfterSeconds !== undefined;
    return { service, code, status: Number(status), retryable, ...texts };
  }),
);

const byKey: ReadonlyMap<string, ProblemRow> = new Map(
  problemRows.map((row) => [`${row.service} ${row.status} ${row.code}`, row]),
);

/** Returns the row of a key of a service, for example `409 stream-conflict`. Throws for a key that is not registered. */
export function problemRow(service: ServiceName, key: string): ProblemRow {
  const row = byKey.get(`${service} ${key}`);
  if (row === undefined) throw new TypeError(`the problem ${service} ${key} is not registered`);
  return row;
}

type ProblemCode<S extends ServiceName> = ProblemKey<S> extends `${number} ${infer C}` ? C : never;
type ProblemStatus<S extends ServiceName, C extends string> =
  ProblemKey<S> extends infer K ? (K extends `${infer T extends number} ${C}` ? T : never) : never;

/** The members that the builder takes for a row: its carried member, `retryable` if the row leaves it open, and those that any occurrence may add. */
type ProblemExtras<S extends ServiceName, C extends string, T extends number> = (typeof problems)[S] extends {
  readonly [K in `${T} ${C}`]: infer Row;
}
  ? ExtrasOf<S, Row>
  : never;

type ExtrasOf<S, Row> = (Row extends { carries: infer M extends keyof Extras } ? Pick<Extras, M> : unknown) &
  (Row extends { retryable: 'occurrence' }
    ? { readonly retryable: boolean }
    : { readonly retryable?: never }) &
  (Row extends { uniform: true }
    ? { readonly detail?: never }
    : {
        /** A constant sentence for this kind of occurrence, never made of submitted or upstream text. */
        readonly detail?: string;
      }) &
  (S extends 'reports' ? { readonly operationId?: string } : { readonly operationId?: never }) & {
    /** `never`: a retry can succeed, but only after an operator has corrected something, so no time can be given. */
    readonly retryAfterSeconds?: number | 'never';
    readonly headers?: DeprecationHeaders;
  };

/** Required if a member of the extras is required. */
type ExtrasArgument<E> = Partial<E> extends E ? [extras?: E] : [extras: E];

/**
 * Returns one occurrence of a registered problem: only triples of the registry compile, with exactly the members that the row carries.
 * @example problem('mastery', 'stream-conflict', 412, { currentEtag })
 */
export function problem<S extends ServiceName, C extends ProblemCode<S>, T extends ProblemStatus<S, C>>(
  service: S,
  code: C,
  status: T,
  ...[extras]: ExtrasArgument<ProblemExtras<S, C, T>>
): Problem {
  // SAFETY: members of an occurrence, except the requested wait.
  const asked = (extras ?? {}) as Partial<Problem> & Pick<NonNullable<typeof extras>, 'retryAfterSeconds'>;
  return occurrenceOf(problemRow(service, `${status} ${code}`), asked);
}

export function occurrenceOf(
  { service, code, status, ...row }: ProblemRow,
  {
    retryAfterSeconds = row.retryAfterSeconds,
    retryable,
    detail = row.detail,
    ...carried
  }: Omit<Partial<Problem>, 'retryAfterSeconds'> & { readonly retryAfterSeconds?: number | 'never' },
): Problem {
  const mayRetry = row.retryable === 'occurrence' ? retryable === true : row.retryable;
  return {
    service,
    code,
    status,
    detail,
    retryable: mayRetry,
    ...(mayRetry && typeof retryAfterSeconds === 'number' ? { retryAfterSeconds } : {}),
    ...carried,
  };
}

/**
 * Returns the problem of a part of the deployment that every request needs and that cannot be read: the issuer's key set, or a store of the service.
 * @param operation its name for the caller of the mastery engine
 */
export function deploymentOutage(service: ServiceName, operation: string): Problem {
  return service === 'mastery'
    ? problem('mastery', 'upstream-unavailable', 424, {
        upstream: { service: 'platform_auth', operation },
        retryable: true,
      })
    : problem('reports', 'dependency-unavailable', 503, { dependency: 'unknown' });
}

/** Returns a 500 of a service. Only the mastery engine can mark it as not retryable. */
export function internalError(service: ServiceName, retryable = true): Problem {
  return service === 'mastery'
    ? problem('mastery', 'internal-error', 500, { retryable })
    : problem('reports', 'internal-error', 500);
}
