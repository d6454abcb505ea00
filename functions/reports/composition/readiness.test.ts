import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readinessReport } from '#shared/contract/reports/readiness-report.ts';
import { readinessCrosswalks } from '#shared/platform/owners/content.ts';
import type { ReadinessCrosswalks } from '#shared/platform/owners/content.ts';
import { anExampleOf, attemptFacts, frozen, moment, readinessFacts } from '#test/support/report-facts.ts';
import type { Kind } from '#test/support/report-facts.ts';
import { decideGate } from './gate-decision.ts';
import { composeReadiness } from './readiness.ts';
import type { ReadinessFacts, Released } from '../facts/facts.ts';

type Facts = ReadinessFacts & Released;
type Crosswalk = ReadinessCrosswalks['entries'][number];

const points = { value: 31, minimum: 0, maximum: 40, unit: 'points', scaleVersion: null };

/** An attempt that passed its gate, with one crosswalk that rules nothing out. */
function ready(kind: Kind = 'mastery_gate'): Facts {
  const attempt = anExampleOf(attemptFacts(fc.constant(kind)));
  const { record, criteria } = attempt;
  for (const row of record.value.mastery) row.state = 'mastered';
  criteria.value.criteria = { criteriaVersion: 'criteria-4', required: 0.8 };
  criteria.value.qualifyingCoverage = true;
  record.value.gate = {
    status: 'pass',
    criteriaVersion: 'criteria-4',
    achieved: 0.9,
    required: 0.8,
    gapCaseGuids: [],
    coverageEvidenceId: 'coverage-771',
  };
  const { value, receipt } = anExampleOf(readinessFacts).crosswalks;
  value.entries = [
    {
      sourceTest: 'State Assessment Mathematics 5',
      sourceVersion: '2026',
      crosswalkVersion: 'crosswalk-9',
      coverageFraction: 1,
      dokDominance: 'satisfied',
      qualifyingBlueprintSlotIds: ['slot-1', '__proto__'],
      freshness: 'current',
      limitations: ['Speaking is not measured.'],
    },
  ];
  return {
    ...attempt,
    crosswalks: { value, receipt: { ...receipt, status: 'current' } },
  };
}

/** The one crosswalk of `ready`. */
function entryOf(facts: Facts): Crosswalk {
  return facts.crosswalks.value.entries[0]!;
}

/** Its decision, once `change` has been made, and how many limitations stand beside the blueprint's own. */
function decided(change: (facts: Facts) => unknown, kind?: Kind): unknown {
  const facts = ready(kind);
  change(facts);
  const report = composeReadiness(facts, moment);
  if (!report.ok) return report.error;
  const { decision, limitations } = report.value.entries[0]!;
  expect(limitations[0]).toBe('Speaking is not measured.');
  return [decision, limitations.length - 1];
}

describe('readiness', () => {
  it('has its shape, whatever the owners say, and their ids as they came [RP-005, RP-109, RP-111, RP-112, RP-114, RP-115]', () => {
    fc.assert(
      fc.property(readinessFacts, (facts) => {
        const { evidence, record, criteria, candidate, framework, crosswalks } = frozen(facts);
        expect(readinessCrosswalks.parse(crosswalks.value)).toEqual(crosswalks.value);
        const report = composeReadiness(facts, moment);
        if (!report.ok) throw new Error(report.error.detail);
        expect(readinessReport.parse(report.value)).toEqual(report.value);
        expect(report.value).toMatchObject({
          attemptId: evidence.value.attemptId,
          sources: [
            evidence.receipt,
            record.receipt,
            criteria.receipt,
            candidate,
            framework.receipt,
            crosswalks.receipt,
          ],
          entries: crosswalks.value.entries.map((entry) => ({
            sourceTest: entry.sourceTest,
            sourceVersion: entry.sourceVersion,
            crosswalkVersion: entry.crosswalkVersion,
            coverageFraction: entry.coverageFraction,
            qualifyingBlueprintSlotIds: entry.qualifyingBlueprintSlotIds,
            decisionRuleId: 'gate-implies-readiness',
            decisionRuleVersion: '2',
          })),
        });
      }),
    );
  });

  it('projects a pass exactly when all of the rule holds on current evidence, and says why when it decides nothing [RP-116, RP-117, RP-118]', () => {
    fc.assert(
      fc.property(readinessFacts, (facts) => {
        const { evidence, record, criteria, framework, crosswalks } = facts;
        const report = composeReadiness(facts, moment);
        if (!report.ok) throw new Error(report.error.detail);
        const gate = decideGate(record.value.gate, criteria.value.criteria);
        const status = record.value.testKind === 'mastery_gate' && gate.ok ? gate.value.status : 'none';
        const isCurrent = [evidence, record, criteria, framework].every(
          ({ receipt }) => receipt.status === 'current',
        );
        for (const [at, { decision, limitations }] of report.value.entries.entries()) {
          const entry = crosswalks.value.entries[at]!;
          const isProjected =
            isCurrent &&
            status === 'pass' &&
            crosswalks.receipt.status === 'current' &&
            entry.freshness === 'current' &&
            entry.coverageFraction === 1 &&
            entry.dokDominance === 'satisfied' &&
            entry.qualifyingBlueprintSlotIds.length > 0;
          const isFailed = status === 'fail';
          expect(decision).toBe(isProjected ? 'projected_pass' : isFailed ? 'not_ready' : 'indeterminate');
          expect(limitations.slice(0, entry.limitations.length)).toEqual(entry.limitations);
          expect(limitations.length > entry.limitations.length).toBe(
            !isProjected && !(isFailed && isCurrent),
          );
        }
      }),
    );
  });

  it('projects a pass for a passed gate with complete evidence [RP-113, RP-116]', () => {
    expect(decided(() => undefined)).toEqual(['projected_pass', 0]);
  });

  it.each<[string, (facts: Facts) => unknown]>([
    ['incomplete coverage', (facts) => (entryOf(facts).coverageFraction = 0.999999)],
    ['no dominance', (facts) => (entryOf(facts).dokDominance = 'not_satisfied')],
    ['undetermined dominance', (facts) => (entryOf(facts).dokDominance = 'indeterminate')],
    ['dominance of an unknown name', (facts) => (entryOf(facts).dokDominance = 'SATISFIED')],
    ['no slot', (facts) => (entryOf(facts).qualifyingBlueprintSlotIds = [])],
    ['a stale crosswalk', (facts) => (entryOf(facts).freshness = 'stale')],
    ['a crosswalk of unknown freshness', (facts) => (entryOf(facts).freshness = 'unknown')],
    ['a stale set of crosswalks', ({ crosswalks }) => (crosswalks.receipt.status = 'stale')],
    ['stale evidence', ({ evidence }) => (evidence.receipt.status = 'stale')],
    ['a stale record', ({ record }) => (record.receipt.status = 'stale')],
    ['criteria of unknown freshness', ({ criteria }) => (criteria.receipt.status = 'unknown')],
    ['a candidate that is not current', ({ candidate }) => (candidate.status = 'stale')],
    ['a framework that CASE does not hold', ({ framework }) => (framework.receipt.status = 'unavailable')],
    ['no score', ({ record }) => (record.value.score = null)],
    ['a score beyond its maximum', ({ record }) => (record.value.score = { ...points, value: 41 })],
    ['a row without evidence', ({ record }) => (record.value.mastery[0]!.evidence = [])],
    ['no outcomes', ({ evidence }) => (evidence.value.outcomes = [])],
    ['a row that CASE does not know', ({ record }) => (record.value.mastery[0]!.caseGuid = 'nowhere ')],
    [
      'a framework from before the test spec’s',
      ({ criteria }) => (criteria.value.caseFrameworkChangedAt = '2999-01-01T00:00:00Z'),
    ],
    ['no dominance evidence', (facts) => (entryOf(facts).dokDominance = null)],
    ['dominance that is not mentioned', (facts) => (entryOf(facts).dokDominance = undefined)],
    [
      'no criteria at either owner',
      ({ record, criteria }) => {
        record.value.gate = null;
        criteria.value.criteria = null;
      },
    ],
    ['an indeterminate gate', ({ record }) => (record.value.gate!.status = 'indeterminate')],
    ['a gate of an unknown status', ({ record }) => (record.value.gate!.status = 'appealed')],
    ['a gate without coverage evidence', ({ record }) => (record.value.gate!.coverageEvidenceId = null)],
    ['no decision', ({ record }) => (record.value.gate = null)],
  ])('is indeterminate with %s, which its one limitation says [RP-116, RP-118]', (_, change) => {
    expect(decided(change)).toEqual(['indeterminate', 1]);
  });

  it('names every cause', () => {
    expect(
      decided((facts) => {
        entryOf(facts).coverageFraction = 0;
        entryOf(facts).qualifyingBlueprintSlotIds = [];
        facts.record.value.gate!.status = 'indeterminate';
      }),
    ).toEqual(['indeterminate', 3]);
  });

  it('is not ready after a failed gate, whatever the crosswalk is worth [RP-117]', () => {
    const fail = ({ record }: Facts): void => {
      const gapCaseGuids = [record.value.mastery[0]!.caseGuid];
      record.value.gate = { ...record.value.gate!, status: 'fail', gapCaseGuids };
    };
    expect(decided(fail)).toEqual(['not_ready', 0]);
    expect(
      decided((facts) => {
        fail(facts);
        facts.crosswalks.receipt.status = 'stale';
        entryOf(facts).coverageFraction = 0.5;
      }),
    ).toEqual(['not_ready', 0]);
    // A report that cannot be given is a limitation of it.
    expect(
      decided((facts) => {
        fail(facts);
        facts.record.receipt.status = 'stale';
      }),
    ).toEqual(['not_ready', 1]);
  });

  it('claims nothing for a kind without a gate, whatever Results decided [RP-015]', () => {
    expect(decided(() => undefined, 'adaptive_diagnostic')).toEqual(['indeterminate', 1]);
    expect(decided(() => undefined, 'a_kind_of_tomorrow')).toEqual(['indeterminate', 1]);
    expect(decided(() => undefined, 'formative')).toEqual(['indeterminate', 1]);
    expect(decided(({ criteria }) => (criteria.value.qualifyingCoverage = false), 'formative')).toEqual([
      'indeterminate',
      2,
    ]);
  });

  it('is the hidden 404 where the blueprint has no crosswalk, once it is sure of that', () => {
    const withoutEntries = (facts: Facts): void => {
      facts.crosswalks.value.entries = [];
    };
    expect(decided(withoutEntries)).toMatchObject({ status: 404, code: 'not-found' });
    expect(
      decided((facts) => {
        withoutEntries(facts);
        facts.crosswalks.receipt.status = 'stale';
      }),
    ).toMatchObject({ status: 503, dependency: 'blueprint' });
  });

  it('admits 100 crosswalks and 50 limitations, its own included [RP-110, RP-114]', () => {
    const facts = ready();
    const entry = {
      ...entryOf(facts),
      limitations: Array.from({ length: 49 }, (_, at) => `${at}`),
      coverageFraction: 0,
    };
    facts.crosswalks.value.entries = Array.from({ length: 100 }, (_, at) => ({
      ...entry,
      sourceVersion: `${at}`,
    }));
    const report = composeReadiness(facts, moment);
    expect(report.ok && readinessReport.safeParse(report.value).success).toBe(true);
  });

  it.each<[string, string, (facts: Facts) => unknown]>([
    ['no attempt that is scored [RP-063]', 'qti', ({ evidence }) => (evidence.value.status = 'submitted')],
    ['no settled record [RP-062]', 'results', ({ record }) => (record.value.settled = false)],
    ['two test kinds [RP-008]', 'results', ({ record }) => (record.value.testKind = 'formative')],
    ['a pass with gaps [RP-105]', 'results', ({ record }) => (record.value.gate!.gapCaseGuids = ['guid'])],
    [
      'a fail that leaves a row’s gap out [RP-105]',
      'results',
      ({ record }) => {
        record.value.gate = { ...record.value.gate!, status: 'fail', gapCaseGuids: ['guid'] };
        record.value.mastery[0]!.state = 'gap';
      },
    ],
    ['a pass below its threshold [RP-103]', 'results', ({ record }) => (record.value.gate!.achieved = 0.79)],
    [
      'fewer administered items than items with an outcome [RP-106]',
      'qti',
      ({ evidence }) => (evidence.value.administeredItemCount = 0),
    ],
    [
      'no coverage of any source test [RP-109]',
      'blueprint',
      (facts) => (entryOf(facts).coverageFraction = null),
    ],
    [
      'a slot twice [RP-109]',
      'blueprint',
      (facts) => entryOf(facts).qualifyingBlueprintSlotIds.push('slot-1'),
    ],
    [
      'a source test twice [RP-110]',
      'blueprint',
      (facts) => facts.crosswalks.value.entries.push({ ...entryOf(facts), crosswalkVersion: 'crosswalk-8' }),
    ],
    [
      '101 crosswalks [RP-110]',
      'blueprint',
      (facts) => {
        facts.crosswalks.value.entries = Array.from({ length: 101 }, (_, at) => ({
          ...entryOf(facts),
          sourceVersion: `${at}`,
        }));
      },
    ],
    [
      '51 limitations, its own included [RP-114]',
      'blueprint',
      (facts) => {
        entryOf(facts).limitations = Array.from({ length: 50 }, () => 'Speaking is not measured.');
        entryOf(facts).coverageFraction = 0.5;
      },
    ],
  ])('is a 503 that names the owner for %s', (_, dependency, spoil) => {
    expect(decided(spoil)).toMatchObject({ status: 503, code: 'dependency-incomplete', dependency });
  });

  it('leaves a test out of which the blueprint does not say how much it covers, and names it, however many others there are [RP-109, RP-110]', () => {
    fc.assert(
      fc.property(readinessFacts, fc.array(fc.constantFrom('supplied', 'null', 'absent')), (facts, fates) => {
        const { entries } = facts.crosswalks.value;
        const sound = composeReadiness(facts, moment);
        if (!sound.ok) throw new Error(sound.error.detail);
        for (const [at, entry] of entries.entries()) {
          if (fates[at] === 'null') entry.coverageFraction = null;
          if (fates[at] === 'absent') delete entry.coverageFraction;
        }
        const isLeftOut = (at: number): boolean => ['null', 'absent'].includes(fates[at] ?? 'supplied');
        const left = entries.filter((_, at) => isLeftOut(at));
        const report = composeReadiness(frozen(facts), moment);
        if (left.length === entries.length) {
          expect(report).toMatchObject({ ok: false, error: { status: 503, dependency: 'blueprint' } });
          return;
        }
        if (!report.ok) throw new Error(report.error.detail);
        expect(readinessReport.parse(report.value)).toEqual(report.value);
        const { omittedEntries, ...others } = report.value;
        expect(others).toEqual({
          ...sound.value,
          entries: sound.value.entries.filter((_, at) => !isLeftOut(at)),
        });
        const named = left.map(({ sourceTest, sourceVersion }) => ({
          sourceTest,
          sourceVersion,
          reason: 'coverage_missing',
        }));
        expect(omittedEntries).toEqual(named.length === 0 ? undefined : named);
      }),
    );
  });

  it('tells source tests apart by name and version [RP-110]', () => {
    expect(
      decided((facts) => {
        const entry = entryOf(facts);
        entry.sourceTest = 'State 5';
        facts.crosswalks.value.entries.push(
          { ...entry, sourceTest: 'State', sourceVersion: '5 2026' },
          { ...entry, sourceTest: 'State ', sourceVersion: '52026' },
        );
      }),
    ).toEqual(['projected_pass', 0]);
  });
});
