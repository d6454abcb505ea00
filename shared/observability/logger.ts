import { getXRayTraceIdFromEnv } from '@aws-lambda-powertools/commons/utils/env';
import { Logger, type LogItem } from '@aws-lambda-powertools/logger';
import type { LogItemExtraInput, LogItemMessage } from '@aws-lambda-powertools/logger/types';
import { LineFormatter } from './line-formatter.ts';
import { logCodes, type LogCode, type LogCodeName, type LogLevel } from './log-codes.ts';

export type LogValue = string | number | boolean | null | readonly unknown[];
export type LogFields = Readonly<Record<string, LogValue | undefined>>;

/** Writes one structured line. A field that the code's row does not name is never written. */
export type Log = (code: LogCodeName, fields?: LogFields) => void;

/** The parts of the process that a log needs. */
export interface LogPorts {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Takes one complete line with its line break. */
  readonly write: (line: string) => void;
}

/** Opens the log of one invocation. `requestId`: the id that the caller has, if it differs from the invocation's. */
export type OpenLog = (invocation: { readonly awsRequestId: string }, requestId?: string) => Log;

const ranks: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** Returns LOG_LEVEL's value in any letter case; `info` for a text that is no level. */
export function parseLogLevel(text: string | undefined): LogLevel {
  const level = text?.toLowerCase() ?? '';
  return Object.hasOwn(ranks, level) ? (level as LogLevel) : 'info';
}

/**
 * Creates the log of a function, once per container. Each invocation opens its own: a line that is written late, while the container serves its next
 * request, still belongs to the request that wrote it.
 */
export function createFunctionLog(
  { service, operationId }: { readonly service: string; readonly operationId: string },
  { environment, now, write }: LogPorts,
): OpenLog {
  const logger = new PortLogger(service, now, write, () => environment['STAGE'] ?? '');
  return ({ awsRequestId }, requestId = awsRequestId) => {
    const threshold = ranks[parseLogLevel(environment['LOG_LEVEL'])];
    const invocation = {
      ...logger.begin(operationId, awsRequestId, requestId),
      function_version: environment['AWS_LAMBDA_FUNCTION_VERSION'],
    };
    return (code, fields) => {
      const row: LogCode = logCodes[code];
      if (row.always !== true && ranks[row.level] < threshold) return;
      logger[row.level]({ message: row.meaning, code, invocation, fields });
    };
  };
}

/** The variables that Powertools reads from the process while it creates a Logger; a value that it cannot parse would stop the function. */
const switches = ['POWERTOOLS_LOGGER_LOG_EVENT', 'POWERTOOLS_LOGGER_SAMPLE_RATE'] as const;
/** Part of a header that the caller may have sent: a value of another form is not X-Ray's. */
const XRAY_TRACE_ID = /^1-[0-9a-f]{8}-[0-9a-f]{24}$/;

/**
 * Powertools' Logger, whose lines go to a port instead of a console. Row and LOG_LEVEL decide beforehand which line is written, so neither sampling
 * nor Lambda's own log level drops or adds one.
 */
class PortLogger extends Logger {
  readonly #write: (line: string) => void;

  constructor(serviceName: string, now: () => number, write: (line: string) => void, stage: () => string) {
    // oxlint-disable-next-line no-restricted-globals -- Powertools reads its settings only from the process
    for (const name of switches) Reflect.deleteProperty(process.env, name);
    super({ serviceName, logFormatter: new LineFormatter(now, stage) });
    this.#write = write;
  }

  /** Does not use `addContext`, which keeps the context of the last invocation: a late line of another would adopt it. */
  begin(operation: string, awsRequestId: string, requestId: string) {
    const trace = getXRayTraceIdFromEnv();
    return {
      operation,
      requestId,
      function_request_id: awsRequestId,
      cold_start: this.getColdStart(),
      xray_trace_id: trace !== undefined && XRAY_TRACE_ID.test(trace) ? trace : undefined,
    };
  }

  /** Drops Powertools' remarks on its own settings: they are no lines of a function, and may even come before the constructor has ended. */
  protected override processLogItem(
    level: number,
    input: LogItemMessage,
    extraInput: LogItemExtraInput,
  ): void {
    if (typeof input !== 'string')
      this.printLog(level, this.createAndPopulateLogItem(level, input, extraInput));
  }

  /** Writes one line, even if POWERTOOLS_DEV asks for many. */
  protected override printLog(_level: number, item: LogItem): void {
    item.prepareForPrint();
    this.#write(`${JSON.stringify(item.getAttributes())}\n`);
  }
}
