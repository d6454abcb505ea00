import { compileModel } from '#functions/mastery/engine/index.ts';
import type { ModelCheck } from '#shared/records/check-calibration.ts';

/** Checks what the schema of a released calibration cannot: whether the engine accepts its parameters. */
export const checkModel: ModelCheck = (parameters, runtimeVersion) => {
  const compiled = compileModel(parameters, runtimeVersion);
  return compiled.ok ? [] : compiled.error;
};
