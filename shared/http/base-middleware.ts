import middy from '@middy/core';
import type { MiddyfiedHandler } from '@middy/core';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { PipelineAnswer } from './answers.ts';
import type { BaseRuntime } from './exchange.ts';
import { correlation, type FunctionRow } from './stages/correlation.ts';
import { problemBoundary } from './stages/problem-boundary.ts';
import { securityHeaders } from './stages/security-headers.ts';

/** Answers one event of a REST API proxy integration. */
export type Pipeline = (event: APIGatewayProxyEvent, context: Context) => Promise<PipelineAnswer>;

/** An operation that hangs is ended while the function can still answer. */
const EARLY_END_MS = 750;

/**
 * The outer stages of every function that answers HTTP: correlation, security headers and problem boundary, which have the last word on every
 * answer. The function's own stages come after them, added with `.use`.
 * @param handler returns the answer, or leaves it to a stage's `after`; throws a Refusal, or anything else, which is a 500
 */
export function baseMiddleware(
  row: FunctionRow,
  runtime: BaseRuntime,
  handler: Pipeline | ((event: APIGatewayProxyEvent, context: Context) => Promise<void>),
): MiddyfiedHandler<APIGatewayProxyEvent, PipelineAnswer> {
  // SAFETY: without an answer of either, the first stage that adds a header throws, which is a 500.
  return middy<APIGatewayProxyEvent, PipelineAnswer>(handler as Pipeline, {
    timeoutEarlyInMillis: EARLY_END_MS,
  })
    .use(correlation(row, runtime))
    .use(securityHeaders())
    .use(problemBoundary(row.service));
}
