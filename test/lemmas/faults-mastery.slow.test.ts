import { useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { useTestStack } from '#test/support/stack.ts';
import { masteryFlows } from './faults-mastery.ts';
import { openWaits, walk, type FaultRules } from './faults-walk.ts';

// Every fault of every upstream call of the mastery engine's routes, over the functions in this process.

const rules: FaultRules = {
  byAnswer: {
    startAdaptiveRun: [
      ['201', 'MA-135'],
      ['404', 'MA-151, MA-214'],
      ['409', 'MA-152'],
      ['422', 'MA-153'],
      ['424', 'MA-154, MA-218'],
      ['502', 'MA-155, MA-222, MA-223'],
    ],
    'startAdaptiveRun, second reading': [
      ['409', 'MA-024, MA-027, MA-152'],
      ['424', 'MA-154, MA-218'],
      ['502', 'MA-155, MA-222, MA-223'],
    ],
    inspectAdaptiveRun: [
      ['409', 'MA-142, MA-160'],
      ['422', 'MA-161'],
      ['424', 'MA-162, MA-196, MA-218'],
      ['502', 'MA-163, MA-223'],
    ],
    'inspectAdaptiveRun, waiting for Caliper': [['200', 'MA-086, MA-140, MA-141']],
    advanceAdaptiveRun: [
      ['409', 'MA-165'],
      ['422', 'MA-167'],
      ['424', 'MA-168, MA-196, MA-218'],
      ['502', 'MA-171, MA-222, MA-223'],
    ],
    'advanceAdaptiveRun, finalizing a run of production_learner': [
      ['200', 'MA-085, MA-086, MA-138, MA-202'],
      ['424', 'MA-138, MA-169, MA-202'],
    ],
    'advanceAdaptiveRun, finalizing a run of owner_conformance': [
      ['200', 'MA-013, MA-139'],
      ['424', 'MA-013, MA-139, MA-169'],
    ],
    simulateScoreRecovery: [
      ['404', 'MA-180'],
      ['409', 'MA-181'],
      ['422', 'MA-183'],
      ['424', 'MA-184'],
      ['502', 'MA-185'],
    ],
  },
  byIdentity: {
    'validateAdaptiveBankIdentity /bankId': 'MA-068',
    'validateAdaptiveBankIdentity /specId': 'MA-054, MA-068',
    'readAdaptivePoolManifest /operationId': 'MA-025',
    'readAdaptivePoolManifest /testSpecId': 'MA-055',
    'readAdaptivePoolManifest /testBankId': 'MA-055',
    'readCfItem /identifier': 'MA-031',
    'readCandidateRuntime /candidateRef': 'MA-028',
    'offerSelectedItem /candidateRef': 'MA-029',
    'offerSelectedItem /rootArtifactVersionId': 'MA-091',
    'writeResultRecord /producerResultId': 'MA-033',
    'writeKcComponents /componentIds/0': 'MA-034',
    'readEvidenceAck /event/id': 'MA-038',
  },
  byEnd: [
    [/anchor_unavailable$/, 'MA-194'],
    [/ retryable( when mended)?$/, 'MA-209'],
  ],
};

const waits = openWaits();
const stack = useTestStack({ inProcess: waits.ports });
const world = { stack, runs: useAdaptiveRuns(stack) };

for (const flow of masteryFlows) walk(flow, { stack: () => stack, world: () => world, waits, rules });
