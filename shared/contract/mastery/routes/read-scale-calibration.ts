import * as z from 'zod';
import { defineRoute } from '../../route.ts';
import * as examples from '../examples.ts';
import { recordIdentifier } from '../primitives.ts';
import { readRoute, readLambda } from '../route-defaults.ts';
import { scaleCalibration } from '../scale-calibration.ts';

export const readScaleCalibration = defineRoute({
  ...readRoute,
  operationId: 'readScaleCalibration',
  path: '/v1/scale-calibrations/{calibrationId}',
  summary: 'Get a scale calibration',
  description:
    'Returns the public descriptor of one immutable version by its exact id. Model parameters stay on the server. Expired versions remain readable. For a calibration of another tenant the service returns 404, as for a calibration that does not exist.',
  request: { path: z.strictObject({ calibrationId: recordIdentifier }) },
  success: {
    schema: scaleCalibration,
    headers: ['Deprecation', 'Sunset', 'Link'],
    example: examples.calibration,
  },
  problems: ['422 calibration-invalid'],
  lambda: { ...readLambda, impact: 'Clients cannot read a scale calibration. Tests continue.' },
});
