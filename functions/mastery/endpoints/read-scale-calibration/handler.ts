import { readScaleCalibration } from '#shared/contract/mastery/routes.ts';
import { createReadLambda } from '#shared/http/read-lambda.ts';
import { recordDependencies } from '../record-dependencies.ts';
import { readScaleCalibrationOperation } from './operation.ts';

/** Reads a scale calibration's descriptor: the pipeline around the operation, with the real dependencies. */
export const handler = createReadLambda(readScaleCalibration, () =>
  readScaleCalibrationOperation(recordDependencies()),
);
