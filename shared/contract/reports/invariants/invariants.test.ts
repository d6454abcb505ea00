import { describe, expect, it } from 'vitest';
import * as examples from '../examples.ts';
import { sourceService } from '../problem.ts';
import type { GateDecision, ItemEvidence, MasteryRow } from '../attempt-report.ts';
import { reportInvariants, summaryInvariants } from './attempt-report.ts';
import type { CheckedReport, CheckedSummary } from './attempt-report.ts';
import { cohortInvariants, type CheckedCohort } from './cohort-report.ts';
import { equivalenceInvariants, type CheckedEquivalence } from './equivalence-report.ts';
import { listInvariants, type CheckedLists } from './improvement-run.ts';
import { firstBroken, type Invariants } from './invariant.ts';
import { comparisonInvariants, metricInvariants } from './metric.ts';
import type { CheckedComparison, CheckedMetric } from './metric.ts';
import { invariantTables } from './tables.ts';

/** For each invariant, changes of a sound answer that break it alone, and truthful ones near to them. */
type Cases<T> = Readonly<
  Record<string, { readonly breaks: readonly Partial<T>[]; readonly allows: readonly Partial<T>[] }>
>;

function hold<T extends object>(title: string, table: Invariants<T>, sound: T, cases: Cases<T>): void {
  describe(title, () => {
    it('lets a sound answer through, and has cases of each invariant', () => {
      expect(firstBroken(table, sound)).toBeUndefined();
      expect(Object.keys(cases)).toEqual(Object.keys(table));
      for (const [id, { breaks, allows }] of Object.entries(cases))
        expect([id, breaks.length > 0, allows.length > 0]).toEqual([id, true, true]);
    });

    it.each(
      Object.entries(cases).flatMap(([id, { breaks }]) => breaks.map((change) => [id, change] as const)),
    )('is broken by %s alone: %j', (id, change) => {
      const value = { ...sound, ...change };
      const broken = Object.entries(table).filter(([, { holds }]) => !holds(value));
      expect(broken.map(([name]) => name)).toEqual([id]);
      const { owner, broken: sentence } = table[id]!;
      // Only a fact that breaks its own bounds is no contradiction of two.
      const reason = id === 'score-within-bounds' ? { reason: 'unusable' } : {};
      expect(firstBroken(table, value)).toStrictEqual({ id, owner, broken: sentence, ...reason });
    });

    it.each(
      Object.entries(cases).flatMap(([id, { allows }]) => allows.map((change) => [id, change] as const)),
    )('is not broken, nearly at %s: %j', (_, change) => {
      expect(firstBroken(table, { ...sound, ...change })).toBeUndefined();
    });
  });
}

/** Makes a change of each, over what they have in common. */
const each =
  <Name extends string, Common extends object>(name: Name, common: Common) =>
  <Own extends object>(...changes: readonly Own[]) =>
    // SAFETY: a computed name keeps its literal type here alone.
    changes.map((own) => ({ [name]: { ...common, ...own } }) as Record<Name, Common & Own>);

const score = { value: 61, minimum: 0, maximum: 100, unit: 'percent', scaleVersion: null } as const;
const onScale = { ...score, ...{ value: 512.4, minimum: null, maximum: null } } as const;
const scaled = (change: object) =>
  ({ ...onScale, unit: 'mastery_scale', scaleVersion: '3', ...change }) as CheckedSummary['score'];
const diagnostic = {
  scaleScore: 512.4,
  scaleVersion: '3',
  calibrationVersion: '1',
  standardError: 4,
  stoppingReason: 'max_items',
  administeredItemCount: 20,
  extNormsSet: null,
} as const;
const pass: GateDecision = {
  status: 'pass',
  criteriaVersion: '4',
  achieved: 61,
  required: 60,
  gapCaseGuids: [],
  coverageEvidenceId: 'coverage',
};
const fail: GateDecision = { ...pass, status: 'fail', achieved: 41, gapCaseGuids: ['a'] };
const [scored, passed, failed] = [each('score', score), each('gate', pass), each('gate', fail)];
const open = ['indeterminate', 'unknown'] as const;

hold<CheckedSummary>(
  'a summary',
  summaryInvariants,
  { score, gate: pass, diagnostic: null, gapRows: [], isGoverned: () => true },
  {
    'score-within-bounds': {
      breaks: scored({ value: 100.5 }, { value: -1 }, { value: 5, minimum: 10 }),
      allows: scored({ value: 100 }, { value: 112, maximum: null }),
    },
    'one-mastery-scale': {
      breaks: [{ score: scaled({ scaleVersion: '4' }), diagnostic }],
      allows: [{ score: scaled({}), diagnostic }, { diagnostic }, { score: scaled({}) }],
    },
    'one-score-per-scale': {
      breaks: [{ score: scaled({ value: 512.5 }), diagnostic }],
      allows: [512, 512.43].map((value) => ({ score: scaled({ value }), diagnostic })),
    },
    'pass-not-below-required': {
      breaks: passed({ achieved: 59 }, { achieved: 59.4 }),
      allows: [...passed({ achieved: 60 }, { achieved: 59.6 }, { achieved: null }), { gate: null }],
    },
    'pass-lists-no-gap': {
      breaks: passed({ gapCaseGuids: ['a'] }),
      allows: passed({ status: open[0], gapCaseGuids: ['a'] }),
    },
    'fail-has-a-cause': {
      breaks: failed({ achieved: 61, gapCaseGuids: [] }, { achieved: 60, gapCaseGuids: [] }),
      allows: failed<Partial<GateDecision>>(
        { achieved: 61 },
        { gapCaseGuids: [] },
        { achieved: null, required: -5, gapCaseGuids: [] },
      ),
    },
    'gap-listed-once': {
      breaks: failed({ gapCaseGuids: ['a', 'a'] }),
      allows: failed({ gapCaseGuids: ['a', 'A'] }),
    },
    'gate-lists-its-gap-rows': {
      breaks: [
        { gapRows: ['a'] },
        { gate: { ...fail, gapCaseGuids: [] }, gapRows: ['a'] },
        { gate: fail, gapRows: ['a', 'b'] },
      ],
      allows: [
        ...[fail, null, ...open.map((status) => ({ ...pass, status }))].map((gate) => ({
          gate,
          gapRows: ['a'],
        })),
        { gapRows: ['a'], isGoverned: (caseGuid) => caseGuid !== 'a' },
      ],
    },
  },
);

const at = '2026-03-02T10:15:30Z';
const piece: ItemEvidence = {
  qtiItemId: 'i',
  qtiOutcomeId: 'o',
  resultComponentId: null,
  contribution: 0.5,
  observedAt: at,
};
const rowOf = (change: Partial<MasteryRow> = {}, evidence = [piece]): CheckedReport['mastery'][number] => ({
  row: {
    kind: 'standard',
    caseGuid: 'a',
    parentCaseGuid: null,
    state: 'mastered',
    estimate: 0.8,
    threshold: 0.7,
    confidence: null,
    uncertainty: 0.1,
    uncertaintyKind: 'interval_half_width',
    policyId: 'p',
    policyVersion: '1',
    ...change,
  },
  evidence,
});

/** A report of rows with these members, under another gate. */
const rowed = (...changes: readonly Partial<MasteryRow>[]) => ({ mastery: changes.map((row) => rowOf(row)) });
const under = (gate: GateDecision, ...changes: readonly Partial<MasteryRow>[]) => ({
  gate,
  ...rowed(...changes),
});
const component = 'knowledge_component';
/** A report of one row with this evidence beside the piece. */
const beside = (...pieces: readonly Partial<ItemEvidence>[]) => ({
  mastery: [rowOf({}, [piece, ...pieces.map((change) => ({ ...piece, ...change }))])],
});

hold<CheckedReport>(
  'a whole report',
  reportInvariants,
  { gate: pass, mastery: [rowOf()], administeredItemCount: 3, scoredItemCount: 2 },
  {
    'items-administered': {
      breaks: [{ scoredItemCount: 4 }],
      allows: [{ scoredItemCount: 3 }, { scoredItemCount: 0 }],
    },
    'one-row-per-standard': {
      breaks: [rowed({}, { estimate: 0.9 })],
      allows: [rowed({}, { kind: component }), rowed()],
    },
    'no-standard-above-itself': {
      breaks: [
        rowed({ parentCaseGuid: 'a' }),
        rowed(
          { parentCaseGuid: 'b' },
          { caseGuid: 'b', parentCaseGuid: 'c' },
          { caseGuid: 'c', parentCaseGuid: 'b' },
        ),
        // By the parent of the standard, though not by that of the component with its GUID.
        rowed(
          { parentCaseGuid: 'b' },
          { kind: component, caseGuid: 'a', parentCaseGuid: 'c' },
          { caseGuid: 'b', parentCaseGuid: 'a' },
          { caseGuid: 'c', parentCaseGuid: null },
        ),
      ],
      allows: [
        rowed({}, ...['b', 'c'].map((caseGuid) => ({ caseGuid, parentCaseGuid: 'a' }))),
        rowed({ parentCaseGuid: 'b' }, { caseGuid: 'b', parentCaseGuid: 'of no row' }),
      ],
    },
    'one-evidence-per-outcome': {
      breaks: [beside({ contribution: -0.5 }), beside(...Array<object>(499).fill({}))],
      allows: [
        rowed({}, { caseGuid: 'b' }),
        beside({ qtiOutcomeId: 'p' }, { qtiItemId: 'j' }),
        beside({ resultComponentId: 'c' }),
        // The ids of both make one text when nothing stands between them.
        beside({ qtiItemId: 'io', qtiOutcomeId: '' }),
      ],
    },
    'listed-gap-not-mastered': {
      breaks: [under(fail, {}), under({ ...fail, status: open[0] }, {})],
      allows: [
        under(fail, { state: 'not_yet' }),
        under(fail),
        under(fail, {}, { kind: component, state: 'gap', estimate: 0.2 }),
      ],
    },
    'state-fits-estimate': {
      breaks: [
        rowed({ estimate: 0.01, threshold: 0.9 }),
        rowed({ estimate: 0.59 }),
        rowed({ estimate: 0.29, uncertaintyKind: 'standard_error' }),
        under(fail, { state: 'gap', estimate: 0.81, uncertaintyKind: 'policy_margin' }),
      ],
      allows: [
        // 0.7 - 0.1 and 0.8 - 0.1 are no 0.6 and 0.7 in binary arithmetic.
        rowed({ estimate: 0.6 }),
        rowed({ estimate: 0.7, threshold: 0.8 }),
        rowed({ estimate: 0.3, uncertaintyKind: 'standard_error' }),
        rowed({ estimate: 0.01, uncertaintyKind: 'unknown' }),
        rowed({ state: 'not_yet', estimate: 0.01 }),
        under(fail, { state: 'gap', estimate: 0.8 }),
      ],
    },
  },
);

const share = { name: 'share_proficient', value: 0.5, unit: 'proportion' };
const count = { name: 'tardies', value: 3, unit: 'count' };

const measured = (...measures: NonNullable<CheckedCohort['measures']>) => ({ measures });
const valued = (measure: typeof share, ...values: readonly number[]) =>
  values.map((value) => measured({ ...measure, value }));
const growth = { name: 'growth', value: -3, unit: 'points' };

hold<CheckedCohort>(
  'a cohort',
  cohortInvariants,
  { asOf: at, observedAt: at, populationCount: 24, ...measured(share, count) },
  {
    'snapshot-not-ahead': {
      breaks: [{ asOf: '2026-03-03T10:15:30.001Z' }, { asOf: '2999-01-01T00:00:00Z' }],
      allows: [{ asOf: '2026-03-03T10:15:30Z' }, { asOf: '1999-01-01T00:00:00Z' }],
    },
    'one-value-per-measure': {
      breaks: [measured(share, { ...share, value: 0.6 })],
      allows: [measured(share, { ...share, value: 50, unit: 'percent' })],
    },
    'measure-in-range': {
      breaks: [
        ...valued(share, -0.7, 1.7),
        ...valued(count, -1, 1.5),
        measured({ name: 'mean_percent_correct', value: 1e21, unit: 'percent' }),
      ],
      allows: [
        ...valued(share, 0, 1),
        measured(growth),
        measured({ ...growth, unit: 'proportion' }),
        measured(),
      ],
    },
    'nobody-measured-nothing': {
      breaks: [share, { ...share, value: 0 }, count].map((measure) => ({
        populationCount: 0,
        ...measured(measure),
      })),
      allows: [
        { populationCount: 0, ...measured({ ...count, value: 0 }) },
        { populationCount: 0, measures: undefined },
      ],
    },
  },
);

const { equivalentForms } = examples;
const sound: CheckedEquivalence = { ...equivalentForms, isDifference: true };
const { statistic, qtiTestId } = sound;
const sizes = (size: number) => ({
  sampleSizes: Object.fromEntries(Object.keys(sound.sampleSizes).map((form) => [form, size])),
});
const between = (lower: number, upper: number) => ({ confidenceInterval: { lower, upper } });
const undecided = { decision: 'insufficient_evidence' } as const;
const refused = { decision: 'not_equivalent' } as const;
const without = { evidenceArtifactUrl: null };

hold<CheckedEquivalence>('an equivalence', equivalenceInvariants, sound, {
  'other-forms': {
    breaks: [{ comparisonQtiTestIds: [], sampleSizes: { [qtiTestId]: 9 } }],
    allows: [{}],
  },
  'form-once': {
    breaks: [
      {
        comparisonQtiTestIds: ['another', 'another'],
        sampleSizes: { [qtiTestId]: 9, another: 9, third: 9 },
      },
    ],
    allows: [{}],
  },
  'one-sample-per-form': {
    breaks: [{ sampleSizes: { ...sound.sampleSizes, another: 9 } }, { sampleSizes: {} }],
    allows: [{ ...sizes(0), ...undecided }],
  },
  'statistic-in-interval': {
    breaks: [between(statistic + 0.01, 1), between(-1, statistic - 0.01)],
    allows: [between(statistic, statistic)],
  },
  'tolerance-not-negative': {
    breaks: [{ ...undecided, tolerance: -0.01 }],
    allows: [{ ...undecided, tolerance: 0 }],
  },
  'equivalent-forms-were-sampled': {
    breaks: [sizes(0)],
    allows: [sizes(1), { ...sizes(0), ...refused }],
  },
  'equivalent-within-tolerance': {
    breaks: [{ tolerance: Math.abs(statistic) - 0.01 }],
    allows: [
      { tolerance: Math.abs(statistic) },
      ...[{ isDifference: false }, refused, undecided].map((change) => ({ tolerance: 0, ...change })),
    ],
  },
  'decision-has-evidence': {
    breaks: [without, { ...without, ...refused }, { ...without, decision: 'unknown' }],
    allows: [{ ...without, ...undecided }],
  },
  'evidence-has-public-link': {
    breaks: ['https://127.0.0.1/a', 'https://a.example/b?Signature=c'].map((evidenceArtifactUrl) => ({
      evidenceArtifactUrl,
    })),
    allows: [{ evidenceArtifactUrl: 'https://a.example/b?c=d' }],
  },
});

const named: CheckedLists = {
  sourceKeys: ['a', 'b'],
  metrics: ['item_difficulty'],
  comparedKeys: ['a'],
};

hold<CheckedLists>('the lists for an improvement run', listInvariants, named, {
  'source-named-once': {
    breaks: [{ sourceKeys: ['a', 'b', 'a'] }],
    allows: [{ sourceKeys: ['a', 'A'] }, { sourceKeys: [] }],
  },
  'metric-named-once': {
    breaks: [{ metrics: ['item_length', 'item_length'] }],
    allows: [{ metrics: ['item_difficulty', 'form_summary'] }, { metrics: [] }],
  },
  'comparison-named-once': {
    breaks: [{ comparedKeys: ['a', 'a'] }],
    allows: [{ comparedKeys: ['a', 'c'] }, { comparedKeys: [] }],
  },
});

const correct = { name: 'proportion_correct', value: 0.4, unit: 'proportion' };
const difference = { name: 'difficulty_difference', value: -0.2, unit: 'proportion' };
const item = {
  ...{ qtiItemId: 'i', qtiFormId: 'f', qtiTestId: 't', caseGuids: ['g', 'h'] },
  measures: [correct],
};
type Row = CheckedMetric['rows'][number];
const rows = (...changes: readonly Partial<Row>[]) => ({ rows: changes.map((row) => ({ ...item, ...row })) });
const measuring = (...measures: Row['measures']) => rows({ measures });
/** Two rows of a form as a whole, with two values. */
const forms = (change: Partial<Row>) => ({
  metric: 'form_summary' as const,
  ...rows(
    ...[80, 90].map((value) => ({
      ...{ qtiItemId: null, measures: [{ name: 'mean_percent_correct', value, unit: 'percent' }] },
      ...change,
    })),
  ),
});
const untagged = (value: number) => measuring({ name: 'untagged_distractors', value, unit: 'count' });
const ofDistractors = { metric: 'distractor_distribution' } as const;
const better = { measures: [{ ...correct, value: 0.9 }] };

hold<CheckedMetric>(
  'a metric',
  metricInvariants,
  {
    metric: 'item_difficulty',
    analysisWindow: { start: at, end: at },
    ...{ populationCount: 26, sampleCount: 24, rows: [item] },
  },
  {
    'window-in-order': {
      breaks: [{ analysisWindow: { start: at, end: '2026-03-02T10:15:29.9Z' } }],
      allows: [{ analysisWindow: null }, { analysisWindow: { start: at, end: '2026-03-02T10:15:30.0Z' } }],
    },
    'sample-within-population': {
      breaks: [
        ...[99_999, 27, 0].map((sampleCount) => ({ sampleCount })),
        { populationCount: 0 },
        { populationCount: 0, sampleCount: 0 },
      ],
      allows: [
        { sampleCount: 26 },
        { populationCount: 1, sampleCount: 1 },
        { populationCount: null, sampleCount: null },
        { populationCount: null, sampleCount: 0 },
      ],
    },
    'value-of-its-measure': {
      breaks: [
        ...[-0.1, 1.1].map((value) => measuring({ ...correct, value })),
        rows({}, { qtiItemId: 'j', measures: [{ ...correct, unit: 'percent' }] }),
        ...[-1, 0.5].map((value) => ({ ...ofDistractors, ...untagged(value) })),
      ],
      allows: [
        ...[0, 1].map((value) => measuring({ ...correct, value })),
        measuring({ name: 'logit', value: -7, unit: 'logits' }),
        // Another metric's measure.
        untagged(0.5),
        { ...ofDistractors, ...untagged(3) },
        rows(),
      ],
    },
    'one-value-per-item': {
      breaks: [
        rows({}, better),
        rows({}, {}),
        measuring(correct, { ...correct, value: 0.9 }),
        // The same subjects in another sequence.
        rows({}, { caseGuids: ['h', 'g', 'h'] }),
        // A form as a whole.
        ...[{ qtiTestId: null }, { qtiFormId: null }].map(forms),
      ],
      allows: [
        rows({}, { qtiFormId: 'f2' }),
        // Rows that do not name what they measure.
        rows({ qtiItemId: null }, { qtiItemId: null }),
        forms({ qtiFormId: null, qtiTestId: null }),
        rows({}, { qtiTestId: null }, { caseGuids: ['g'] }),
        rows({ measures: [correct, difference] }, { qtiItemId: 'j' }),
        // One row per option, by a measure that this version does not know.
        rows(...['a', 'b'].map(() => ({ measures: [{ name: 'option_share', value: 0.5, unit: 'share' }] }))),
      ],
    },
  },
);

const compared = { populationCount: 24, predictedPassCount: 14, actualPassCount: 12, agreementCount: 16 };

hold<CheckedComparison>('a comparison', comparisonInvariants, compared, {
  'counts-within-population': {
    breaks: [{ predictedPassCount: 25 }, { actualPassCount: 25 }, { agreementCount: 26 }],
    allows: [{ predictedPassCount: 24, actualPassCount: 24, agreementCount: 24 }],
  },
  'counts-possible': {
    breaks: [
      // Of 24, at least 2 disagree; so many at least agree; who disagrees comes in pairs beside the difference.
      { agreementCount: 23 },
      { agreementCount: 24 },
      { predictedPassCount: 24, agreementCount: 10 },
      { agreementCount: 15 },
    ],
    allows: [{ agreementCount: 22 }, { agreementCount: 2 }, { predictedPassCount: 24, agreementCount: 12 }],
  },
});

describe('the tables', () => {
  const statements = Object.values(invariantTables).flatMap((table) => Object.entries(table));

  it('hold every invariant once', () => {
    const ids = statements.map(([id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(statements)(
    'say in sentences what breaks %s and what it allows, and whose fact it is',
    (_, { owner, ...texts }) => {
      expect(sourceService.options.filter((name) => name !== 'unknown')).toContain(owner);
      for (const text of [texts.broken, texts.allows]) expect(text).toMatch(/^[A-Z].*\.$/);
    },
  );
});
