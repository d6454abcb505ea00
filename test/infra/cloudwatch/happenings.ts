import { deployedFunctions, isRoute, type DeployedFunction } from '#shared/contract/functions.ts';
import type { LogCodeName } from '#shared/observability/log-codes.ts';
import { createFunctionLog, type LogFields } from '#shared/observability/logger.ts';
import { apiName, functionName, LIVE } from '#lib/names.ts';
import type { ApiName } from '#shared/stage/stage.ts';
import type { Stage } from '#shared/stage/stages.ts';
import type { DataPoint } from './evaluator.ts';

/*
 * What happens in a stage, as the data points that CloudWatch gets of it: the metrics that AWS's services publish, and those that CloudWatch takes from
 * the lines of the functions, which the product's own logger writes here. Times are minutes.
 */

export type Points = readonly DataPoint[];

/** Moments from `from` until before `to`. */
export interface Span {
  readonly from: number;
  readonly to: number;
  /** Minutes between two moments; default: 1. */
  readonly every?: number;
  /** How many events are at each moment; default: 1. */
  readonly times?: number;
}

export interface CallOptions {
  /** Default: 200. */
  readonly status?: number;
  readonly problem?: string;
  /** Default: 200. */
  readonly milliseconds?: number;
  /** `died`: the invocation ends without a response. `throttled`: Lambda does not begin it. In both cases the gateway returns 500. */
  readonly end?: 'died' | 'throttled';
  /** A version that has a share of the alias during a canary step. */
  readonly version?: string;
}

/** The value of `FUNCTION_VERSION` in the metrics of a new version. */
export const NEW_VERSION = '7';

/** A point of one metric at each moment of a span. */
export function points(
  metric: Pick<DataPoint, 'namespace' | 'metric' | 'dimensions'>,
  { from, to, every = 1, times = 1 }: Span,
  value: number | ((at: number) => number) = 1,
): Points {
  return Array.from({ length: Math.max(0, Math.ceil((to - from) / every)) }, (_, index) => {
    const at = from + index * every + 0.5;
    return { ...metric, at, samples: times, value: typeof value === 'number' ? value : value(at) };
  });
}

/** Returns the row of a function. */
export function rowOf(operation: string): DeployedFunction {
  const row = deployedFunctions.find(({ operationId }) => operationId === operation);
  if (row === undefined) throw new Error(`no function ${operation}`);
  return row;
}

/** Returns the API that calls a function; undefined for one that only its queue or its schedule calls. */
export function apiOf(row: DeployedFunction): ApiName | undefined {
  if (isRoute(row)) return row.service;
  if (row.trigger === 'link') return 'receipts';
  return row.trigger === 'sandbox' ? row.trigger : undefined;
}

/** Calls of a function through its alias. */
export function calls(stage: Stage, operation: string, span: Span, options: CallOptions = {}): Points {
  const { end, milliseconds = 200, version } = options;
  const status = end === undefined ? (options.status ?? 200) : 500;
  const row = rowOf(operation);
  const name = functionName(stage, row);
  const alias = { FunctionName: name, Resource: `${name}:${LIVE}` };
  const ofFunction = (metric: string, value: number): Points =>
    [alias, ...(version === undefined ? [] : [{ ...alias, ExecutedVersion: version }])].flatMap(
      (dimensions) => points({ namespace: 'AWS/Lambda', metric, dimensions }, span, value),
    );
  const api = apiOf(row);
  const ofApi = (metric: string, value: number): Points =>
    api === undefined
      ? []
      : points(
          {
            namespace: 'AWS/ApiGateway',
            metric,
            dimensions: { ApiName: apiName(stage, api), Stage: stage.name },
          },
          span,
          value,
        );
  return [
    ...ofFunction('Throttles', end === 'throttled' ? 1 : 0),
    ...(end === 'throttled'
      ? []
      : [
          ...ofFunction('Invocations', 1),
          ...ofFunction('Errors', end === 'died' ? 1 : 0),
          ...ofFunction('Duration', milliseconds),
        ]),
    ...ofApi('Count', 1),
    ...ofApi('4XXError', status >= 400 && status < 500 ? 1 : 0),
    ...ofApi('5XXError', status >= 500 ? 1 : 0),
    ...ofApi('Latency', milliseconds),
    ...(end === undefined && api !== undefined
      ? lines(stage, operation, span, 'REQUEST_COMPLETED', completed(row, status, options), version)
      : []),
  ];
}

/** The fields of REQUEST_COMPLETED, as the pipeline writes them. */
function completed(
  row: DeployedFunction,
  status: number,
  { problem, milliseconds = 200 }: CallOptions,
): LogFields {
  const failed = status >= 500 || status === 424;
  return {
    ...{ status, durationMs: milliseconds, problem, failures: Number(failed) },
    ...(failed && { failed }),
    ...(isRoute(row) && row.learnersWait === true && { learnersWait: true }),
  };
}

/** Lines that a function logs. */
export function lines(
  stage: Stage,
  operation: string,
  span: Span,
  code: LogCodeName,
  fields: LogFields = {},
  version?: string,
): Points {
  const written: string[] = [];
  createFunctionLog(rowOf(operation), {
    environment: { STAGE: stage.name, AWS_LAMBDA_FUNCTION_VERSION: version },
    now: () => 0,
    write: (line) => written.push(line),
  })({ awsRequestId: 'f-1' })(code, fields);
  return written.flatMap(figuresOf).flatMap(({ value, ...metric }) => points(metric, span, value));
}

/** A line, as far as CloudWatch reads it (embedded metric format). */
interface MeasuredLine {
  readonly [member: string]: unknown;
  readonly _aws?: {
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string }[];
    }[];
  };
}

function figuresOf(text: string): readonly Omit<DataPoint, 'at'>[] {
  const line = JSON.parse(text) as MeasuredLine;
  return (line._aws?.CloudWatchMetrics ?? []).flatMap(({ Namespace: namespace, Dimensions, Metrics }) =>
    Dimensions.flatMap((names) =>
      Metrics.map(({ Name: metric }) => ({
        ...{ namespace, metric, value: Number(line[metric]) },
        dimensions: Object.fromEntries(names.map((name) => [name, String(line[name])])),
      })),
    ),
  );
}

/** Returns the points as CloudWatch sees them: those of a namespace after a delay. */
export function delayed(all: Points, delayOf: (namespace: string) => number): Points {
  return all.map((point) => ({ ...point, delay: delayOf(point.namespace) }));
}
