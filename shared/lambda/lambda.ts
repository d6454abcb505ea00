import { createControlTable } from '#shared/stores/control-table.ts';
import { makeDynamo } from '#shared/stores/make-clients.ts';
import type { Route } from '#shared/contract/route.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { createIdempotency, type Idempotency } from '#shared/idempotency/idempotency.ts';
import type { LambdaFunction } from './lambda-function.ts';
import { openKeyRing } from './open-key-ring.ts';
import { createReadLambda, type BindOperation } from './read-lambda.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';

/**
 * Creates the Lambda of a route with an Idempotency-Key: `createReadLambda` with the control table and the key ring.
 * @example export const bind = createLambda(startAdaptiveRun, (runtime) => startRun(runDependencies(runtime)));
 */
export function createLambda<R extends Route>(
  route: R,
  bindOperation: BindOperation<R>,
): (runtime: Runtime) => LambdaFunction {
  return createReadLambda(route, bindOperation, openIdempotency);
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
