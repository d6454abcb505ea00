import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { contradictions } from '#local/platform/contradictions.ts';
import { invariantTables, type InvariantId } from '#shared/contract/reports/invariants/tables.ts';
import type { Statement } from '#shared/contract/reports/invariants/invariant.ts';
import type { Route } from '#shared/contract/route.ts';
import { lazily } from '#test/support/lazily.ts';
import { openReportsCaller, reportsProblemOf } from '#test/support/reports-call.ts';
import { useTestStack } from '#test/support/stack.ts';
import { heldOf, subjects } from './contradictions.ts';
import { openReads, somebody, type Reads } from './sound-reads.ts';

// Every invariant, broken by an owner on the wire: once, and in every answer.

const stack = useTestStack();
const caller = lazily(() => openReportsCaller(stack));
afterEach(async () => {
  await stack.control('POST', 'reset');
});

type Subject = `${Route['operationId']}, ${'gatePass' | 'gateFail' | 'diagnostic'}`;

const report = (role: 'gatePass' | 'gateFail' | 'diagnostic'): readonly Subject[] =>
  role === 'diagnostic'
    ? [`readAttemptReport, ${role}`]
    : [`readAttemptReport, ${role}`, `readReadiness, ${role}`];
const header = (role: 'gatePass' | 'gateFail' | 'diagnostic'): readonly Subject[] => [
  ...report(role),
  `listCandidateReports, ${role}`,
];
const cohorts: readonly Subject[] = ['readClassCohort, gatePass', 'readSchoolGradeCohort, gatePass'];
const equivalence: readonly Subject[] = ['readEquivalence, gatePass'];

/** The routes that judge an invariant, each with an attempt of which it speaks. */
const judging: Readonly<Record<InvariantId, readonly Subject[]>> = {
  // Readiness projects nothing from an unusable score, and goes on.
  'score-within-bounds': [
    'readAttemptReport, gatePass',
    'readAttemptReport, diagnostic',
    'listCandidateReports, gatePass',
  ],
  'one-mastery-scale': header('diagnostic'),
  'one-score-per-scale': header('diagnostic'),
  'pass-not-below-required': header('gatePass'),
  'pass-lists-no-gap': header('gatePass'),
  'fail-has-a-cause': header('gateFail'),
  'gap-listed-once': header('gateFail'),
  'one-test-kind': [...header('gatePass'), ...header('diagnostic')],
  'one-time-of-modification': ['listCandidateReports, gatePass'],
  'parent-as-in-case': report('gateFail'),
  'items-administered': [...report('gatePass'), ...report('diagnostic')],
  'one-row-per-standard': [...report('gatePass'), ...report('diagnostic')],
  'no-standard-above-itself': report('gateFail'),
  'one-evidence-per-outcome': report('gateFail'),
  'gate-lists-its-gap-rows': report('gatePass'),
  'listed-gap-not-mastered': report('gateFail'),
  'state-fits-estimate': [...report('gatePass'), ...report('diagnostic')],
  'snapshot-not-ahead': cohorts,
  'one-value-per-measure': cohorts,
  'measure-in-range': cohorts,
  'nobody-measured-nothing': cohorts,
  'other-forms': equivalence,
  'form-once': equivalence,
  'one-sample-per-form': equivalence,
  'statistic-in-interval': equivalence,
  'tolerance-not-negative': equivalence,
  'equivalent-forms-were-sampled': equivalence,
  'equivalent-within-tolerance': equivalence,
  'decision-has-evidence': equivalence,
  'evidence-has-public-link': equivalence,
  // Judged where a run begins, beside that operation.
  'source-named-once': [],
  'metric-named-once': [],
  'comparison-named-once': [],
};

const statements = Object.fromEntries(
  Object.values(invariantTables).flatMap((table): [string, Statement][] => Object.entries(table)),
);

const nameOf = ({ route, role }: (typeof subjects)[number]): string => `${route.operationId}, ${role}`;

const checkedBy = (subject: (typeof subjects)[number]): readonly InvariantId[] =>
  (Object.keys(judging) as InvariantId[]).filter((id) =>
    judging[id].some((name) => name === nameOf(subject)),
  );

describe.each(subjects.filter((subject) => checkedBy(subject).length > 0))(
  '$route.operationId, $role',
  (subject) => {
    let reads: Reads;
    beforeAll(async () => {
      const { route, role, call } = subject;
      reads = await openReads(stack, caller, {
        route,
        call: (fixtures) => call(heldOf(stack, fixtures, role)),
      });
    });
    const breakOften = async (invariant: InvariantId, times: number): Promise<void> => {
      for (const { operation } of contradictions[invariant])
        await stack.fault({ operation: operation.id, kind: 'contradiction', invariant, times });
    };

    it.each(checkedBy(subject))('refused in every answer, 200 after one: %s [RP-017, RP-028]', async (id) => {
      await breakOften(id, 1);
      expect(await reads.ask(somebody())).toBe('200');

      await stack.control('DELETE', 'faults');
      await breakOften(id, 1_000);
      const from = stack.logs().length;
      const reply = await reads.send(somebody());
      const { broken, owner } = statements[id]!;
      const logged = stack.logs().slice(from);
      expect(logged.map(({ line }) => line)).toContainEqual(
        expect.objectContaining({ code: 'FACTS_CONTRADICTORY', invariant: id, dependency: owner }),
      );
      if (subject.route.operationId === 'listCandidateReports') {
        // One attempt whose facts contradict each other keeps no other one from the page.
        const { data, withheld } = JSON.parse(reply.text) as Record<string, unknown>;
        expect([reply.status, data, withheld]).toEqual([200, [], [{ reason: 'unverified', count: 1 }]]);
        return;
      }
      expect(reportsProblemOf(reply)).toMatchObject({
        status: 503,
        type: expect.stringMatching(/dependency-incomplete$/) as unknown,
        detail: `${broken} Invariant: ${id}.`,
        dependency: owner,
      });
      expect(reply.headers.get('retry-after')).toBe('300');
    });
  },
);
