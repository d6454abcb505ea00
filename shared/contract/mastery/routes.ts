import * as z from 'zod';
import { defineRoute } from '../route.ts';
import { adaptiveRun, continuationRequest, startAdaptiveRunRequest } from './adaptive-run.ts';
import * as examples from './examples.ts';
import { identifier } from './primitives.ts';
import { scaleCalibration } from './scale-calibration.ts';
import { exceedsSimulationLimits, scoreRecoverySimulation, simulationRequest } from './score-recovery.ts';
import { selectionPolicy } from './selection-policy.ts';

const MEBIBYTE = 1024 * 1024;

/** What can be wrong with a pool and the calibration that shall measure it. */
const poolProblems = [
  '409 adaptive-pool-version-drift',
  '422 calibration-invalid',
  '502 qti-adaptive-pool-invalid',
] as const;

/** A run's start, inspection and advance all read the pinned pool again: what can be wrong with it is the same for all three. */
const runProblems = [...poolProblems, '409 stream-conflict'] as const;

/** Room for the largest token: a run of `MAX_RUN_ITEMS` items whose owners use ids of 1,024 bytes. */
const continuationBytes = 4 * MEBIBYTE;

/** A run's functions touch the pinned records, the control record, and the keys of token, control record and pseudonym; receipts say what of the release is proved. */
const runLambda = {
  memoryMb: 1024,
  grants: [
    'records:read',
    'control:write',
    'keys:continuation',
    'keys:idempotency',
    'keys:pseudonym',
    'profiles:read',
    'release:read',
  ],
} as const;

/** What the two reads of a record have alike. */
const read = {
  service: 'mastery',
  method: 'GET',
  scope: 'mastery:read',
  budget: { calls: 0, depth: 0 },
} as const;
const readLambda = { memoryMb: 512, timeoutSeconds: 10, grants: ['records:read', 'profiles:read'] } as const;

/** What start, inspection and advance have alike. */
const run = { service: 'mastery', method: 'POST', learnersWait: true } as const;

export const startAdaptiveRun = defineRoute({
  ...run,
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
  budget: { calls: 13, depth: 9 },
  lambda: { ...runLambda, impact: 'Learners cannot start an adaptive test. Tests in progress continue.' },
});

export const inspectAdaptiveRun = defineRoute({
  ...run,
  operationId: 'inspectAdaptiveRun',
  path: '/v1/adaptive-runs:inspect',
  summary: 'Inspect an adaptive run',
  description:
    'Reads the item pool and the run’s QTI attempts again, and returns the state of the run with its current `ETag`. Inspect after each scored answer and before each advance: a newly scored attempt changes the `ETag`. Inspect writes nothing; the continuation token and its expiry stay the same.',
  scope: 'mastery:read',
  request: { body: continuationRequest, maxBodyBytes: continuationBytes },
  success: { schema: adaptiveRun, headers: ['ETag'], example: examples.startedRun },
  requestExample: examples.continuation,
  problems: runProblems,
  budget: { calls: 12, depth: 8 },
  lambda: {
    ...runLambda,
    impact: 'Clients cannot inspect a test in progress, and therefore cannot advance it.',
  },
});

export const advanceAdaptiveRun = defineRoute({
  ...run,
  operationId: 'advanceAdaptiveRun',
  path: '/v1/adaptive-runs:advance',
  summary: 'Advance an adaptive run',
  description:
    'Consumes the scored QTI attempt of the offered item and updates the classifications and the scale score. Then it offers the next item, or stops the run and publishes its result. Send the `ETag` of inspect as `If-Match`. The `ETag` of the offer is out of date once the attempt is scored, and advance returns 412 with `currentEtag`; then inspect, and advance with a new `Idempotency-Key`.',
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
  budget: { calls: 18, depth: 14 },
  lambda: {
    ...runLambda,
    impact: 'Learners in an adaptive test get no next item, and finished tests are not published.',
  },
});

export const readSelectionPolicy = defineRoute({
  ...read,
  operationId: 'readSelectionPolicy',
  path: '/v1/selection-policies/{policyId}',
  summary: 'Get a selection policy',
  description:
    'Returns one immutable version by its exact id. For a policy of another tenant the service returns 404, as for a policy that does not exist. A deprecated version does not change; the response headers announce the deprecation.',
  request: { path: z.strictObject({ policyId: identifier }) },
  success: { schema: selectionPolicy, headers: ['Deprecation', 'Sunset', 'Link'], example: examples.policy },
  lambda: { ...readLambda, impact: 'Clients cannot read a selection policy. Tests continue.' },
});

export const readScaleCalibration = defineRoute({
  ...read,
  operationId: 'readScaleCalibration',
  path: '/v1/scale-calibrations/{calibrationId}',
  summary: 'Get a scale calibration',
  description:
    'Returns the public descriptor of one immutable version by its exact id. Model parameters stay on the server. Expired versions remain readable. For a calibration of another tenant the service returns 404, as for a calibration that does not exist.',
  request: { path: z.strictObject({ calibrationId: identifier }) },
  success: {
    schema: scaleCalibration,
    headers: ['Deprecation', 'Sunset', 'Link'],
    example: examples.calibration,
  },
  problems: ['422 calibration-invalid'],
  lambda: { ...readLambda, impact: 'Clients cannot read a scale calibration. Tests continue.' },
});

export const simulateScoreRecovery = defineRoute({
  service: 'mastery',
  operationId: 'simulateScoreRecovery',
  method: 'POST',
  path: '/v1/score-recovery-simulations',
  summary: 'Simulate score recovery',
  description:
    'Simulated learners take the adaptive test, each one `replications` times. For each learner the response contains the difference between the mean of the recovered scale scores and the known score, and the standard error of that mean. The same request over the same versions always returns the same errors; a retry with the same `Idempotency-Key` also returns the same Caliper event. The service emits one synthetic Caliper event and reads it back; it writes nothing to Results. With more than 100 profiles, or more than 500 knowledge components in one profile, it returns 413 `simulation-limit-exceeded`.',
  scope: 'mastery:simulate',
  request: {
    body: simulationRequest,
    maxBodyBytes: 5 * MEBIBYTE,
    limit: { problem: '413 simulation-limit-exceeded', exceededBy: exceedsSimulationLimits },
  },
  success: { schema: scoreRecoverySimulation, transfer: 'stream', example: examples.simulation },
  requestExample: examples.simulationRequest,
  problems: poolProblems,
  budget: { calls: 11, depth: 8 },
  lambda: {
    // One whole processor, which Lambda gives by memory: the work is sums, and needs a fifth of this.
    memoryMb: 1769,
    grants: ['records:read', 'control:write', 'keys:idempotency', 'profiles:read', 'release:read'],
    impact: 'Psychometricians cannot simulate how well a test recovers scores. Tests continue.',
  },
});

/** The routes of the mastery engine, in the order of its document. */
export const masteryRoutes = [
  startAdaptiveRun,
  inspectAdaptiveRun,
  advanceAdaptiveRun,
  readSelectionPolicy,
  readScaleCalibration,
  simulateScoreRecovery,
] as const;
