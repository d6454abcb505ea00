import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { readinessReport } from '#shared/contract/reports/readiness-report.ts';
import type { ReadinessEntry } from '#shared/contract/reports/readiness-report.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import { err } from '#shared/kernel/result.ts';
import { readinessCrosswalks } from '#shared/platform/owners/content.ts';
import type { ReadinessCrosswalks } from '#shared/platform/owners/content.ts';
import type { SettledMastery } from '#shared/platform/owners/results.ts';
import {
  anExampleOf,
  frozen,
  moment,
  observed,
  readinessFacts,
  tenantId,
} from '#test/support/report-facts.ts';
import { soundChild, soundGate, soundRow } from '#test/support/sound-attempt.ts';
import { decideGate } from './gate-decision.ts';
import { composeReadiness } from './readiness.ts';
import type { ReadinessFacts, Released } from '../facts/facts.ts';

// How a wrong or missing fact reaches it: test/lemmas/contradictions.contract.test.ts.

type Facts = ReadinessFacts & Released;

/** Readiness on facts that make one. */
function composed(facts: Facts): z.input<typeof readinessReport> {
  const report = composeReadiness(facts, moment);
  if (!report.ok) throw new Error(report.error.detail);
  return report.value;
}

describe('readiness', () => {
  it('has its shape, whatever the owners say, and their ids as they came [RP-005, RP-109, RP-111, RP-112, RP-113, RP-114, RP-115]', () => {
    fc.assert(
      fc.property(readinessFacts, (facts) => {
        const { evidence, record, criteria, candidate, framework, crosswalks } = frozen(facts);
        expect(readinessCrosswalks.parse(crosswalks.value)).toEqual(crosswalks.value);
        const report = composed(facts);
        expect(readinessReport.parse(report)).toEqual(report);
        expect(report).toMatchObject({
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
        const { evidence, record, criteria, candidate, framework, crosswalks } = facts;
        const gate = decideGate(record.value.gate, criteria.value.criteria);
        const status = record.value.testKind === 'mastery_gate' && gate.ok ? gate.value.status : 'none';
        const receipts = [evidence, record, criteria, framework].map(({ receipt }) => receipt);
        const isCurrent = [candidate, ...receipts].every((receipt) => receipt.status === 'current');
        const { mastery } = record.value;
        // Gaps of a passed gate are of what its criteria do not speak of.
        const isShown =
          mastery.some(({ state }) => state === 'mastered') && !mastery.some(({ state }) => state === 'gap');
        for (const [at, { decision, limitations }] of composed(facts).entries.entries()) {
          const entry = crosswalks.value.entries[at]!;
          const isSound =
            isCurrent &&
            crosswalks.receipt.status === 'current' &&
            entry.freshness === 'current' &&
            entry.coverageFraction === 1 &&
            entry.dokDominance === 'satisfied' &&
            entry.qualifyingBlueprintSlotIds.length > 0;
          const isProjected = isSound && status === 'pass' && isShown;
          const isFailed =
            status === 'fail' && [evidence, record].every(({ receipt }) => receipt.status === 'current');
          expect(decision).toBe(isProjected ? 'projected_pass' : isFailed ? 'not_ready' : 'indeterminate');
          expect(limitations.slice(0, entry.limitations.length)).toEqual(entry.limitations);
          const governed = criteria.value.criteria?.governedCaseGuids;
          const isBeyond = mastery.some(
            ({ state, caseGuid }) => state === 'gap' && governed?.includes(caseGuid) === false,
          );
          expect(limitations.length > entry.limitations.length).toBe(
            status === 'fail' ? !isSound || isBeyond : !isProjected,
          );
        }
      }),
    );
  });

  it('names every cause, and that the blueprint of a formative has no evidence for external claims [RP-015]', () => {
    const facts = anExampleOf(readinessFacts);
    facts.record.value.testKind = facts.criteria.value.testKind = 'formative';
    const limitationsWith = (qualifyingCoverage: boolean): number => {
      facts.criteria.value.qualifyingCoverage = qualifyingCoverage;
      return composed(facts).entries[0]!.limitations.length;
    };
    expect(limitationsWith(false)).toBe(limitationsWith(true) + 1);
  });

  it('admits 100 crosswalks and 50 limitations, its own included, and tells source tests apart by name and version [RP-110, RP-114]', () => {
    const facts = anExampleOf(
      readinessFacts.filter(({ record }) => record.value.testKind === 'a_kind_of_tomorrow'),
    );
    const { evidence, record, criteria, candidate, framework, crosswalks } = facts;
    const receipts = [evidence, record, criteria, framework, crosswalks].map(({ receipt }) => receipt);
    for (const receipt of [candidate, ...receipts]) receipt.status = 'current';
    const limitations = Array.from({ length: 49 }, (_, at) => `${at}`);
    const entry = {
      ...crosswalks.value.entries[0]!,
      coverageFraction: 1,
      dokDominance: 'satisfied',
      qualifyingBlueprintSlotIds: ['__proto__'],
      freshness: 'current' as const,
    };
    const names = ['State/5 2026', 'State /52026', 'State 5/2026'].map((name) => name.split('/'));
    while (names.length < 100) names.push(['State', `${names.length}`]);
    crosswalks.value.entries = names.map(([sourceTest = '', sourceVersion = '']) => ({
      ...entry,
      sourceTest,
      sourceVersion,
      limitations,
    }));
    const { entries } = readinessReport.parse(composed(facts));
    expect(entries.map((shown) => shown.limitations.length)).toEqual(Array(100).fill(50));
  });

  it('leaves a test out of which the blueprint does not say how much it covers, and names it, however many others there are [RP-109, RP-110]', () => {
    fc.assert(
      fc.property(readinessFacts, fc.array(fc.constantFrom('supplied', 'null', 'absent')), (facts, fates) => {
        const { entries } = facts.crosswalks.value;
        const sound = composed(facts);
        for (const [at, entry] of entries.entries()) {
          if (fates[at] === 'null') entry.coverageFraction = null;
          if (fates[at] === 'absent') delete entry.coverageFraction;
        }
        const isLeftOut = (at: number): boolean => ['null', 'absent'].includes(fates[at] ?? 'supplied');
        const left = entries.filter((_, at) => isLeftOut(at));
        if (left.length === entries.length) {
          expect(composeReadiness(facts, moment)).toMatchObject(
            err({ status: 503, dependency: 'blueprint' }),
          );
          return;
        }
        const { omittedEntries, ...others } = readinessReport.parse(composed(frozen(facts)));
        expect(others).toEqual({
          ...sound,
          entries: sound.entries.filter((_, at) => !isLeftOut(at)),
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
});

type Crosswalk = ReadinessCrosswalks['entries'][number];

const soundCrosswalk: Crosswalk = {
  sourceTest: 'State Mathematics',
  sourceVersion: '2026',
  crosswalkVersion: '2',
  coverageFraction: 1,
  dokDominance: 'satisfied',
  qualifyingBlueprintSlotIds: ['slot-1', 'slot-2'],
  freshness: 'current',
  limitations: ['Of grade 5 alone.'],
};

/** A passed gate whose blueprint covers one source test in every respect. */
function soundReadiness() {
  const crosswalks: ReadinessCrosswalks = {
    tenantId,
    testSpecId: 'spec-1',
    testSpecVersion: 'c12',
    crosswalkSetId: 'crosswalks-1',
    version: 'b4',
    freshness: 'current',
    entries: [structuredClone(soundCrosswalk)],
  };
  return { ...soundGate(), crosswalks: observed('blueprint', 'crosswalks-1', crosswalks) };
}
type Sound = ReturnType<typeof soundReadiness>;
type Change = (facts: Sound) => void;

const nothing: Change = () => undefined;
const both =
  (...changes: readonly Change[]): Change =>
  (facts) =>
    changes.forEach((change) => change(facts));
const crosswalk = (change: Partial<Crosswalk>): Change => {
  return ({ crosswalks }) => Object.assign(crosswalks.value.entries[0]!, change);
};
const crosswalksOf = (...entries: readonly Partial<Crosswalk>[]): Change => {
  return ({ crosswalks }) => {
    crosswalks.value.entries = entries.map((entry) => ({ ...soundCrosswalk, ...entry }));
  };
};
const decided = (change: object): Change => {
  return ({ record }) => Object.assign(record.value.gate!, change);
};
const rows = (...mastery: readonly SettledMastery[]): Change => {
  return ({ record }) => {
    record.value.mastery = [...mastery];
  };
};
const gapRow: SettledMastery = { ...soundRow, state: 'gap', estimate: 0.2 };
const failed = both(
  decided({ status: 'fail', achieved: 41, gapCaseGuids: ['fractions'] }),
  rows(gapRow, soundChild),
);
const ungoverned: Change = ({ criteria }) => {
  criteria.value.criteria!.governedCaseGuids = ['adding'];
};
const ofKind = (kind: string, qualifyingCoverage = true): Change => {
  return ({ record, criteria }) => {
    record.value.testKind = criteria.value.testKind = kind;
    criteria.value.qualifyingCoverage = qualifyingCoverage;
  };
};
type Source = 'evidence' | 'record' | 'criteria' | 'framework' | 'crosswalks';
const stale = (source: Source | 'candidate'): Change => {
  return (facts) => {
    (source === 'candidate' ? facts.candidate : facts[source].receipt).status = 'stale';
  };
};
const unscored: Change = ({ record }) => {
  record.value.score = null;
};
const withoutCriteria: Change = ({ record, criteria }) => {
  record.value.gate = criteria.value.criteria = null;
};

type Row = readonly [
  title: string,
  change: Change,
  decision: ReadinessEntry['decision'],
  ...causes: readonly RegExp[],
];

/** Facts, the decision on them, and a word of each cause that is named, in their order. */
const decisions: readonly Row[] = [
  ['all of the rule holds [RP-116]', nothing, 'projected_pass'],
  ['a failed gate is not ready [RP-117]', failed, 'not_ready'],
  // What the rule asks of the gate.
  [
    'a gate without coverage evidence [RP-118]',
    decided({ coverageEvidenceId: null }),
    'indeterminate',
    /gate.*indeterminate/,
  ],
  [
    'a failed gate without coverage evidence [RP-118]',
    both(failed, decided({ coverageEvidenceId: null })),
    'indeterminate',
    /gate.*indeterminate/,
  ],
  [
    'a gate in a status that is not known [RP-116]',
    decided({ status: 'appealed' }),
    'indeterminate',
    /gate.*not known/,
  ],
  ['a gate without criteria at any owner [RP-118]', withoutCriteria, 'indeterminate', /criteria/],
  // What it asks of the blueprint.
  [
    'coverage of all but a millionth [RP-116]',
    crosswalk({ coverageFraction: 0.999999 }),
    'indeterminate',
    /cover/,
  ],
  ['coverage of nothing [RP-116]', crosswalk({ coverageFraction: 0 }), 'indeterminate', /cover/],
  [
    'less depth of knowledge [RP-116]',
    crosswalk({ dokDominance: 'not_satisfied' }),
    'indeterminate',
    /less depth/,
  ],
  [
    'depth of knowledge that is not determined [RP-116]',
    crosswalk({ dokDominance: 'indeterminate' }),
    'indeterminate',
    /depth.*not determined/,
  ],
  [
    'no evidence of depth of knowledge [RP-118]',
    crosswalk({ dokDominance: undefined }),
    'indeterminate',
    /depth.*not determined/,
  ],
  [
    'a depth of knowledge that the contract does not name [RP-112]',
    crosswalk({ dokDominance: 'bloom_taxed' }),
    'indeterminate',
    /depth.*not determined/,
  ],
  ['no qualifying slot [RP-116]', crosswalk({ qualifyingBlueprintSlotIds: [] }), 'indeterminate', /slot/],
  [
    'a crosswalk that is stale [RP-118]',
    crosswalk({ freshness: 'stale' }),
    'indeterminate',
    /crosswalk.*not current/,
  ],
  [
    'a crosswalk of unknown freshness [RP-118]',
    crosswalk({ freshness: 'unknown' }),
    'indeterminate',
    /crosswalk.*not current/,
  ],
  [
    'crosswalks that are stale as a whole [RP-118]',
    stale('crosswalks'),
    'indeterminate',
    /crosswalk.*not current/,
  ],
  [
    'everything missing at the blueprint is named, each by itself [RP-114, RP-118]',
    crosswalk({
      freshness: 'stale',
      coverageFraction: 0.5,
      dokDominance: 'not_satisfied',
      qualifyingBlueprintSlotIds: [],
    }),
    'indeterminate',
    /crosswalk/,
    /cover/,
    /depth/,
    /slot/,
  ],
  [
    'a failed gate is not ready whatever the blueprint says, which is named [RP-117]',
    both(failed, crosswalk({ coverageFraction: 0.5, qualifyingBlueprintSlotIds: [] })),
    'not_ready',
    /cover/,
    /slot/,
  ],
  // Other kinds.
  ['a formative has no gate [RP-119]', ofKind('formative'), 'indeterminate', /no gate/],
  [
    'a formative whose blueprint has no qualifying coverage [RP-015]',
    ofKind('formative', false),
    'indeterminate',
    /no gate/,
    /external claim/,
  ],
  ['a gate makes its claim without that [RP-116]', ofKind('mastery_gate', false), 'projected_pass'],
  ['a kind that is not known has no gate [RP-119]', ofKind('quiz', false), 'indeterminate', /no gate/],
  // What the report itself goes without.
  ...(['evidence', 'record', 'criteria', 'candidate', 'framework'] as const).map((source): Row => [
    `a pass beside a stale ${source} [RP-118]`,
    stale(source),
    'indeterminate',
    /not current/,
  ]),
  ...(['evidence', 'record'] as const).map((source): Row => [
    `a failed gate may have been passed since where the ${source} is stale [RP-118]`,
    both(failed, stale(source)),
    'indeterminate',
    /not current/,
  ]),
  ...(['criteria', 'candidate', 'framework'] as const).map((source): Row => [
    `a failed gate stays failed where the ${source} is stale [RP-117]`,
    both(failed, stale(source)),
    'not_ready',
    /not current/,
  ]),
  ['a pass without a settled score [RP-118]', unscored, 'indeterminate', /score/],
  ['a failed gate without a settled score [RP-117]', both(failed, unscored), 'not_ready', /score/],
  ['a row without evidence [RP-118]', rows({ ...soundRow, evidence: [] }), 'indeterminate', /evidence/],
  [
    'a formative without a settled score [RP-118]',
    both(ofKind('formative'), unscored),
    'indeterminate',
    /score/,
    /no gate/,
  ],
  [
    'criteria of another kind that are stale are named as stale alone [RP-118]',
    both(stale('criteria'), ({ criteria }) => {
      criteria.value.testKind = 'formative';
      criteria.value.qualifyingCoverage = false;
    }),
    'indeterminate',
    /not current/,
  ],
  // What the rows say against a pass.
  ['a pass without rows [RP-118]', rows(), 'indeterminate', /mastered/],
  [
    'a pass that shows nothing mastered [RP-118]',
    rows({ ...soundRow, state: 'not_yet' }),
    'indeterminate',
    /mastered/,
  ],
  [
    'a pass that shows something mastered beside the rest [RP-116]',
    rows({ ...soundRow, state: 'not_yet' }, soundChild),
    'projected_pass',
  ],
  [
    'a pass beside a gap that its criteria do not govern [RP-116]',
    both(ungoverned, rows(gapRow, soundChild)),
    'indeterminate',
    /gap/,
  ],
  [
    'a pass beside such a gap alone [RP-118]',
    both(ungoverned, rows(gapRow)),
    'indeterminate',
    /mastered/,
    /gap/,
  ],
  [
    'a pass whose ungoverned rows are no gaps [RP-116]',
    both(ungoverned, rows(soundRow, soundChild)),
    'projected_pass',
  ],
  [
    'a gate that is passed by rounding alone projects nothing [RP-118]',
    decided({ achieved: 59.6 }),
    'indeterminate',
    /reaches its threshold by rounding alone/,
  ],
  [
    'a gate that is passed exactly at its threshold projects a pass [RP-116]',
    decided({ achieved: 60 }),
    'projected_pass',
  ],
  [
    'a failed gate stays failed beside a gap of which its criteria do not speak [RP-117]',
    both(failed, ungoverned, rows(gapRow)),
    'not_ready',
    /gap of which the criteria of the gate do not speak/,
  ],
  [
    'an undecided gate is undecided for one cause [RP-118]',
    both(decided({ achieved: null }), rows()),
    'indeterminate',
    /gate.*indeterminate/,
  ],
];

type Failure = readonly [
  title: string,
  change: Change,
  status: 404 | 503,
  dependency: SourceService | undefined,
  detail: RegExp,
];

const failures: readonly Failure[] = [
  [
    'QTI has not scored the attempt [RP-063]',
    ({ evidence }) => {
      evidence.value.status = 'submitted';
    },
    503,
    'qti',
    /not scored/,
  ],
  [
    'Results has not settled the record, current or not [RP-062]',
    both(stale('record'), ({ record }) => {
      record.value.settled = false;
    }),
    503,
    'results',
    /not settled/,
  ],
  [
    'the owners contradict each other [RP-105]',
    rows(gapRow, soundChild),
    503,
    'results',
    /gate-lists-its-gap-rows/,
  ],
  ['there is no crosswalk [RP-119]', crosswalksOf(), 404, undefined, /./],
  [
    'there is no crosswalk in a list that is stale [RP-119]',
    both(crosswalksOf(), stale('crosswalks')),
    503,
    'blueprint',
    /not current/,
  ],
  [
    'there are more crosswalks than 100 [RP-110]',
    crosswalksOf(...Array.from({ length: 101 }, (_, at) => ({ sourceVersion: `${at}` }))),
    503,
    'blueprint',
    /more crosswalks/,
  ],
  [
    'a source test is named twice [RP-110]',
    crosswalksOf({}, { crosswalkVersion: '3' }),
    503,
    'blueprint',
    /two crosswalks/,
  ],
  [
    'no source test has coverage evidence [RP-109]',
    crosswalksOf({ coverageFraction: null }, { sourceVersion: '2027', coverageFraction: undefined }),
    503,
    'blueprint',
    /coverage/,
  ],
  [
    'a slot qualifies twice [RP-109]',
    crosswalk({ qualifyingBlueprintSlotIds: ['slot-1', 'slot-2', 'slot-1'] }),
    503,
    'blueprint',
    /slot.*twice/,
  ],
];

describe('the rule gate-implies-readiness, version 2', () => {
  it.each(decisions.map(([title, ...row]) => ({ title, row })))('$title', ({ row }) => {
    const [change, decision, ...causes] = row;
    const facts = soundReadiness();
    change(facts);
    const report = composed(facts);
    expect(readinessReport.parse(report)).toEqual(report);
    const [held] = facts.crosswalks.value.entries;
    const dominance = held!.dokDominance;
    const shown = { ...held };
    delete shown.freshness;
    expect(report).toEqual({
      object: 'readiness_report',
      attemptId: 'attempt-1',
      entries: [
        {
          ...shown,
          dokDominance:
            dominance === 'satisfied' || dominance === 'not_satisfied' ? dominance : 'indeterminate',
          decision,
          decisionRuleId: 'gate-implies-readiness',
          decisionRuleVersion: '2',
          limitations: [
            'Of grade 5 alone.',
            ...causes.map((cause) => expect.stringMatching(cause) as unknown),
          ],
        },
      ],
      sources: [
        facts.evidence.receipt,
        facts.record.receipt,
        facts.criteria.receipt,
        facts.candidate,
        facts.framework.receipt,
        facts.crosswalks.receipt,
      ],
      ...moment,
    });
  });

  it.each(failures)('is not applied when %s', (_, change, status, dependency, detail) => {
    const facts = soundReadiness();
    change(facts);
    expect(composeReadiness(facts, moment)).toEqual({
      ok: false,
      error: expect.objectContaining({
        status,
        code: status === 404 ? 'not-found' : 'dependency-incomplete',
        detail: expect.stringMatching(detail) as unknown,
        ...(dependency === undefined ? {} : { dependency }),
      }) as unknown,
    });
  });

  it('names 50 limitations and joins those beyond it to the last one, as long as one may be [RP-114]', () => {
    const own = (count: number, last = 'last'): readonly string[] => [
      ...Array.from({ length: count - 1 }, (_, at) => `${at}`),
      last,
    ];
    const limited = (limitations: readonly string[]) => {
      const facts = soundReadiness();
      both(crosswalk({ limitations: [...limitations], coverageFraction: 0.5, freshness: 'stale' }))(facts);
      return facts;
    };
    const shown = (limitations: readonly string[]) => composed(limited(limitations)).entries[0]!.limitations;
    const causes = shown(own(1)).slice(1);
    expect(causes).toHaveLength(2);
    expect(shown(own(48))).toEqual([...own(48), ...causes]);
    expect(shown(own(49))).toEqual([...own(49), causes.join(' ')]);
    expect(shown(own(50))).toEqual([...own(49, '48'), [...causes, 'last'].join(' ')]);
    const room = 500 - causes.join(' ').length - 1;
    expect(shown(own(50, 'x'.repeat(room))).at(-1)).toBe(`${causes.join(' ')} ${'x'.repeat(room)}`);
    const cut = `${causes.join(' ')} ${'x'.repeat(room - 2)}`;
    // Never within a code point.
    expect(shown(own(50, `${'x'.repeat(room - 2)}😀`)).at(-1)).toBe(`${cut}😀`);
    expect(shown(own(50, `${'x'.repeat(room - 2)}😀x`)).at(-1)).toBe(`${cut}…`);
    // What the blueprint states is not cut for itself alone.
    expect(shown(own(51, 'x'.repeat(497))).at(-1)).toHaveLength(500);
    expect(composeReadiness(limited(own(51, 'x'.repeat(498))), moment)).toMatchObject({
      error: {
        status: 503,
        dependency: 'blueprint',
        detail: expect.stringMatching(/more limitations/) as unknown,
      },
    });
  });

  it('leaves out and names the source tests of which no coverage is supplied [RP-109]', () => {
    const facts = soundReadiness();
    crosswalksOf(
      { sourceVersion: '1', coverageFraction: null },
      { sourceVersion: '2', coverageFraction: 0 },
      { sourceVersion: '3', coverageFraction: undefined },
    )(facts);
    const omitted = { sourceTest: 'State Mathematics', reason: 'coverage_missing' };
    expect(composed(facts)).toMatchObject({
      entries: [{ sourceVersion: '2', coverageFraction: 0, decision: 'indeterminate' }],
      omittedEntries: [
        { ...omitted, sourceVersion: '1' },
        { ...omitted, sourceVersion: '3' },
      ],
    });
  });
});
