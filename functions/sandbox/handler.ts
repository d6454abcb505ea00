import { serveSandbox } from '#shared/contract/sandbox.ts';
import {
  bufferedFunction,
  checkablePipeline,
  type BufferedFunction,
} from '#shared/lambda/lambda-function.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import { createSandbox } from './operation.ts';

/** Serves the sandbox, bound to a runtime. It has no store to prove. */
export const bind = (runtime: Runtime): BufferedFunction =>
  bufferedFunction(
    checkablePipeline(serveSandbox, runtime, () => Promise.resolve([]), createSandbox(runtime)),
  );

export const handler = bind(processRuntime());
