import type { Route } from '#shared/contract/route.ts';
import type { Operation } from '#shared/http/operation.ts';
import { createPipeline } from '#shared/http/pipeline.ts';
import type { Idempotency } from '#shared/idempotency/idempotency.ts';
import {
  bufferedFunction,
  checkablePipeline,
  streamedFunction,
  type LambdaFunction,
} from './lambda-function.ts';
import { openRelease } from './open-release.ts';
import { openTenantRate } from './open-tenant-rate.ts';
import { proveStores } from './prove-stores.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';

/** Runs once per binding: as the function starts, or when its first request has passed every check; a failure is not cached. */
export type BindOperation<R extends Route> = (runtime: Runtime) => Operation<R> | Promise<Operation<R>>;

/**
 * Creates the Lambda of a route: the pipeline around its operation, with the release of the environment if the route has gates. A route without an
 * Idempotency-Key uses it directly, so that its bundle contains neither Powertools' idempotency nor the KMS client.
 * @returns binds the function to a runtime
 * @example export const bind = createReadLambda(readReadiness, (runtime) => readReadinessOperation(reportDependencies(runtime)));
 */
export function createReadLambda<R extends Route>(
  route: R,
  bindOperation: BindOperation<R>,
  openIdempotency?: (runtime: Runtime) => Idempotency,
): (runtime: Runtime) => LambdaFunction {
  return (runtime) => {
    const pipeline = checkablePipeline(
      route,
      runtime,
      proveStores,
      createPipeline(route, {
        operation: () => bindOperation(runtime),
        runtime,
        ...(openIdempotency && { idempotency: () => openIdempotency(runtime) }),
        rate: () => openTenantRate(runtime),
        release: () => openRelease(runtime),
      }),
    );
    return route.success.transfer === 'stream'
      ? streamedFunction(pipeline, runtime)
      : bufferedFunction(pipeline);
  };
}
