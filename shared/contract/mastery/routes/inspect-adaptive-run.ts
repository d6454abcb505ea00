import { defineRoute } from '../../route.ts';
import { adaptiveRun, continuationRequest } from '../adaptive-run.ts';
import * as examples from '../examples.ts';
import { continuationBytes, runRoute, runLambda, runProblems } from '../route-defaults.ts';

export const inspectAdaptiveRun = defineRoute({
  ...runRoute,
  operationId: 'inspectAdaptiveRun',
  path: '/v1/adaptive-runs:inspect',
  summary: 'Inspect an adaptive run',
  description:
    'Reads the item pool and the run’s QTI attempts again, and returns the state of the run with its current `ETag`. Inspect after each scored answer and before each advance: a newly scored attempt changes the `ETag`. Inspect writes nothing; the continuation token and its expiry stay the same. If the response has `waitingFor`, an owner has to act first: ask again after the time in `Retry-After`.',
  scope: 'mastery:read',
  request: { body: continuationRequest, maxBodyBytes: continuationBytes },
  success: { schema: adaptiveRun, headers: ['ETag', 'Retry-After'], example: examples.waitingRun },
  requestExample: examples.continuation,
  problems: runProblems,
  budget: { calls: 18, depth: 10 },
  lambda: {
    ...runLambda,
    impact: 'Clients cannot inspect a test in progress, and therefore cannot advance it.',
  },
});
