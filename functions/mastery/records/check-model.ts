import { compileModel } from '#functions/mastery/engine/index.ts';
import type { ModelCheck } from '#shared/records/check-calibration.ts';

/** What a released calibration must satisfy beside its form: the engine takes its parameters. */
export const checkModel: ModelCheck = (parameters) => {
  const compiled = compileModel(parameters);
  return compiled.ok ? [] : compiled.error;
};
