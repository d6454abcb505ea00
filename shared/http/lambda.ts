import { dynamo } from '#shared/stores/clients.ts';
import { createControlTable } from '#shared/stores/control-table.ts';
import { openKeyRing } from '#shared/stores/open-key-ring.ts';
import type { Route } from '#shared/contract/route.ts';
import { createIdempotency } from '#shared/idempotency/idempotency.ts';
import type { Idempotency } from '#shared/idempotency/idempotency.ts';
import { readEnvironment } from './environment.ts';
import { lambdaFunction } from './lambda-function.ts';
import type { BufferedFunction, StreamedFunction } from './lambda-function.ts';
import { lambdaRelease } from './lambda-release.ts';
import type { Operation } from './operation.ts';
import { createPipeline } from './pipeline.ts';
import { processSurroundings } from './surroundings.ts';
import type { Surroundings } from './surroundings.ts';

/**
 * The Lambda of a route with an Idempotency-Key: the pipeline around its operation, with the control table, the key ring and, where it waits
 * for gates, the release of the environment. `bind` runs once a container, when the first request has passed every check.
 * @example export const handler = createLambda(startAdaptiveRun, () => startOperation(runDependencies()));
 */
export function createLambda<R extends Route>(
  route: R,
  bind: () => Operation<R> | Promise<Operation<R>>,
): BufferedFunction | StreamedFunction {
  const surroundings = processSurroundings();
  const pipeline = createPipeline(route, {
    operation: bind,
    surroundings,
    idempotency: () => controlRecords(surroundings),
    release: () => lambdaRelease(surroundings),
  });
  return lambdaFunction(route, pipeline);
}

function controlRecords({ environment, now, sleep, random }: Surroundings): Idempotency {
  const { STAGE, CONTROL_TABLE, SETTINGS_TABLE } = readEnvironment(
    ['STAGE', 'CONTROL_TABLE', 'SETTINGS_TABLE'],
    environment,
  );
  return createIdempotency({
    table: createControlTable(dynamo(), CONTROL_TABLE),
    keys: openKeyRing(STAGE, SETTINGS_TABLE, ['idempotency'], now),
    now,
    sleep,
    random,
  });
}
