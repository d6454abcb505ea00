import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { readinessReport } from '#shared/contract/reports/readiness-report.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import { err } from '#shared/kernel/result.ts';
import type { ReadinessCrosswalks } from '#shared/platform/owners/content.ts';
import type { SettledMastery } from '#shared/platform/owners/results.ts';
import { moment, observed, tenantId } from '#test/support/report-facts.ts';
import {
  both,
  decided,
  nothing,
  ofKind,
  rows,
  rowsOf,
  says,
  soundChild,
  soundGate,
  soundRow,
} from '#test/support/sound-attempt.ts';
import type { Change as SoundChange } from '#test/support/sound-attempt.ts';
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

type Crosswalk = ReadinessCrosswalks['entries'][number];

const soundCrosswalk: Crosswalk = {
  sourceTest: 'State Mathematics',
  sourceVersion: '2026',
  crosswalkVersion: '2',
  coverageFraction: 1,
  dokDominance: 'satisfied',
  qualifyingBlueprintSlotIds: ['__proto__', 'slot-2'],
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
type Change = SoundChange<Sound>;

const crosswalk = (change: Partial<Crosswalk>): Change => {
  return ({ crosswalks }) => Object.assign(crosswalks.value.entries[0]!, change);
};
const crosswalksOf = (...entries: readonly Partial<Crosswalk>[]): Change => {
  return ({ crosswalks }) => {
    crosswalks.value.entries = entries.map((entry) => ({ ...soundCrosswalk, ...entry }));
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
const unscored = says('record', { score: null });
const unqualified = says('criteria', { qualifyingCoverage: false });
const withoutCriteria = both(says('record', { gate: null }), says('criteria', { criteria: null }));
const stale = (
  source: 'evidence' | 'record' | 'criteria' | 'framework' | 'crosswalks' | 'candidate',
): Change => {
  return (facts) => {
    (source === 'candidate' ? facts.candidate : facts[source].receipt).status = 'stale';
  };
};
type Row = readonly [change: Change, ...causes: RegExp[]];
type Source = Parameters<typeof stale>[0];

/** One row per source that is stale. */
const staleRows = (change: Change, title: string, ...sources: readonly Source[]) =>
  Object.fromEntries(sources.map((source) => [`${title}: ${source}`, staleRow(change, source)]));
const staleRow = (change: Change, source: Source): Row => [both(change, stale(source)), /not current/];

/** By decision: facts on which it is made, and a word of each cause that is named, in their order. */
const decisions: Readonly<Record<'projected_pass' | 'not_ready' | 'indeterminate', Record<string, Row>>> = {
  projected_pass: {
    'all of the rule holds; ids are as they came [RP-005, RP-109, RP-111, RP-112, RP-113, RP-115, RP-116]': [
      nothing,
    ],
    'a gate makes its claim without qualifying coverage [RP-116]': [unqualified],
    'something is mastered beside the rest [RP-116]': [rows({ ...soundRow, state: 'not_yet' }, soundChild)],
    'ungoverned rows that are no gaps [RP-116]': [both(ungoverned, rows(soundRow, soundChild))],
    'a gate that is passed exactly at its threshold [RP-116]': [decided({ achieved: 60 })],
  },
  not_ready: {
    'a failed gate [RP-117]': [failed],
    'a failed gate whatever the blueprint says, which is named [RP-117]': [
      both(failed, crosswalk({ coverageFraction: 0.5, qualifyingBlueprintSlotIds: [] })),
      /cover/,
      /slot/,
    ],
    ...staleRows(failed, 'a failed gate beside what is stale [RP-117]', 'criteria', 'candidate', 'framework'),
    'a failed gate without a settled score [RP-117]': [both(failed, unscored), /score/],
    'a failed gate beside a gap of which its criteria do not speak [RP-117]': [
      both(failed, ungoverned, rows(gapRow)),
      /gap of which the criteria of the gate do not speak/,
    ],
  },
  indeterminate: {
    // What the rule asks of the gate.
    'no coverage evidence [RP-118]': [decided({ coverageEvidenceId: null }), /gate.*indeterminate/],
    'a failed gate without coverage evidence [RP-118]': [
      both(failed, decided({ coverageEvidenceId: null })),
      /gate.*indeterminate/,
    ],
    'a gate in a status that is not known [RP-116]': [decided({ status: 'appealed' }), /gate.*not known/],
    'a gate without criteria at any owner [RP-118]': [withoutCriteria, /criteria/],
    'a gate that is passed by rounding alone [RP-118]': [
      decided({ achieved: 59.6 }),
      /reaches its threshold by rounding alone/,
    ],
    'an undecided gate, for one cause [RP-118]': [
      both(decided({ achieved: null }), rows()),
      /gate.*indeterminate/,
    ],
    // What it asks of the blueprint.
    'coverage of all but a millionth [RP-116]': [crosswalk({ coverageFraction: 0.999999 }), /cover/],
    'coverage of nothing [RP-116]': [crosswalk({ coverageFraction: 0 }), /cover/],
    'less depth of knowledge [RP-116]': [crosswalk({ dokDominance: 'not_satisfied' }), /less depth/],
    ...Object.fromEntries(
      ['indeterminate', undefined, 'bloom_taxed'].map((dokDominance): [string, Row] => [
        `depth of knowledge that is not determined: ${dokDominance} [RP-112, RP-116, RP-118]`,
        [crosswalk({ dokDominance }), /depth.*not determined/],
      ]),
    ),
    'no qualifying slot [RP-116]': [crosswalk({ qualifyingBlueprintSlotIds: [] }), /slot/],
    'a stale crosswalk [RP-118]': [crosswalk({ freshness: 'stale' }), /crosswalk.*not current/],
    'one of unknown freshness [RP-118]': [crosswalk({ freshness: 'unknown' }), /crosswalk.*not current/],
    'crosswalks that are stale as a whole [RP-118]': [stale('crosswalks'), /crosswalk.*not current/],
    'everything missing at the blueprint is named, each by itself [RP-114, RP-118]': [
      crosswalk({
        freshness: 'stale',
        coverageFraction: 0.5,
        dokDominance: 'not_satisfied',
        qualifyingBlueprintSlotIds: [],
      }),
      ...[/crosswalk/, /cover/, /depth/, /slot/],
    ],
    // Other kinds.
    'a formative has no gate [RP-119]': [ofKind('formative'), /no gate/],
    'without qualifying coverage [RP-015]': [
      both(ofKind('formative'), unqualified),
      /no gate/,
      /external claim/,
    ],
    'a kind that is not known [RP-119]': [both(ofKind('quiz'), unqualified), /no gate/],
    'a formative without a settled score [RP-118]': [both(ofKind('formative'), unscored), /score/, /no gate/],
    // What the report itself goes without.
    ...staleRows(nothing, 'a pass [RP-118]', 'evidence', 'record', 'criteria', 'candidate', 'framework'),
    ...staleRows(failed, 'a failed gate that may have been passed since [RP-118]', 'evidence', 'record'),
    'a pass without a settled score [RP-118]': [unscored, /score/],
    'a row without evidence [RP-118]': [rows({ ...soundRow, evidence: [] }), /evidence/],
    'criteria of another kind that are stale are named as stale alone [RP-118]': [
      both(stale('criteria'), says('criteria', { testKind: 'formative', qualifyingCoverage: false })),
      /not current/,
    ],
    // What the rows say against a pass.
    'a pass without rows [RP-118]': [rows(), /mastered/],
    'a pass that shows nothing mastered [RP-118]': [rows({ ...soundRow, state: 'not_yet' }), /mastered/],
    'a pass beside an ungoverned gap [RP-116]': [both(ungoverned, rows(gapRow, soundChild)), /gap/],
    'a pass beside such a gap alone [RP-118]': [both(ungoverned, rows(gapRow)), /mastered/, /gap/],
  },
};
type Failure = readonly [title: string, change: Change, dependency: SourceService, detail: RegExp];

const failures: readonly Failure[] = [
  ['QTI has not scored the attempt [RP-063]', says('evidence', { status: 'submitted' }), 'qti', /not scored/],
  [
    'Results has not settled the record, current or not [RP-062]',
    both(stale('record'), says('record', { settled: false })),
    'results',
    /not settled/,
  ],
  [
    'the owners contradict each other [RP-105]',
    rows(gapRow, soundChild),
    'results',
    /gate-lists-its-gap-rows/,
  ],
  [
    'there is no crosswalk in a list that is stale [RP-119]',
    both(crosswalksOf(), stale('crosswalks')),
    'blueprint',
    /not current/,
  ],
  [
    'there are more crosswalks than 100 [RP-110]',
    crosswalksOf(...Array.from({ length: 101 }, (_, at) => ({ sourceVersion: `${at}` }))),
    'blueprint',
    /more crosswalks/,
  ],
  [
    'a source test is named twice [RP-110]',
    crosswalksOf({}, { crosswalkVersion: '3' }),
    'blueprint',
    /two crosswalks/,
  ],
  [
    'no source test has coverage evidence [RP-109]',
    crosswalksOf({ coverageFraction: null }, { sourceVersion: '2027', coverageFraction: undefined }),
    'blueprint',
    /coverage/,
  ],
  [
    'a slot qualifies twice [RP-109]',
    crosswalk({ qualifyingBlueprintSlotIds: ['slot-1', 'slot-2', 'slot-1'] }),
    'blueprint',
    /slot.*twice/,
  ],
];

describe('readiness, by the rule gate-implies-readiness, version 2', () => {
  it.each(rowsOf(decisions))('%s: %s', (decision, _, [change, ...causes]) => {
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

  it.each(failures)('is not applied when %s', (_, change, dependency, detail) => {
    const facts = soundReadiness();
    change(facts);
    expect(composeReadiness(facts, moment)).toMatchObject(
      err({
        ...{ status: 503, code: 'dependency-incomplete', dependency },
        detail: expect.stringMatching(detail) as unknown,
      }),
    );
  });

  it('is not applied when there is no crosswalk [RP-119]', () => {
    const facts = soundReadiness();
    crosswalksOf()(facts);
    const { error } = composeReadiness(facts, moment) as { readonly error?: object };
    expect(error).toMatchObject({ status: 404, code: 'not-found' });
    expect(error).not.toHaveProperty('dependency');
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
    expect(composeReadiness(limited(own(51, 'x'.repeat(498))), moment)).toMatchObject(
      err({
        status: 503,
        dependency: 'blueprint',
        detail: expect.stringMatching(/more limitations/) as unknown,
      }),
    );
  });

  it('admits 100 crosswalks, tells source tests apart by name and version, and names each without coverage instead [RP-109, RP-110]', () => {
    const names = [
      { sourceTest: 'State', sourceVersion: '5 2026' },
      { sourceTest: 'State ', sourceVersion: '52026' },
      { sourceTest: 'State 5', sourceVersion: '2026' },
    ];
    const others = Array.from({ length: 95 }, (_, at) => ({ sourceVersion: `${at}` }));
    const lacking = [
      { sourceTest: 'A', sourceVersion: '1', coverageFraction: null },
      { sourceTest: 'B', sourceVersion: '2', coverageFraction: undefined },
    ];
    const facts = soundReadiness();
    crosswalksOf(...names, ...lacking, ...others)(facts);
    const { entries, omittedEntries } = readinessReport.parse(composed(facts));
    expect(entries).toHaveLength(98);
    expect(omittedEntries).toEqual(
      lacking.map(({ sourceTest, sourceVersion }) => ({
        sourceTest,
        sourceVersion,
        reason: 'coverage_missing',
      })),
    );
  });
});
