import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  listCandidateReports,
  readAttemptReport,
  readClassCohort,
  readEquivalence,
  readReadiness,
  readSchoolGradeCohort,
} from '#shared/contract/reports/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import { operations } from '#shared/platform/all-operations.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { openReportsCaller } from '#test/support/reports-call.ts';
import type { ReportsCaller } from '#test/support/reports-call.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';
import { sentenceOf } from './compare-answers.ts';
import { ALWAYS, casesOf, columnsDemanded, rowsOf, subjects } from './fault-table.ts';
import type { Arm, FaultCase, RulesByAnswer, Subject } from './fault-table.ts';
import { openReads, somebody } from './sound-reads.ts';
import type { Reads } from './sound-reads.ts';

let stack: TestStack;
let caller: ReportsCaller;
beforeAll(async () => {
  stack = await startTestStack();
  caller = openReportsCaller(stack);
});
afterEach(async () => {
  await stack.control('DELETE', 'faults');
});
afterAll(() => stack.close());

const armed = z.object({ faults: z.array(z.object({ times: z.number(), struck: z.number() })) });

/** Asks while a fault is armed, which must strike, and lifts it. */
async function askUnder<T>(target: FaultCase['target'], arm: Arm, ask: () => Promise<T>): Promise<T> {
  await stack.fault({ ...target, ...arm });
  const answer = await ask();
  const { faults } = armed.parse(await stack.control('GET', 'faults'));
  // Spent ones are not listed any more.
  expect(faults.every(({ struck }) => struck > 0)).toBe(true);
  await stack.control('DELETE', 'faults');
  return answer;
}

const shared = 'RP-028, RP-324, RP-328';

/** What the answers stand on, by the operation of the route. */
const rules: Readonly<Record<string, RulesByAnswer>> = {
  [readAttemptReport.operationId]: [
    ['200, caliper', 'RP-071'],
    ['200,', 'RP-086'],
    ['200', 'RP-028'],
    ['404', 'RP-231, RP-316'],
    ['409', `RP-232, RP-333, ${shared}`],
    ['503', `RP-017, RP-233, RP-334, ${shared}`],
  ],
  [readReadiness.operationId]: [
    ['200, qti stale', 'RP-118'],
    ['200, blueprint stale', 'RP-118'],
    ['200,', 'RP-086'],
    ['200', 'RP-028'],
    ['404', 'RP-250, RP-316'],
    ['409', `RP-251, RP-333, ${shared}`],
    ['503', `RP-017, RP-252, RP-334, ${shared}`],
  ],
  [listCandidateReports.operationId]: [
    ['200,', 'RP-086'],
    ['200', 'RP-028'],
    ['404', 'RP-237, RP-316'],
    ['503', `RP-017, RP-238, RP-334, ${shared}`],
  ],
  [readClassCohort.operationId]: [
    ['200,', 'RP-086'],
    ['200', 'RP-028'],
    ['404', 'RP-240, RP-316'],
    ['503', `RP-004, RP-017, RP-241, RP-334, ${shared}`],
  ],
  [readSchoolGradeCohort.operationId]: [
    ['200,', 'RP-086'],
    ['200', 'RP-028'],
    ['404', 'RP-244, RP-316'],
    ['503', `RP-004, RP-017, RP-245, RP-334, ${shared}`],
  ],
  [readEquivalence.operationId]: [
    ['200,', 'RP-086'],
    ['200', 'RP-028'],
    ['404', 'RP-247, RP-316'],
    ['503', `RP-004, RP-017, RP-248, RP-334, ${shared}`],
  ],
};

describe.each(subjects)('$route.operationId', (subject: Subject) => {
  const { table } = subject;
  let reads: Reads;
  beforeAll(async () => {
    reads = await openReads(stack, caller, subject);
  });
  const send: Reads['send'] = (scopes) => reads.send(scopes);
  const ask: Reads['ask'] = (scopes) => reads.ask(scopes);

  it('has a row for every read that it makes, and in it a column for every fault that the read can have', async () => {
    const { calls } = await callsDuring(stack, () => send(somebody()));
    const made = new Set(calls.map(({ operation, method }) => `${method} ${operation ?? ''}`));
    const rows = rowsOf(table);
    expect(new Set(rows.map(([name]) => `${operations[name].method} ${operations[name].id}`))).toEqual(made);
    for (const [name, row] of rows) expect(new Set(Object.keys(row))).toEqual(columnsDemanded(name));
  });

  it.each<Omit<Arm, 'times'>>([
    { kind: 'status', status: 503 },
    { kind: 'status', status: 429, retryAfterSeconds: 0 },
    { kind: 'down' },
    { kind: 'cut' },
  ])('goes on after one failed try of each of its reads: %o', async (arm) => {
    for (const [name] of rowsOf(table)) {
      const { id: operation, method } = operations[name];
      await stack.fault({ operation, method, ...arm, times: 1 });
    }
    expect(await ask(somebody())).toBe('200');
    await stack.faultsStruck();
  });

  for (const { title, target, arms, expected } of casesOf(subject, rules[subject.route.operationId]!)) {
    it(title, async () => {
      let asking = somebody();
      for (const arm of arms) {
        asking = somebody();
        const reply = await askUnder(target, arm, () => send(asking));
        expect([arm, sentenceOf(stack, reads.sound, reply)]).toEqual([arm, expected]);
        if (arm.retryAfterSeconds !== undefined && reply.status !== 200)
          expect(reply.headers.get('retry-after')).toBe(String(arm.retryAfterSeconds));
      }
      // Nothing of it has been kept.
      expect(await ask(asking)).toBe('200');
    });
  }
});

const attemptSubject = subjects.find(({ route }) => route === readAttemptReport)!;

describe('a CASE framework that the container has not kept', () => {
  it.each<[Arm, string]>([
    [{ kind: 'down', times: ALWAYS }, '503 dependency-unavailable case'],
    [{ kind: 'malformed', times: ALWAYS }, '503 dependency-unavailable case'],
    [{ kind: 'wrong_tenant', times: ALWAYS }, '503 dependency-unavailable case'],
    [{ kind: 'status', status: 404, times: ALWAYS }, '503 dependency-incomplete case'],
    [{ kind: 'stale', times: ALWAYS }, '503 dependency-incomplete case'],
  ])('is not kept from a bad answer: %o, %s [RP-017, RP-089, RP-233]', async (arm, expected) => {
    const { ask } = await openReads(stack, caller, attemptSubject);
    await stack.killWorkers(attemptSubject.route.operationId);
    const { id: operation, method } = operations.readPackage;
    expect(await askUnder({ operation, method }, arm, () => ask(somebody()))).toBe(expected);
    expect(await ask(somebody())).toBe('200');
  });
});

/** Owners that fail side by side: the first one answers at once, the other one only after it has been asked twice. */
const together: readonly {
  readonly route: Route;
  readonly atOnce: readonly [keyof typeof operations, 404 | 'malformed'];
  readonly slowly: keyof typeof operations;
  readonly expected: string;
  readonly rule: string;
}[] = [
  {
    route: readAttemptReport,
    atOnce: ['readReportCriteria', 'malformed'],
    slowly: 'readSettledRecord',
    expected: '503 dependency-unavailable results',
    rule: 'RP-233',
  },
  {
    route: readAttemptReport,
    atOnce: ['readPackage', 404],
    slowly: 'readEvidenceAck',
    expected: '503 dependency-incomplete case',
    rule: 'RP-017',
  },
  {
    route: readReadiness,
    atOnce: ['readReadinessCrosswalks', 404],
    slowly: 'readReportCriteria',
    expected: '503 dependency-unavailable content',
    rule: 'RP-252',
  },
  {
    route: listCandidateReports,
    atOnce: ['readUser', 404],
    slowly: 'listCandidateAttempts',
    expected: '404 not-found',
    rule: 'RP-237',
  },
  {
    route: listCandidateReports,
    atOnce: ['listCandidateAttempts', 404],
    slowly: 'readUser',
    expected: '503 dependency-incomplete results',
    rule: 'RP-238',
  },
  {
    route: readClassCohort,
    atOnce: ['readClass', 404],
    slowly: 'readClassRollup',
    expected: '404 not-found',
    rule: 'RP-240',
  },
  {
    route: readSchoolGradeCohort,
    atOnce: ['readSchoolGradeRollup', 'malformed'],
    slowly: 'readSchool',
    expected: '503 dependency-unavailable analytics',
    rule: 'RP-245',
  },
  {
    route: readEquivalence,
    atOnce: ['readReportCriteria', 404],
    slowly: 'readFormEquivalence',
    expected: '404 not-found',
    rule: 'RP-247',
  },
  {
    route: readEquivalence,
    atOnce: ['readFormEvidence', 'malformed'],
    slowly: 'readReportCriteria',
    expected: '503 dependency-unavailable content',
    rule: 'RP-248',
  },
];

describe('two owners that fail side by side', () => {
  for (const { route, atOnce, slowly, expected, rule } of together) {
    const [first, how] = atOnce;
    it(`${route.operationId}: ${first} ${how}, ${slowly} down: ${expected}, whichever is heard first [${rule}]`, async () => {
      const { ask } = await openReads(
        stack,
        caller,
        subjects.find((subject) => subject.route === route)!,
      );
      const { id, method } = operations[first];
      await stack.fault({
        operation: id,
        method,
        times: ALWAYS,
        ...(how === 404 ? { kind: 'status', status: 404 } : { kind: how }),
      });
      const { id: operation, method: other } = operations[slowly];
      expect(
        await askUnder({ operation, method: other }, { kind: 'down', times: ALWAYS }, () => ask(somebody())),
      ).toBe(expected);
    });
  }
});

describe('one try that takes longer than it may', () => {
  it('is given up and repeated, once, by every route alike', async () => {
    const slow = ['readReportCriteria', 'readClass', 'readSchool'] as const;
    const reads = await Promise.all(subjects.map((subject) => openReads(stack, caller, subject)));
    for (const name of slow) {
      const { id: operation, method } = operations[name];
      const times = subjects.filter(({ table }) => name in table).length;
      await stack.fault({ operation, method, kind: 'latency', milliseconds: 30_000, times });
    }
    const answers = await Promise.all(reads.map(({ ask }) => ask(somebody())));
    expect(answers).toEqual(subjects.map(() => '200'));
    await stack.faultsStruck();
  });
});
