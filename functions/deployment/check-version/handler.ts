import { processRuntime } from '#shared/lambda/process-runtime.ts';
import type { Runtime } from '#shared/lambda/runtime.ts';
import { openVersionCheckCalls } from '#shared/stores/version-check-calls.ts';
import { createVersionCheck, type VersionCheckFunction } from './check-version.ts';

/** Checks a new version before callers reach it, bound to a runtime. */
export const bind = (runtime: Runtime): VersionCheckFunction =>
  createVersionCheck(openVersionCheckCalls, runtime);

export const handler = bind(processRuntime());
