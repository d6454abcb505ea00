import * as z from 'zod';
import { defineRoute } from '../../route.ts';
import { cohortReport, grade } from '../cohort-report.ts';
import * as examples from '../examples.ts';
import { requestReference } from '../primitives.ts';
import { cohortRoute, cohortLambda } from '../route-defaults.ts';

export const readSchoolGradeCohort = defineRoute({
  ...cohortRoute,
  operationId: 'readSchoolGradeCohort',
  path: '/v1/schools/{schoolSourcedId}/grades/{grade}/cohort-report',
  summary: 'Get the cohort report of a grade',
  description:
    'Returns the roll-up of a grade of a school as Analytics published it, after OneRoster has confirmed the school. The service calculates nothing, and a suppressed snapshot contains no values. If Analytics has never rolled up the grade, the service returns 404.',
  request: { path: z.strictObject({ schoolSourcedId: requestReference, grade }) },
  success: { schema: cohortReport, example: examples.schoolGradeCohort },
  lambda: { ...cohortLambda, impact: 'Clients cannot show the cohort report of a grade.' },
});
