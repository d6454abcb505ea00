import type { Log } from '#shared/observability/logger.ts';
import type { CheckedBody } from './checked-body.ts';

/** What a success can be besides a text: the body of a streamed route, or bytes as they are. */
export type AnswerBody = CheckedBody | Uint8Array;

/** What comes out of the ladder, for a gateway: the function's handler turns it into the form that the route's transfer asks for. */
export interface PipelineAnswer<Body extends AnswerBody = AnswerBody> {
  statusCode: number;
  headers: Record<string, string>;
  /** Not a text only for a success that is streamed. */
  readonly body: string | Body;
  /** Whether the body may go out compressed. */
  readonly gzip: boolean;
  /** The code, when it is a problem. */
  readonly problem?: string;
  /** For what happens on the way out. */
  readonly log: Log;
}
