import type { Context } from 'aws-lambda';
import { EnvironmentError } from '#shared/http/environment.ts';
import { describeError } from '#shared/observability/describe-error.ts';
import type { Log, LogFields } from '#shared/observability/logger.ts';

/** Logs why the work stopped: a defect, or an outage of the deployment. */
export function logBroken(log: Log, error: unknown, fields: LogFields = {}): void {
  if (error instanceof EnvironmentError) log('ENVIRONMENT_INVALID', { variables: error.variables });
  log('BACKGROUND_WORK_BROKEN', { ...describeError(error), ...fields });
}

/** The only error that the runtime may see: Lambda logs the message of a thrown error, and that of another error may contain any value. */
export class BackgroundWorkBroken extends Error {
  override readonly name = 'BackgroundWorkBroken';

  constructor() {
    super('a defect or an outage stopped the work; the log line BACKGROUND_WORK_BROKEN says where');
  }
}

/** A function that a schedule calls; it ignores the content of the event. */
export type ScheduledHandler = (
  event: unknown,
  context: Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>,
) => Promise<void>;

/** Runs a part of an invocation. Logs an error that stops it, and throws it again without its message. */
export async function attempt<T>(log: Log, work: () => Promise<T>, fields?: LogFields): Promise<T> {
  try {
    return await work();
  } catch (error) {
    logBroken(log, error, fields);
    throw new BackgroundWorkBroken();
  }
}
