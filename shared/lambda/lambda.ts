import { createControlTable } from '#shared/stores/control-table.ts';
import { makeDynamo } from '#shared/stores/make-clients.ts';
import type { Route } from '#shared/contract/route.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import type { Operation } from '#shared/http/operation.ts';
import { createPipeline } from '#shared/http/pipeline.ts';
import { createIdempotency } from '#shared/idempotency/idempotency.ts';
import type { Idempotency } from '#shared/idempotency/idempotency.ts';
import { lambdaFunction } from './lambda-function.ts';
import type { LambdaFunction } from './lambda-function.ts';
import { openKeyRing } from './open-key-ring.ts';
import { openRelease } from './open-release.ts';
import type { Runtime } from './runtime.ts';

/**
 * The Lambda of a route with an Idempotency-Key: the pipeline around its operation, with the control table, the key ring and, if the route
 * has gates, the release of the environment.
 * @param bindOperation runs once per binding, when its first request has passed every check; a failure is not kept
 * @returns binds the function to a runtime
 * @example export const bind = createLambda(startAdaptiveRun, (runtime) => startRun(runDependencies(runtime)));
 */
export function createLambda<R extends Route>(
  route: R,
  bindOperation: (runtime: Runtime) => Operation<R> | Promise<Operation<R>>,
): (runtime: Runtime) => LambdaFunction {
  return (runtime) =>
    lambdaFunction(
      route,
      createPipeline(route, {
        operation: () => bindOperation(runtime),
        runtime,
        idempotency: () => openIdempotency(runtime),
        release: () => openRelease(runtime),
      }),
      runtime,
    );
}

function openIdempotency(runtime: Runtime): Idempotency {
  const { environment, aws, now, sleep, random } = runtime;
  const { CONTROL_TABLE } = readEnvironment(['CONTROL_TABLE'], environment);
  return createIdempotency({
    table: createControlTable(aws(makeDynamo), CONTROL_TABLE),
    keys: openKeyRing(runtime, ['idempotency']),
    now,
    sleep,
    random,
  });
}
