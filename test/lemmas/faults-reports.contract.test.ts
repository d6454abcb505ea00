import { afterAll, beforeAll, expect, it } from 'vitest';
import { routes } from '#shared/contract/routes.ts';
import { startTestStack } from '#test/support/stack.ts';
import { masteryFlows } from './faults-mastery.ts';
import { openReportsWorld, reportsFlows, type ReportsWorld } from './faults-reports.ts';
import { openWaits, walk, type FaultRules, type RulesByAnswer } from './faults-walk.ts';

// Every fault of every upstream call of the routes of the reports service, over the functions in this process.

const read: RulesByAnswer = [
  ['200,', 'RP-086'],
  ['200', 'RP-028'],
];
const failed = 'RP-028, RP-324, RP-325, RP-328';
const materialized: RulesByAnswer = [
  ['200, caliper', 'RP-071'],
  ['404 not-found, operation', 'RP-316, RP-330'],
  ['409', 'RP-257, RP-330, RP-333'],
  ['503', 'RP-017, RP-258, RP-330, RP-334'],
];

const rules: FaultRules = {
  byAnswer: {
    readAttemptReport: [
      ['200, caliper', 'RP-071'],
      ...read,
      ['404', 'RP-231, RP-316'],
      ['409', `RP-232, RP-333, ${failed}`],
      ['503', `RP-017, RP-233, RP-334, ${failed}`],
    ],
    'readAttemptReport, without a kept framework': [
      ['200', 'RP-028'],
      ['503', 'RP-017, RP-089, RP-233'],
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
    readClassCohort: [
      ...read,
      ['404', 'RP-240, RP-316'],
      ['503', `RP-004, RP-017, RP-241, RP-334, ${failed}`],
    ],
    readSchoolGradeCohort: [
      ...read,
      ['404', 'RP-244, RP-316'],
      ['503', `RP-004, RP-017, RP-245, RP-334, ${failed}`],
    ],
    readEquivalence: [
      ...read,
      ['404', 'RP-247, RP-316'],
      ['503', `RP-004, RP-017, RP-248, RP-334, ${failed}`],
    ],
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
  },
};

const waits = openWaits();
let world: ReportsWorld;
beforeAll(async () => {
  world = await openReportsWorld(await startTestStack({ inProcess: waits.ports }));
});
afterAll(() => world.stack.close());

it('has a flow for every route that calls an owner', () => {
  const walked = [...masteryFlows, ...reportsFlows].map(({ route }) => route.operationId);
  const calling = routes.filter(({ budget }) => budget.calls > 0).map(({ operationId }) => operationId);
  expect(new Set(walked)).toEqual(new Set(calling));
});

for (const flow of reportsFlows) walk(flow, { stack: () => world.stack, world: () => world, waits, rules });
