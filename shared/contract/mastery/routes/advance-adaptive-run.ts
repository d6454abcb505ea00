import { defineRoute } from '../../route.ts';
import { adaptiveRun, continuationRequest } from '../adaptive-run.ts';
import * as examples from '../examples.ts';
import { continuationBytes, runRoute, runLambda, runProblems } from '../route-defaults.ts';

export const advanceAdaptiveRun = defineRoute({
  ...runRoute,
  operationId: 'advanceAdaptiveRun',
  path: '/v1/adaptive-runs:advance',
  summary: 'Advance an adaptive run',
  description:
    'Consumes the scored QTI attempt of the offered item and updates the classifications and the scale score. Then it offers the next item, or stops the run and publishes its result. Send the `ETag` of inspect as `If-Match`. The `ETag` of the offer is out of date once the attempt is scored, and advance returns 412 with `currentEtag`; then inspect, and advance with a new `Idempotency-Key`. If the response has `waitingFor`, an owner has to act first: ask again after the time in `Retry-After`. If QTI has failed to process the attempt, advance returns 424 naming `qti`.',
  scope: 'mastery:run',
  request: { body: continuationRequest, maxBodyBytes: continuationBytes, ifMatch: true },
  success: { schema: adaptiveRun, headers: ['ETag', 'Retry-After'], example: examples.advancedRun },
  requestExample: examples.continuation,
  problems: [
    ...runProblems,
    '412 stream-conflict',
    '424 finalization-incomplete',
    '428 precondition-required',
  ],
  budget: { calls: 23, depth: 16 },
  lambda: {
    ...runLambda,
    impact: 'Learners in an adaptive test get no next item, and finished tests are not published.',
  },
});
