import type { MasteryProblem } from '#shared/contract/mastery/problem.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { ServiceName } from '#shared/contract/route.ts';

/** A location in the request: a JSON Pointer into `{path, query, headers, body}`. Never holds a submitted value [MA-210]. */
export type InvalidParam = Readonly<NonNullable<MasteryProblem['invalidParams']>[number]>;

export type UpstreamReference = Readonly<NonNullable<MasteryProblem['upstream']>>;

/** Headers that every answer about a deprecated resource carries, its problems included [MA-049, MA-050]. */
export type DeprecationHeaders = Readonly<Partial<Record<'Deprecation' | 'Sunset' | 'Link', string>>>;

/**
 * One occurrence of a registered problem. Title, public text and retryability come from the registry's row; nothing in it comes from a
 * caller or an upstream body. Made by `problem()` in registry.ts only, which knows what each row carries.
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
  /** Mastery only: of a pool that was refused. */
  readonly receiptId?: string;
  readonly upstream?: UpstreamReference;
  /** Reports only: the id of the invariant that the owners’ facts break. It is logged, and stands in `detail`. */
  readonly invariant?: string;
  /** Reports only. */
  readonly dependency?: SourceService;
  /** Reports only. */
  readonly operationId?: string;
  readonly headers?: DeprecationHeaders;
}
