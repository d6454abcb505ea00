import { readScaleCalibration } from '#shared/contract/mastery/routes/read-scale-calibration.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createReadLambda } from '#shared/lambda/read-lambda.ts';
import { startFunction } from '#shared/lambda/start-function.ts';
import { recordDependencies } from '../support/dependencies.ts';
import { readScaleCalibrationOperation } from './operation.ts';

/** Reads a scale calibration's descriptor: the pipeline around the operation, bound to a runtime. */
export const bind = createReadLambda(readScaleCalibration, (runtime) =>
  readScaleCalibrationOperation(recordDependencies(runtime)),
);

export const handler = await startFunction(bind, processRuntime());
