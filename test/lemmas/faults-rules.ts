import type { CallName, Fault } from './faults.ts';
import { nameOf } from './faults-flow.ts';
import type { Flow } from './faults-flow.ts';

type RulesByAnswer = readonly (readonly [beginning: string, rules: string])[];

const read: RulesByAnswer = [
  ['200,', 'RP-086'],
  ['200', 'RP-028'],
];
const failed = 'RP-028, RP-324, RP-328';
const materialized: RulesByAnswer = [
  ['200, caliper', 'RP-071'],
  ['404 not-found, operation', 'RP-316, RP-330'],
  ['409', 'RP-257, RP-330, RP-333'],
  ['503', 'RP-017, RP-258, RP-330, RP-334'],
];

/** Which rules an answer stands on, by the flow and the beginning of the answer: the first that fits. */
const byAnswer: Readonly<Record<string, RulesByAnswer>> = {
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
  'inspectAdaptiveRun, waiting for Caliper': [['200', 'MA-086, MA-140']],
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
  readAttemptReport: [
    ['200, caliper', 'RP-071'],
    ...read,
    ['404', 'RP-231, RP-316'],
    ['409', `RP-232, RP-333, ${failed}`],
    ['503', `RP-017, RP-233, RP-334, ${failed}`],
  ],
  readReadiness: [
    ['200, qti stale', 'RP-118'],
    ['200, blueprint stale', 'RP-118'],
    ...read,
    ['404', 'RP-250, RP-316'],
    ['409', `RP-251, RP-333, ${failed}`],
    ['503', `RP-017, RP-252, RP-334, ${failed}`],
  ],
  listCandidateReports: [...read, ['404', 'RP-237, RP-316'], ['503', `RP-017, RP-238, RP-334, ${failed}`]],
  readClassCohort: [...read, ['404', 'RP-240, RP-316'], ['503', `RP-004, RP-017, RP-241, RP-334, ${failed}`]],
  readSchoolGradeCohort: [
    ...read,
    ['404', 'RP-244, RP-316'],
    ['503', `RP-004, RP-017, RP-245, RP-334, ${failed}`],
  ],
  readEquivalence: [...read, ['404', 'RP-247, RP-316'], ['503', `RP-004, RP-017, RP-248, RP-334, ${failed}`]],
  analyzeAdministration: [
    ['200, without', 'RP-160, RP-165'],
    ['200', 'RP-259'],
    ['404', 'RP-261, RP-316'],
    ['409', 'RP-264, RP-333'],
    ['503', 'RP-017, RP-265, RP-324, RP-328, RP-334'],
  ],
  readImprovementRun: [
    ['200', 'RP-266'],
    ['503 dependency-incomplete', 'RP-154, RP-268, RP-324, RP-328, RP-334'],
    ['503', 'RP-017, RP-268, RP-324, RP-328, RP-334'],
  ],
  readAlignmentReport: [
    ['200', 'RP-269'],
    ['409', 'RP-272'],
    ['503', 'RP-273, RP-324'],
  ],
  listRevisionOrders: [
    ['200', 'RP-274'],
    ['503', 'RP-278, RP-324'],
  ],
  materializeAttemptReport: materialized,
  'materializeAttemptReport, reading back': materialized,
  simulateScoreRecovery: [
    ['404', 'MA-180'],
    ['409', 'MA-181'],
    ['422', 'MA-183'],
    ['424', 'MA-184'],
    ['502', 'MA-185'],
  ],
};

/** Which rules say that an answer must be about what was asked for, by its call and the id in it. */
const byIdentity: Readonly<Record<string, string>> = {
  'validateAdaptiveBankIdentity /specId': 'MA-054',
  'readAdaptivePoolManifest /testSpecId': 'MA-055',
  'readAdaptivePoolManifest /testBankId': 'MA-055',
  'readCandidateRuntime /candidateRef': 'MA-028',
  'offerSelectedItem /candidateRef': 'MA-029',
  'offerSelectedItem /rootArtifactVersionId': 'MA-091',
  'writeResultRecord /producerResultId': 'MA-033',
  'writeKcComponents /componentIds/0': 'MA-034',
  'readEvidenceAck /event/id': 'MA-038',
};

/** The end of a title: the rules that an answer stands on, in brackets. */
export function citationOf(flow: Flow<never>, call: CallName, fault: Fault, expected: string): string {
  const ofAnswer = byAnswer[nameOf(flow)]?.find(([beginning]) => expected.startsWith(beginning))?.[1];
  const ofIdentity = byIdentity[`${call} ${fault.arm.member ?? ''}`];
  const rules = [
    ofAnswer,
    ofIdentity,
    ...(expected.endsWith('anchor_unavailable') ? ['MA-194'] : []),
    ...(/ retryable( when mended)?$/.test(expected) ? ['MA-209'] : []),
  ].filter((rule) => rule !== undefined);
  return rules.length === 0 ? '' : ` [${rules.join(', ')}]`;
}
