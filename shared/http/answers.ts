import type { Log } from '#shared/observability/logger.ts';

/** The result of the pipeline, for a gateway: the function's handler turns it into the form that the route's transfer requires. */
export interface PipelineAnswer {
  statusCode: number;
  headers: Record<string, string>;
  /** A string; for a streamed success the pieces of its text, which can be taken once, or bytes sent unchanged. */
  readonly body: string | Iterable<string> | Uint8Array;
  /** Whether the body may be compressed. */
  readonly gzip: boolean;
  /** The code, if it is a problem. */
  readonly problem?: string;
  /** The log for events while the response is sent. */
  readonly log: Log;
}
