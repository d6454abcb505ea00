import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { operations } from '#shared/platform/all-operations.ts';
import { ALWAYS } from '#test/lemmas/faults.ts';
import type { CallName } from '#test/lemmas/faults.ts';
import { openReportsWorld, reportsFlows } from '#test/lemmas/faults-reports.ts';
import type { ReportsWorld } from '#test/lemmas/faults-reports.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

// Faults that meet: of two owners at once, and of a container that has not kept a framework. Each alone: test/lemmas.

let stack: TestStack;
let world: ReportsWorld;
beforeAll(async () => {
  stack = await startTestStack();
  world = await openReportsWorld(stack);
});
afterEach(async () => {
  await stack.control('DELETE', 'faults');
});
afterAll(() => stack.close());

/** Sends a request of a route; resolves to the answer in one line. */
async function openRoute(operationId: string): Promise<() => Promise<string>> {
  const flow = reportsFlows.find(({ route }) => route.operationId === operationId)!;
  const { send } = await (await flow.open(world))(undefined);
  return async () => (await send()).sentence;
}

async function arm(call: CallName, fault: Readonly<Record<string, unknown>>): Promise<void> {
  const { id: operation, method } = operations[call];
  await stack.fault({ operation, method, times: ALWAYS, ...fault });
}

const absent = { kind: 'status', status: 404 };
const malformed = { kind: 'malformed' };

it.each([
  [{ kind: 'down' }, '503 dependency-unavailable case'],
  [malformed, '503 dependency-unavailable case'],
  [{ kind: 'wrong_tenant' }, '503 dependency-unavailable case'],
  [absent, '503 dependency-incomplete case'],
  [{ kind: 'stale' }, '503 dependency-incomplete case'],
])(
  'a CASE framework that the container has not kept is not kept from a bad answer: %o, %s [RP-017, RP-089, RP-233]',
  async (fault, expected) => {
    const ask = await openRoute('readAttemptReport');
    await stack.killWorkers('readAttemptReport');
    await arm('readPackage', fault);
    expect(await ask()).toBe(expected);
    await stack.control('DELETE', 'faults');
    expect(await ask()).toBe('200');
  },
);

/** The first owner fails at once, the other one only after it has been asked twice. */
it.each<[string, CallName, object, CallName, string, string]>([
  [
    'readAttemptReport',
    'readReportCriteria',
    malformed,
    'readSettledRecord',
    '503 dependency-unavailable results',
    'RP-233',
  ],
  ['readAttemptReport', 'readPackage', absent, 'readEvidenceAck', '503 dependency-incomplete case', 'RP-017'],
  [
    'readReadiness',
    'readReadinessCrosswalks',
    absent,
    'readReportCriteria',
    '503 dependency-unavailable content',
    'RP-252',
  ],
  ['listCandidateReports', 'readUser', absent, 'listCandidateAttempts', '404 not-found', 'RP-237'],
  [
    'listCandidateReports',
    'listCandidateAttempts',
    absent,
    'readUser',
    '503 dependency-incomplete results',
    'RP-238',
  ],
  ['readClassCohort', 'readClass', absent, 'readClassRollup', '404 not-found', 'RP-240'],
  [
    'readSchoolGradeCohort',
    'readSchoolGradeRollup',
    malformed,
    'readSchool',
    '503 dependency-unavailable analytics',
    'RP-245',
  ],
  ['readEquivalence', 'readReportCriteria', absent, 'readFormEquivalence', '404 not-found', 'RP-247'],
  [
    'readEquivalence',
    'readFormEvidence',
    malformed,
    'readReportCriteria',
    '503 dependency-unavailable content',
    'RP-248',
  ],
])(
  '%s: %s %o beside %s that is down: %s, whichever is heard first [%s]',
  async (route, first, fault, second, expected) => {
    const ask = await openRoute(route);
    await arm(first, { ...fault });
    await arm(second, { kind: 'down' });
    expect(await ask()).toBe(expected);
  },
);
