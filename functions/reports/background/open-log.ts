import type { Context } from 'aws-lambda';
import type { BackgroundFunction } from '#shared/contract/background.ts';
import { EnvironmentError } from '#shared/http/environment.ts';
import type { Runtime } from '#shared/lambda/runtime.ts';
import { describeError } from '#shared/observability/describe-error.ts';
import { createLogger, parseLogLevel } from '#shared/observability/logger.ts';
import type { Log, LogFields } from '#shared/observability/logger.ts';

/** What of the process a background function needs to write its log. */
export type LogRuntime = Pick<Runtime, 'environment' | 'now' | 'write'>;

/** The log of one invocation of a background function. */
export function openLog(
  { service, operationId }: BackgroundFunction,
  { awsRequestId }: Pick<Context, 'awsRequestId'>,
  { environment, now, write }: LogRuntime,
): Log {
  return createLogger({
    write,
    now,
    level: parseLogLevel(environment['LOG_LEVEL']),
    context: { service, operation: operationId, requestId: awsRequestId },
  });
}

/** Logs what stopped the work: a defect, or an outage of the deployment. */
export function logBroken(log: Log, error: unknown, fields: LogFields = {}): void {
  if (error instanceof EnvironmentError) log('ENVIRONMENT_INVALID', { variables: error.variables });
  log('BACKGROUND_WORK_BROKEN', { ...describeError(error), ...fields });
}

/** What the runtime may see of it: Lambda logs the message of what a function throws, and that of another error may quote anything. */
export class BackgroundWorkBroken extends Error {
  override readonly name = 'BackgroundWorkBroken';

  constructor() {
    super('a defect or an outage stopped the work; the log line BACKGROUND_WORK_BROKEN says where');
  }
}
