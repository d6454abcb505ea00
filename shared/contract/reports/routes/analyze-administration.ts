import * as z from 'zod';
import { defineRoute } from '../../route.ts';
import * as examples from '../examples.ts';
import { improvementRun } from '../improvement-run.ts';
import { requestReference } from '../primitives.ts';
import { writeRoute } from '../route-defaults.ts';

export const analyzeAdministration = defineRoute({
  ...writeRoute,
  operationId: 'analyzeAdministration',
  path: '/v1/administrations/{administrationId}/improvement-runs:analyze',
  summary: 'Analyze a scored administration',
  description:
    'Starts an improvement run: pins the blueprint of the administration, its external assessments, the metrics of Analytics and the released policy, and queues the analysis. The request has no body: the server sets policy and formula. Read the run until it has ended. If you retry within 24 hours with the same key, the service returns the same run in its current state, with the header `Idempotent-Replayed: true` if the first request had succeeded. A different key starts another run. A run that waits for an unavailable receiver continues.',
  gates: ['D', 'F'],
  request: { path: z.strictObject({ administrationId: requestReference }) },
  success: { schema: improvementRun, headers: ['Idempotent-Replayed'], example: examples.queuedRun },
  problems: ['409 source-version-conflict'],
  // Administration; sources and analysis; four artifacts; and all of these once more.
  budget: { calls: 14, depth: 6 },
  lambda: {
    memoryMb: 1024,
    grants: [
      'control:write',
      'keys:idempotency',
      'improvement:read',
      'improvement:read-part',
      'improvement:create',
      'improvement:queue',
      'receipts:link',
      'keys:receipt-link',
      'records:read',
      'profiles:read',
    ],
    impact: 'Clients cannot analyze an administration. Improvement runs can still be read.',
  },
});
