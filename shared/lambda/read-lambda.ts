import type { Route } from '#shared/contract/route.ts';
import type { Operation } from '#shared/http/operation.ts';
import { createPipeline } from '#shared/http/pipeline.ts';
import { lambdaFunction } from './lambda-function.ts';
import type { LambdaFunction } from './lambda-function.ts';
import { openRelease } from './open-release.ts';
import type { Runtime } from './runtime.ts';

/**
 * The Lambda of a route without an Idempotency-Key, like `createLambda`. A file of its own, so that such a function carries neither
 * Powertools' idempotency nor the KMS client in its bundle.
 * @example export const bind = createReadLambda(readReadiness, (runtime) => readReadinessOperation(reportDependencies(runtime)));
 */
export function createReadLambda<R extends Route>(
  route: R,
  bindOperation: (runtime: Runtime) => Operation<R> | Promise<Operation<R>>,
): (runtime: Runtime) => LambdaFunction {
  return (runtime) =>
    lambdaFunction(
      route,
      createPipeline(route, {
        operation: () => bindOperation(runtime),
        runtime,
        release: () => openRelease(runtime),
      }),
      runtime,
    );
}
