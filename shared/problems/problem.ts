import type { MasteryProblem } from '#shared/contract/mastery/problem.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { ServiceName } from '#shared/contract/route.ts';

/** A location in the request: a JSON Pointer into `{path, query, headers, body}`. Never contains a submitted value [MA-210]. */
export type InvalidParam = Readonly<NonNullable<MasteryProblem['invalidParams']>[number]>;

export type UpstreamReference = Readonly<NonNullable<MasteryProblem['upstream']>>;

/** Headers of every response about a deprecated resource, including its problems [MA-049, MA-050]. */
export type DeprecationHeaders = Readonly<Partial<Record<'Deprecation' | 'Sunset' | 'Link', string>>>;

/**
 * One occurrence of a registered problem. Title, public text and retryability come from the registry's row; nothing in it comes from a caller or an
 * upstream body. Only `problem()` in registry.ts creates it, by the members that each row carries.
 */
export interface Problem {
  readonly service: ServiceName;
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  readonly retryable: boolean;
  readonly retryAfterSeconds?: number;
  readonly invalidParams?: readonly InvalidParam[];
  readonly currentEtag?: string;
  /** Mastery only: for a pool that was refused. */
  readonly receiptId?: string;
  readonly upstream?: UpstreamReference;
  /** Reports only: the id of the invariant that the owners’ facts violate. It is logged, and part of `detail`. */
  readonly invariant?: string;
  /** Reports only. */
  readonly dependency?: SourceService;
  /** Reports only. */
  readonly operationId?: string;
  readonly headers?: DeprecationHeaders;
}
