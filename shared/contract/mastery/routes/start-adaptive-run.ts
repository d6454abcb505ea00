import { defineRoute } from '../../route.ts';
import { adaptiveRun, startAdaptiveRunRequest } from '../adaptive-run.ts';
import * as examples from '../examples.ts';
import { runRoute, runLambda, runProblems } from '../route-defaults.ts';

export const startAdaptiveRun = defineRoute({
  ...runRoute,
  operationId: 'startAdaptiveRun',
  path: '/v1/adaptive-runs',
  summary: 'Start an adaptive run',
  description:
    'Resolves the item pool, pins its exact versions, and offers the first item as a QTI delivery session. The response contains the only handle of the run, its continuation token. A retry with the same `Idempotency-Key` returns the same run and the same offer. The normal loop: start; the learner answers in the player, and QTI scores the answer; inspect; advance with the `ETag` of inspect; repeat until `status` is `completed`.',
  scope: 'mastery:run',
  request: { body: startAdaptiveRunRequest },
  success: {
    status: 201,
    schema: adaptiveRun,
    headers: ['ETag'],
    example: examples.startedRun,
  },
  requestExample: examples.startRequest,
  problems: runProblems,
  budget: { calls: 19, depth: 11 },
  lambda: { ...runLambda, impact: 'Learners cannot start an adaptive test. Tests in progress continue.' },
});
