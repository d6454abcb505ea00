import type { Route } from '#shared/contract/route.ts';
import { lambdaFunction } from './lambda-function.ts';
import type { BufferedFunction, StreamedFunction } from './lambda-function.ts';
import { lambdaRelease } from './lambda-release.ts';
import type { Operation } from './operation.ts';
import { createPipeline } from './pipeline.ts';
import { processSurroundings } from './surroundings.ts';

/**
 * The Lambda of a route without an Idempotency-Key. A file of its own, so that such a function carries neither Powertools nor the KMS client
 * in its bundle.
 * @example export const handler = createReadLambda(readSelectionPolicy, () => readSelectionPolicyOperation({ store }));
 */
export function createReadLambda<R extends Route>(
  route: R,
  bind: () => Operation<R> | Promise<Operation<R>>,
): BufferedFunction | StreamedFunction {
  const surroundings = processSurroundings();
  const pipeline = createPipeline(route, {
    operation: bind,
    surroundings,
    release: () => lambdaRelease(surroundings),
  });
  return lambdaFunction(route, pipeline);
}
