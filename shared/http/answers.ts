import type { Log } from '#shared/observability/logger.ts';

/** What comes out of the ladder, for a gateway: the function's handler turns it into the form that the route's transfer asks for. */
export interface PipelineAnswer {
  statusCode: number;
  headers: Record<string, string>;
  /** A text, except for a success that is streamed: the pieces of its text, to be taken once, or bytes as they are. */
  readonly body: string | Iterable<string> | Uint8Array;
  /** Whether the body may go out compressed. */
  readonly gzip: boolean;
  /** The code, when it is a problem. */
  readonly problem?: string;
  /** For what happens on the way out. */
  readonly log: Log;
}
