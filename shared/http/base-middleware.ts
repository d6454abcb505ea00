import middy from '@middy/core';
import type { MiddyfiedHandler } from '@middy/core';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { PipelineAnswer } from './answers.ts';
import type { BaseRuntime } from './exchange.ts';
import { correlation, type FunctionRow } from './stages/correlation.ts';
import { problemBoundary } from './stages/problem-boundary.ts';
import { securityHeaders } from './stages/security-headers.ts';

/** Responds to one event of a REST API proxy integration. */
export type Pipeline = (event: APIGatewayProxyEvent, context: Context) => Promise<PipelineAnswer>;

/** Milliseconds before the end at which a hanging operation is aborted, so that the function can still respond. */
const EARLY_END_MS = 750;

/**
 * Creates the outer stages of every function that serves HTTP: correlation, security headers and problem boundary, which see every response last. The
 * function adds its own stages after them with `.use`.
 * @param handler returns the response, or leaves it to a stage's `after`; throws a Refusal, or another error, which is a 500
 */
export function baseMiddleware(
  row: FunctionRow,
  runtime: BaseRuntime,
  handler: Pipeline | ((event: APIGatewayProxyEvent, context: Context) => Promise<void>),
): MiddyfiedHandler<APIGatewayProxyEvent, PipelineAnswer> {
  // SAFETY: without a response of either, the first stage that adds a header throws, which is a 500.
  return middy<APIGatewayProxyEvent, PipelineAnswer>(handler as Pipeline, {
    timeoutEarlyInMillis: EARLY_END_MS,
  })
    .use(correlation(row, runtime))
    .use(securityHeaders())
    .use(problemBoundary(row.service));
}
