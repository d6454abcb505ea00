import type { Context } from 'aws-lambda';

/** A function that a schedule calls; whatever event it comes with says nothing. */
export type ScheduledHandler = (
  event: unknown,
  context: Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>,
) => Promise<void>;
