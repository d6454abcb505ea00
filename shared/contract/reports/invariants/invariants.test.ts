import { describe, expect, it } from 'vitest';
import * as examples from '../examples.ts';
import { sourceService } from '../problem.ts';
import type { GateDecision, ItemEvidence, MasteryRow } from '../attempt-report.ts';
import { reportInvariants, summaryInvariants } from './attempt-report.ts';
import type { JudgedReport, JudgedSummary } from './attempt-report.ts';
import { cohortInvariants } from './cohort-report.ts';
import type { JudgedCohort } from './cohort-report.ts';
import { equivalenceInvariants } from './equivalence-report.ts';
import type { JudgedEquivalence } from './equivalence-report.ts';
import { listInvariants } from './improvement-run.ts';
import type { JudgedLists } from './improvement-run.ts';
import { firstBroken } from './invariant.ts';
import type { Invariants } from './invariant.ts';
import { comparisonInvariants, metricInvariants } from './metric.ts';
import type { JudgedComparison, JudgedMetric } from './metric.ts';
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
      const judged = { ...sound, ...change };
      const broken = Object.entries(table).filter(([, { holds }]) => !holds(judged));
      expect(broken.map(([name]) => name)).toEqual([id]);
      const { owner, broken: sentence } = table[id]!;
      // Only a fact that breaks its own bounds is no contradiction of two.
      const reason = id === 'score-within-bounds' ? { reason: 'unusable' } : {};
      expect(firstBroken(table, judged)).toStrictEqual({ id, owner, broken: sentence, ...reason });
    });

    it.each(
      Object.entries(cases).flatMap(([id, { allows }]) => allows.map((change) => [id, change] as const)),
    )('is not broken, nearly at %s: %j', (_, change) => {
      expect(firstBroken(table, { ...sound, ...change })).toBeUndefined();
    });
  });
}

const score = { value: 61, minimum: 0, maximum: 100, unit: 'percent', scaleVersion: null } as const;
const onScale = {
  value: 512.4,
  minimum: null,
  maximum: null,
  unit: 'mastery_scale',
  scaleVersion: '3',
} as const;
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

hold<JudgedSummary>(
  'a summary',
  summaryInvariants,
  { score, gate: pass, diagnostic: null, gapRows: [], isGoverned: () => true },
  {
    'score-within-bounds': {
      breaks: [
        { score: { ...score, value: 100.5 } },
        { score: { ...score, value: -1 } },
        { score: { ...score, value: 5, minimum: 10 } },
      ],
      allows: [{ score: { ...score, value: 100 } }, { score: { ...score, value: 112, maximum: null } }],
    },
    'one-mastery-scale': {
      breaks: [{ score: { ...onScale, scaleVersion: '4' }, diagnostic }],
      allows: [{ score: onScale, diagnostic }, { diagnostic }, { score: onScale }],
    },
    'one-score-per-scale': {
      breaks: [{ score: { ...onScale, value: 512.5 }, diagnostic }],
      allows: [
        { score: { ...onScale, value: 512 }, diagnostic },
        { score: { ...onScale, value: 512.43 }, diagnostic },
      ],
    },
    'pass-not-below-required': {
      breaks: [{ gate: { ...pass, achieved: 59 } }, { gate: { ...pass, achieved: 59.4 } }],
      allows: [
        { gate: { ...pass, achieved: 60 } },
        { gate: { ...pass, achieved: 59.6 } },
        { gate: { ...pass, achieved: null } },
        { gate: null },
      ],
    },
    'pass-lists-no-gap': {
      breaks: [{ gate: { ...pass, gapCaseGuids: ['a'] } }],
      allows: [{ gate: { ...pass, status: 'indeterminate', gapCaseGuids: ['a'] } }],
    },
    'fail-has-a-cause': {
      breaks: [
        { gate: { ...fail, achieved: 61, gapCaseGuids: [] } },
        { gate: { ...fail, achieved: 60, gapCaseGuids: [] } },
      ],
      allows: [
        { gate: { ...fail, achieved: 61 } },
        { gate: { ...fail, gapCaseGuids: [] } },
        { gate: { ...fail, achieved: null, required: -5, gapCaseGuids: [] } },
      ],
    },
    'gap-listed-once': {
      breaks: [{ gate: { ...fail, gapCaseGuids: ['a', 'a'] } }],
      allows: [{ gate: { ...fail, gapCaseGuids: ['a', 'A'] } }],
    },
    'gate-lists-its-gap-rows': {
      breaks: [
        { gapRows: ['a'] },
        { gate: { ...fail, gapCaseGuids: [] }, gapRows: ['a'] },
        { gate: fail, gapRows: ['a', 'b'] },
      ],
      allows: [
        { gate: fail, gapRows: ['a'] },
        { gapRows: ['a'], isGoverned: (caseGuid) => caseGuid !== 'a' },
        { gate: { ...pass, status: 'indeterminate' }, gapRows: ['a'] },
        { gate: { ...pass, status: 'unknown' }, gapRows: ['a'] },
        { gate: null, gapRows: ['a'] },
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
const rowOf = (change: Partial<MasteryRow> = {}, evidence = [piece]): JudgedReport['mastery'][number] => ({
  row: {
    kind: 'standard',
    caseGuid: 'a',
    parentCaseGuid: null,
    state: 'mastered',
    estimate: 0.8,
    threshold: 0.7,
    uncertainty: 0.1,
    uncertaintyKind: 'interval_half_width',
    policyId: 'p',
    policyVersion: '1',
    ...change,
  },
  evidence,
});

hold<JudgedReport>(
  'a whole report',
  reportInvariants,
  { gate: pass, mastery: [rowOf()], administeredItemCount: 3, scoredItemCount: 2 },
  {
    'items-administered': {
      breaks: [{ scoredItemCount: 4 }],
      allows: [{ scoredItemCount: 3 }, { scoredItemCount: 0 }],
    },
    'one-row-per-standard': {
      breaks: [{ mastery: [rowOf(), rowOf({ estimate: 0.9 })] }],
      allows: [{ mastery: [rowOf(), rowOf({ kind: 'knowledge_component' })] }, { mastery: [] }],
    },
    'no-standard-above-itself': {
      breaks: [
        { mastery: [rowOf({ parentCaseGuid: 'a' })] },
        {
          mastery: [
            rowOf({ parentCaseGuid: 'b' }),
            rowOf({ caseGuid: 'b', parentCaseGuid: 'c' }),
            rowOf({ caseGuid: 'c', parentCaseGuid: 'b' }),
          ],
        },
      ],
      allows: [
        { mastery: [rowOf(), ...['b', 'c'].map((caseGuid) => rowOf({ caseGuid, parentCaseGuid: 'a' }))] },
        { mastery: [rowOf({ parentCaseGuid: 'b' }), rowOf({ caseGuid: 'b', parentCaseGuid: 'of no row' })] },
      ],
    },
    'one-evidence-per-outcome': {
      breaks: [
        { mastery: [rowOf({}, [piece, { ...piece, contribution: -0.5 }])] },
        { mastery: [rowOf({}, Array<ItemEvidence>(500).fill(piece))] },
      ],
      allows: [
        { mastery: [rowOf(), rowOf({ caseGuid: 'b' })] },
        { mastery: [rowOf({}, [piece, { ...piece, qtiOutcomeId: 'p' }, { ...piece, qtiItemId: 'j' }])] },
        { mastery: [rowOf({}, [piece, { ...piece, resultComponentId: 'c' }])] },
        // The ids of both make one text when nothing stands between them.
        { mastery: [rowOf({}, [piece, { ...piece, qtiItemId: 'io', qtiOutcomeId: '' }])] },
      ],
    },
    'listed-gap-not-mastered': {
      breaks: [
        { gate: fail, mastery: [rowOf()] },
        { gate: { ...fail, status: 'indeterminate' }, mastery: [rowOf()] },
      ],
      allows: [
        { gate: fail, mastery: [rowOf({ state: 'not_yet' })] },
        { gate: fail, mastery: [] },
        {
          gate: fail,
          mastery: [rowOf(), rowOf({ kind: 'knowledge_component', state: 'gap', estimate: 0.2 })],
        },
      ],
    },
    'state-fits-estimate': {
      breaks: [
        { mastery: [rowOf({ estimate: 0.01, threshold: 0.9 })] },
        { mastery: [rowOf({ estimate: 0.59 })] },
        { mastery: [rowOf({ estimate: 0.29, uncertaintyKind: 'standard_error' })] },
        { gate: fail, mastery: [rowOf({ state: 'gap', estimate: 0.81, uncertaintyKind: 'policy_margin' })] },
      ],
      allows: [
        // 0.7 - 0.1 and 0.8 - 0.1 are no 0.6 and 0.7 in binary arithmetic.
        { mastery: [rowOf({ estimate: 0.6 })] },
        { mastery: [rowOf({ estimate: 0.7, threshold: 0.8 })] },
        { mastery: [rowOf({ estimate: 0.3, uncertaintyKind: 'standard_error' })] },
        { mastery: [rowOf({ estimate: 0.01, uncertaintyKind: 'unknown' })] },
        { mastery: [rowOf({ state: 'not_yet', estimate: 0.01 })] },
        { gate: fail, mastery: [rowOf({ state: 'gap', estimate: 0.8 })] },
      ],
    },
  },
);

const share = { name: 'share_proficient', value: 0.5, unit: 'proportion' };
const count = { name: 'tardies', value: 3, unit: 'count' };

hold<JudgedCohort>(
  'a cohort',
  cohortInvariants,
  { asOf: at, observedAt: at, populationCount: 24, measures: [share, count] },
  {
    'snapshot-not-ahead': {
      breaks: [{ asOf: '2026-03-03T10:15:30.001Z' }, { asOf: '2999-01-01T00:00:00Z' }],
      allows: [{ asOf: '2026-03-03T10:15:30Z' }, { asOf: '1999-01-01T00:00:00Z' }],
    },
    'one-value-per-measure': {
      breaks: [{ measures: [share, { ...share, value: 0.6 }] }],
      allows: [{ measures: [share, { ...share, value: 50, unit: 'percent' }] }],
    },
    'measure-in-range': {
      breaks: [
        ...[-0.7, 1.7].map((value) => ({ measures: [{ ...share, value }] })),
        ...[-1, 1.5].map((value) => ({ measures: [{ ...count, value }] })),
        { measures: [{ name: 'mean_percent_correct', value: 1e21, unit: 'percent' }] },
      ],
      allows: [
        ...[0, 1].map((value) => ({ measures: [{ ...share, value }] })),
        { measures: [{ name: 'growth', value: -3, unit: 'points' }] },
        { measures: [{ name: 'growth', value: -3, unit: 'proportion' }] },
        { measures: [] },
      ],
    },
    'nobody-measured-nothing': {
      breaks: [
        { populationCount: 0, measures: [share] },
        { populationCount: 0, measures: [{ ...share, value: 0 }] },
        { populationCount: 0, measures: [count] },
      ],
      allows: [
        { populationCount: 0, measures: [{ ...count, value: 0 }] },
        { populationCount: 0, measures: undefined },
      ],
    },
  },
);

const { equivalentForms } = examples;
const sound: JudgedEquivalence = { ...equivalentForms, isDifference: true };
const forms = Object.keys(sound.sampleSizes);
const sizes = (size: number) => ({ sampleSizes: Object.fromEntries(forms.map((form) => [form, size])) });
const undecided = { decision: 'insufficient_evidence' } as const;

hold<JudgedEquivalence>('an equivalence', equivalenceInvariants, sound, {
  'other-forms': {
    breaks: [{ comparisonQtiTestIds: [], sampleSizes: { [sound.qtiTestId]: 9 } }],
    allows: [{}],
  },
  'form-once': {
    breaks: [
      {
        comparisonQtiTestIds: ['another', 'another'],
        sampleSizes: { [sound.qtiTestId]: 9, another: 9, third: 9 },
      },
    ],
    allows: [{}],
  },
  'one-sample-per-form': {
    breaks: [{ sampleSizes: { ...sound.sampleSizes, another: 9 } }, { sampleSizes: {} }],
    allows: [{ ...sizes(0), ...undecided }],
  },
  'statistic-in-interval': {
    breaks: [
      { confidenceInterval: { lower: sound.statistic + 0.01, upper: 1 } },
      { confidenceInterval: { lower: -1, upper: sound.statistic - 0.01 } },
    ],
    allows: [{ confidenceInterval: { lower: sound.statistic, upper: sound.statistic } }],
  },
  'tolerance-not-negative': {
    breaks: [{ ...undecided, tolerance: -0.01 }],
    allows: [{ ...undecided, tolerance: 0 }],
  },
  'equivalent-forms-were-sampled': {
    breaks: [sizes(0)],
    allows: [sizes(1), { ...sizes(0), decision: 'not_equivalent' }],
  },
  'equivalent-within-tolerance': {
    breaks: [{ tolerance: Math.abs(sound.statistic) - 0.01 }],
    allows: [
      { tolerance: Math.abs(sound.statistic) },
      { tolerance: 0, isDifference: false },
      { tolerance: 0, decision: 'not_equivalent' },
      { tolerance: 0, ...undecided },
    ],
  },
  'decision-has-evidence': {
    breaks: [
      { evidenceArtifactUrl: null },
      { evidenceArtifactUrl: null, decision: 'not_equivalent' },
      { evidenceArtifactUrl: null, decision: 'unknown' },
    ],
    allows: [{ evidenceArtifactUrl: null, ...undecided }],
  },
  'evidence-has-public-link': {
    breaks: ['https://127.0.0.1/a', 'https://a.example/b?Signature=c'].map((evidenceArtifactUrl) => ({
      evidenceArtifactUrl,
    })),
    allows: [{ evidenceArtifactUrl: 'https://a.example/b?c=d' }],
  },
});

const named: JudgedLists = {
  sourceKeys: ['a', 'b'],
  metrics: ['item_difficulty'],
  comparedKeys: ['a'],
};

hold<JudgedLists>('the lists for an improvement run', listInvariants, named, {
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
const form = (value: number) => ({
  ...{ ...item, qtiItemId: null },
  measures: [{ name: 'mean_percent_correct', value, unit: 'percent' }],
});
const untagged = (value: number) => ({
  ...item,
  measures: [{ name: 'untagged_distractors', value, unit: 'count' }],
});

hold<JudgedMetric>(
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
        { sampleCount: 99_999 },
        { sampleCount: 27 },
        { sampleCount: 0 },
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
        ...[-0.1, 1.1].map((value) => ({ rows: [{ ...item, measures: [{ ...correct, value }] }] })),
        { rows: [item, { ...item, qtiItemId: 'j', measures: [{ ...correct, unit: 'percent' }] }] },
        ...[-1, 0.5].map((value) => ({
          metric: 'distractor_distribution' as const,
          rows: [untagged(value)],
        })),
      ],
      allows: [
        ...[0, 1].map((value) => ({ rows: [{ ...item, measures: [{ ...correct, value }] }] })),
        { rows: [{ ...item, measures: [{ name: 'logit', value: -7, unit: 'logits' }] }] },
        // Another metric's measure.
        { rows: [untagged(0.5)] },
        { metric: 'distractor_distribution', rows: [untagged(3)] },
        { rows: [] },
      ],
    },
    'one-value-per-item': {
      breaks: [
        { rows: [item, { ...item, measures: [{ ...correct, value: 0.9 }] }] },
        { rows: [item, item] },
        { rows: [{ ...item, measures: [correct, { ...correct, value: 0.9 }] }] },
        // The same subjects in another sequence.
        { rows: [item, { ...item, caseGuids: ['h', 'g', 'h'] }] },
        // A form as a whole.
        ...[{ qtiTestId: null }, { qtiFormId: null }].map((change) => ({
          metric: 'form_summary' as const,
          rows: [80, 90].map((value) => ({ ...form(value), ...change })),
        })),
      ],
      allows: [
        { rows: [item, { ...item, qtiFormId: 'f2' }] },
        // Rows that do not name what they measure.
        { rows: [item, item].map((row) => ({ ...row, qtiItemId: null })) },
        {
          metric: 'form_summary',
          rows: [80, 90].map((value) => ({ ...form(value), qtiFormId: null, qtiTestId: null })),
        },
        { rows: [item, { ...item, qtiTestId: null }, { ...item, caseGuids: ['g'] }] },
        {
          rows: [
            { ...item, measures: [correct, difference] },
            { ...item, qtiItemId: 'j' },
          ],
        },
        // One row per option, by a measure that this version does not know.
        ...[['a', 'b']].map((options) => ({
          rows: options.map(() => ({
            ...item,
            measures: [{ name: 'option_share', value: 0.5, unit: 'share' }],
          })),
        })),
      ],
    },
  },
);

const compared = { populationCount: 24, predictedPassCount: 14, actualPassCount: 12, agreementCount: 16 };

hold<JudgedComparison>('a comparison', comparisonInvariants, compared, {
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
