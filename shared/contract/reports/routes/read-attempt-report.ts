import * as z from 'zod';
import { defineRoute } from '../../route.ts';
import { attemptReport, view } from '../attempt-report.ts';
import * as examples from '../examples.ts';
import { requestReference } from '../primitives.ts';
import { readRoute, RECORD_MEMORY_MB } from '../route-defaults.ts';

export const readAttemptReport = defineRoute({
  ...readRoute,
  operationId: 'readAttemptReport',
  path: '/v1/attempt-reports/{attemptId}',
  summary: 'Get the report of an attempt',
  description:
    'Returns the settled score of a scored attempt, the exact gaps and their evidence, with a receipt per source. The kind of the test decides which sections the report has; `view` decides how much of them is returned. If a required source is unavailable, the service returns 503: it never returns a partial report.',
  gates: ['C', 'D'],
  request: {
    path: z.strictObject({ attemptId: requestReference }),
    query: z.strictObject({ view: view.default('summary') }),
  },
  success: { schema: attemptReport, transfer: 'stream', example: examples.failedGate },
  problems: ['409 source-version-conflict'],
  // Lookup; record, criteria, candidate; framework, event; and the first three of them once more, concurrently. All of it once more, if the facts
  // cannot all be true.
  budget: { calls: 18, depth: 8 },
  learnersWait: true,
  lambda: {
    memoryMb: RECORD_MEMORY_MB,
    grants: ['profiles:read'],
    impact: 'Clients cannot show the report of an attempt.',
  },
});
