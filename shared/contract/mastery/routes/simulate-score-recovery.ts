import { defineRoute } from '../../route.ts';
import * as examples from '../examples.ts';
import { MEBIBYTE, poolProblems } from '../route-defaults.ts';
import { exceedsSimulationLimits, scoreRecoverySimulation, simulationRequest } from '../score-recovery.ts';

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
  budget: { calls: 17, depth: 10 },
  lambda: {
    // One whole processor, which Lambda assigns by memory: the work is arithmetic, and needs a fifth of this memory.
    memoryMb: 1769,
    grants: ['records:read', 'control:write', 'keys:idempotency', 'profiles:read', 'release:read'],
    impact: 'Psychometricians cannot simulate how well a test recovers scores. Tests continue.',
  },
});
