import * as z from 'zod';
import { defineRoute } from '../../route.ts';
import { equivalenceReport } from '../equivalence-report.ts';
import * as examples from '../examples.ts';
import { requestReference } from '../primitives.ts';
import { readRoute } from '../route-defaults.ts';

export const readEquivalence = defineRoute({
  ...readRoute,
  operationId: 'readEquivalence',
  path: '/v1/forms/{qtiTestId}/equivalence',
  summary: 'Get the equivalence of a form',
  description:
    'Returns whether a form measures like its parallel forms: the decision of Analytics with its method, its figures and the evidence of the blueprint. The service calculates nothing. If Analytics has never analyzed the form, the service returns 404.',
  gates: ['A', 'D'],
  request: { path: z.strictObject({ qtiTestId: requestReference }) },
  success: { schema: equivalenceReport, example: examples.equivalentForms },
  // Form; analysis, criteria, form evidence; and all four once more, concurrently. All of it once more, if the facts cannot all be true.
  budget: { calls: 16, depth: 6 },
  lambda: {
    memoryMb: 512,
    timeoutSeconds: 15,
    grants: ['profiles:read'],
    impact: 'Clients cannot show whether parallel forms are equivalent.',
  },
});
