import * as z from 'zod';
import { defineRoute } from '../../route.ts';
import * as examples from '../examples.ts';
import { improvementRun } from '../improvement-run.ts';
import { requestReference } from '../primitives.ts';
import { readRoute } from '../route-defaults.ts';

export const readImprovementRun = defineRoute({
  ...readRoute,
  operationId: 'readImprovementRun',
  path: '/v1/improvement-runs/{improvementRunId}',
  summary: 'Get an improvement run',
  description:
    'Returns the state of the run, its counts, the status of its four metrics and its omissions, and once it is complete a short-lived link to its receipt bundle. Counts can grow until the run has ended. The service reads the pinned artifacts of Analytics and Content again; if one is no longer available, it returns 503.',
  gates: ['D', 'F'],
  request: { path: z.strictObject({ improvementRunId: requestReference }) },
  success: { schema: improvementRun, example: examples.completedRun },
  // Sources and four artifacts; and those with a fault once more.
  budget: { calls: 10, depth: 2 },
  lambda: {
    memoryMb: 1024,
    timeoutSeconds: 15,
    grants: ['improvement:read', 'receipts:link', 'keys:receipt-link', 'profiles:read'],
    impact: 'Clients cannot read the progress of an improvement run or get the link to its receipt.',
  },
});
