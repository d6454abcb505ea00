import type { ServiceName } from '#shared/contract/route.ts';

/** A location in the request: a JSON Pointer into `{path, query, headers, body}`. Never holds a submitted value [MA-210]. */
export interface InvalidParam {
  readonly name: string;
  readonly reason: string;
  readonly message: string;
}

export interface UpstreamReference {
  readonly service: 'platform_auth' | 'bank' | 'content' | 'qti' | 'case' | 'results' | 'caliper' | 'anchor';
  readonly operation: string;
  readonly requestId?: string;
}

/** One occurrence of a registered problem. Title, public text and retryability come from the registry's row; nothing in it comes from a caller or an upstream body. */
export interface Problem {
  readonly service: ServiceName;
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  readonly retryable: boolean;
  readonly retryAfterSeconds?: number;
  readonly invalidParams?: readonly InvalidParam[];
  readonly currentEtag?: string;
  readonly upstream?: UpstreamReference;
  /** Reports only. */
  readonly dependency?: string;
  readonly operationId?: string;
}
