import * as z from 'zod';
import { defineRoute } from '../../route.ts';
import { alignmentReport } from '../alignment-report.ts';
import * as examples from '../examples.ts';
import { sourceKey } from '../improvement-run.ts';
import { requestReference } from '../primitives.ts';
import { readRoute } from '../route-defaults.ts';

export const readAlignmentReport = defineRoute({
  ...readRoute,
  operationId: 'readAlignmentReport',
  path: '/v1/improvement-runs/{improvementRunId}/alignment-reports/{sourceKey}',
  summary: 'Get an alignment report',
  description:
    'Returns how well the blueprint covers one external assessment: each requirement with its weight and its contribution, the exact sums, the percentage by the formula `alignment-v1`, the comparison of predicted with actual results if Analytics has one, and a short-lived link to the receipt bundle. The service calculates it from the pinned crosswalk. If the crosswalk is no longer available, or the run has not reached the assessment yet, it returns 503; retry later.',
  gates: ['D', 'F'],
  request: { path: z.strictObject({ improvementRunId: requestReference, sourceKey }) },
  success: { schema: alignmentReport, transfer: 'stream', example: examples.alignment },
  problems: ['409 source-version-conflict'],
  // Crosswalk, comparison and the list of sources; and all of these once more.
  budget: { calls: 6, depth: 2 },
  lambda: {
    memoryMb: 1769,
    grants: [
      'improvement:read',
      'improvement:read-part',
      'receipts:link',
      'keys:receipt-link',
      'profiles:read',
    ],
    impact: 'Clients cannot show how well a blueprint covers a named assessment.',
  },
});
