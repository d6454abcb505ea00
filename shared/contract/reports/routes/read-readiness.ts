import * as z from 'zod';
import { defineRoute } from '../../route.ts';
import * as examples from '../examples.ts';
import { requestReference } from '../primitives.ts';
import { readinessReport } from '../readiness-report.ts';
import { readRoute, RECORD_MEMORY_MB } from '../route-defaults.ts';

export const readReadiness = defineRoute({
  ...readRoute,
  operationId: 'readReadiness',
  path: '/v1/attempt-reports/{attemptId}/readiness',
  summary: 'Get the readiness for external tests',
  description:
    'Returns one decision per external test that the blueprint’s crosswalk names, by the rule `gate-implies-readiness` version 2. A failed gate is `not_ready`. If evidence is missing, unusable or out of date, the decision is `indeterminate`, and a limitation names the cause. External tests without a published coverage are listed in `omittedEntries`. If the blueprint has no crosswalk, the service returns 404.',
  gates: ['C', 'D'],
  request: { path: z.strictObject({ attemptId: requestReference }) },
  success: { schema: readinessReport, example: examples.notReady },
  problems: ['409 source-version-conflict'],
  // Lookup; record, criteria, candidate; the first three once more, concurrently; framework, crosswalks; the crosswalks once more. All of it once
  // more, if the facts cannot all be true.
  budget: { calls: 20, depth: 10 },
  lambda: {
    memoryMb: RECORD_MEMORY_MB,
    grants: ['profiles:read'],
    impact: 'Clients cannot show what an attempt implies for external tests. Reports still work.',
  },
});
