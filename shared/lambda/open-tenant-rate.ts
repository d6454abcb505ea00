import { createRequestCounts } from '#shared/stores/request-counts.ts';
import { makeOnceDynamo } from '#shared/stores/make-clients.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { createTenantRate, type TenantRate } from '#shared/http/tenant-rate.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';

/** Opens the bound on the requests of each tenant, of a function that serves a route. Throws EnvironmentError. */
export function openTenantRate(runtime: Runtime): TenantRate {
  const variables = readEnvironment(['CONTROL_TABLE', 'REQUESTS_PER_TENANT'], runtime.environment);
  const { CONTROL_TABLE, REQUESTS_PER_TENANT: bound } = variables;
  return createTenantRate(
    Number(bound),
    createRequestCounts(runtime.aws(makeOnceDynamo), CONTROL_TABLE),
    runtime,
  );
}
