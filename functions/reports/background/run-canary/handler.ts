import type { ScheduledHandler } from '#functions/reports/background/invocation.ts';
import { startAdaptiveRunRequest } from '#shared/contract/mastery/adaptive-run.ts';
import { canaryCredential } from '#shared/contract/grants.ts';
import { EnvironmentError, readEnvironment } from '#shared/http/environment.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { checkable, type Checkable, type Proof } from '#shared/lambda/version-check.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import { makeSsm } from '#shared/stores/make-clients.ts';
import { readSecureParameter } from '#shared/stores/secure-parameter.ts';
import { createCanaryFunction, type Canary } from './run-canary.ts';

/** Calls the sandbox and the mastery engine as a client does, bound to a runtime. */
export function bind(runtime: Runtime): Checkable<ScheduledHandler> {
  const work = createCanaryFunction(() => openCanary(runtime), runtime);
  // It needs its settings; what it may read, it only reads when it works.
  const prove = (): Promise<readonly Proof[]> => {
    openCanary(runtime);
    return Promise.resolve([{ of: 'environment' }]);
  };
  return checkable(runtime, prove, work);
}

export const handler = bind(processRuntime());

function openCanary({ environment, aws }: Runtime): Canary {
  const { STAGE, SANDBOX_URL: sandboxUrl } = readEnvironment(['STAGE', 'SANDBOX_URL'], environment);
  if (environment['CANARY_RUN'] === undefined) return { sandboxUrl };
  const { MASTERY_URL, CANARY_TENANT, CANARY_RUN } = readEnvironment(
    ['MASTERY_URL', 'CANARY_TENANT', 'CANARY_RUN'],
    environment,
  );
  const ids = parseStrictJson(CANARY_RUN);
  const request = startAdaptiveRunRequest.safeParse({
    ...(ids.ok && typeof ids.value === 'object' ? ids.value : {}),
    runMode: 'owner_conformance',
  });
  if (!request.success) throw new EnvironmentError(['CANARY_RUN']);
  return {
    sandboxUrl,
    run: {
      masteryUrl: MASTERY_URL,
      tenantId: CANARY_TENANT,
      request: request.data,
      readToken: (end) => readSecureParameter(aws(makeSsm), canaryCredential(STAGE), end),
    },
  };
}
