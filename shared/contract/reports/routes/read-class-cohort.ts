import * as z from 'zod';
import { defineRoute } from '../../route.ts';
import { cohortReport } from '../cohort-report.ts';
import * as examples from '../examples.ts';
import { requestReference } from '../primitives.ts';
import { cohortRoute, cohortLambda } from '../route-defaults.ts';

export const readClassCohort = defineRoute({
  ...cohortRoute,
  operationId: 'readClassCohort',
  path: '/v1/classes/{classSourcedId}/cohort-report',
  summary: 'Get the cohort report of a class',
  description:
    'Returns the roll-up of a class as Analytics published it, after OneRoster has confirmed the class. The service calculates nothing, and a suppressed snapshot contains no values. If Analytics has never rolled up the class, the service returns 404.',
  request: { path: z.strictObject({ classSourcedId: requestReference }) },
  success: { schema: cohortReport, example: examples.classCohort },
  lambda: { ...cohortLambda, impact: 'Clients cannot show the cohort report of a class.' },
});
