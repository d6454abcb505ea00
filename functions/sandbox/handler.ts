import { bufferedFunction, type BufferedFunction } from '#shared/lambda/lambda-function.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import { createSandbox } from './operation.ts';

/** Serves the sandbox, bound to a runtime. */
export const bind = (runtime: Runtime): BufferedFunction => bufferedFunction(createSandbox(runtime));

export const handler = bind(processRuntime());
