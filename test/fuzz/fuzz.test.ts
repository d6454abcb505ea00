import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AttemptReport } from '#shared/contract/reports/attempt-report.ts';
import { reportInvariants } from '#shared/contract/reports/invariants/attempt-report.ts';
import { acceptedPairs } from './accepted-pairs.ts';
import { askRoute, drawsUntilFault, fuzz, type AskRoute } from './fuzz.ts';
import { membersOf } from './members.ts';
import { subjects, type Case } from './subjects.ts';

// The search itself: fuzz.slow.test.ts.

const SEED = 20_260_302;
const SAMPLE = 1_000;
/** Some seconds without other work, in milliseconds. */
const ON_A_SLOW_MACHINE = 300_000;

afterEach(() => vi.restoreAllMocks());

it(
  'no answer of a sample contradicts the facts or itself, and every pair of members that may differ has been read',
  async () => {
    const { findings, drawn, answered } = await fuzz(SEED, SAMPLE);
    expect(findings.join('\n')).toBe('');
    expect([drawn, answered > SAMPLE / 5]).toEqual([SAMPLE, true]);
  },
  ON_A_SLOW_MACHINE,
);

it(
  'a pair that nobody has accepted is found',
  async () => {
    const { findings } = await fuzz(SEED, 200, askRoute, []);
    expect(findings.join('\n')).toContain(' × ');
  },
  ON_A_SLOW_MACHINE,
);

it('the accepted pairs are of members that there are', () => {
  for (const { of, members, beside = [] } of acceptedPairs)
    for (const name of of) {
      const { response } = subjects[name === 'cohort' ? 'classCohort' : name];
      expect(membersOf(response)).toEqual(expect.arrayContaining([...members, ...beside]));
    }
});

/** Answers whose bodies are changed on their way. */
const changing =
  (change: (report: AttemptReport) => object): AskRoute =>
  async (name, asked) => {
    const answer = await askRoute(name, asked);
    // SAFETY: the answer of the route on reports.
    return name === 'report' && 'body' in answer ? { body: change(answer.body as AttemptReport) } : answer;
  };

/** Readiness of owners that all call their answers current. */
const withoutFreshness: AskRoute = (name, asked) =>
  askRoute(name, name === 'readiness' ? { ...asked, answers: asCurrent(asked.answers) } : asked);
const asCurrent = (answers: Case['answers']): Case['answers'] =>
  JSON.parse(JSON.stringify(answers), (member, value: unknown) =>
    member === 'freshness' ? 'current' : value,
  ) as Case['answers'];

describe('a defect that is planted is found within the sample', () => {
  it.each<[string, () => AskRoute]>([
    [
      'an invariant that is not evaluated',
      () => {
        vi.spyOn(reportInvariants['no-standard-above-itself'], 'holds').mockReturnValue(true);
        return askRoute;
      },
    ],
    [
      'a gap that is left out',
      () =>
        changing(({ gate, ...report }) => ({
          ...report,
          gate: gate && { ...gate, gapCaseGuids: gate.gapCaseGuids.slice(1) },
        })),
    ],
    ['readiness that takes a stale answer for a current one', () => withoutFreshness],
  ])(
    '%s',
    async (_, plant) => {
      expect(await drawsUntilFault(SEED, SAMPLE, plant())).toBeLessThan(SAMPLE);
    },
    ON_A_SLOW_MACHINE,
  );
});
