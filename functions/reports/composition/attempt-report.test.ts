import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { provable } from '#shared/contract/gates.ts';
import { reportsProblem } from '#shared/contract/reports/problem.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { SettledGate, SettledMastery } from '#shared/platform/owners/results.ts';
import { reportsDocument } from '#shared/problems/document.ts';
import { problem } from '#shared/problems/registry.ts';
import {
  anExampleOf,
  attemptFacts,
  frozen,
  kinds,
  moment,
  readinessFacts,
} from '#test/support/report-facts.ts';
import type { Kind } from '#test/support/report-facts.ts';
import { composeAttemptReport, projectAttemptReport } from './attempt-report.ts';
import { composeReadiness } from './readiness.ts';
import type { ReportFacts } from '../facts/facts.ts';

/** An attempt of a kind without a gap, whose one gate decision is a pass. */
function settledAttempt(kind: Kind): ReportFacts {
  const facts = anExampleOf(attemptFacts(fc.constant(kind)));
  return { ...decide(facts, {}), enrichments: [] };
}

/** Lets Results decide a pass under criteria that Content holds too, or what `gate` says otherwise. */
function decide(facts: ReportFacts, gate: Partial<SettledGate>): ReportFacts {
  const { value: record } = facts.record;
  for (const row of record.mastery) row.state = 'mastered';
  facts.criteria.value.criteria = { criteriaVersion: 'criteria-4', required: 0.8 };
  record.gate = {
    status: 'pass',
    criteriaVersion: 'criteria-4',
    achieved: 0.9,
    required: 0.8,
    gapCaseGuids: [],
    coverageEvidenceId: 'coverage-771',
    ...gate,
  };
  return facts;
}

function report(facts: ReportFacts, view: 'summary' | 'standards' | 'evidence' = 'evidence'): unknown {
  const composed = composeAttemptReport(facts);
  return composed.ok ? projectAttemptReport(composed.value, view, moment) : composed.error;
}

describe('a report of each kind', () => {
  it('shows the pass that Results decided for a mastery gate, and no diagnostic [RP-001, RP-009, RP-010, RP-066]', () => {
    const facts = settledAttempt('mastery_gate');
    facts.record.value.diagnostic = {
      scaleScore: 214,
      scaleVersion: 'scale-1',
      calibrationVersion: 'calibration-1',
      standardError: 3.1,
      stoppingReason: 'max_items',
    };
    expect(report(facts)).toMatchObject({
      testKind: 'mastery_gate',
      status: 'scored',
      gate: { status: 'pass', achieved: 0.9, required: 0.8, gapCaseGuids: [] },
      diagnostic: null,
    });
  });

  it('is indeterminate with its gate [RP-061, RP-067]', () => {
    const facts = decide(settledAttempt('mastery_gate'), { coverageEvidenceId: null });
    expect(report(facts)).toMatchObject({ status: 'indeterminate', gate: { status: 'indeterminate' } });
  });

  it('shows what an adaptive diagnostic measured, counted by QTI, with the crosswalk’s label, and no gate [RP-009, RP-012, RP-013, RP-068, RP-106, RP-107, RP-108]', () => {
    const facts = settledAttempt('adaptive_diagnostic');
    facts.record.value.diagnostic = {
      scaleScore: 214,
      scaleVersion: 'scale-1',
      calibrationVersion: 'calibration-1',
      standardError: 3.1,
      stoppingReason: 'out_of_coffee',
    };
    facts.evidence.value.administeredItemCount = 17;
    facts.criteria.value.externalScale = { normsSet: 'Norms 2025' };
    const measured = {
      scaleScore: 214,
      scaleVersion: 'scale-1',
      calibrationVersion: 'calibration-1',
      standardError: 3.1,
      stoppingReason: 'unknown',
      administeredItemCount: 17,
      extNormsSet: 'Norms 2025',
    };
    expect(report(facts)).toMatchObject({ status: 'scored', gate: null, diagnostic: measured });
    facts.criteria.value.externalScale = null;
    expect(report(facts)).toMatchObject({ diagnostic: { ...measured, extNormsSet: null } });
  });

  it('shows the evidence for every standard of a formative and claims nothing on it [RP-014, RP-015]', () => {
    const facts = settledAttempt('formative');
    expect(facts.record.value.gate?.status).toBe('pass');
    expect(report(facts)).toMatchObject({
      testKind: 'formative',
      status: 'scored',
      gate: null,
      diagnostic: null,
      mastery: facts.record.value.mastery.map(({ caseGuid, evidence }) => ({
        caseGuid,
        evidence: evidence.map(({ qtiItemId }) => ({ qtiItemId })),
      })),
    });
  });

  it('calls a kind of tomorrow unknown, of which every settled attempt is scored [RP-060, RP-061]', () => {
    for (const testKind of ['a_kind_of_tomorrow', 'unknown', 'constructor', '__proto__', '']) {
      const facts = settledAttempt('a_kind_of_tomorrow');
      facts.record.value.testKind = facts.criteria.value.testKind = testKind;
      expect(report(facts)).toMatchObject({
        testKind: 'unknown',
        status: 'scored',
        gate: null,
        diagnostic: null,
      });
    }
  });
});

describe('sections', () => {
  it('are empty and not omitted when Results holds no rows [RP-045, RP-070]', () => {
    const facts = settledAttempt('formative');
    facts.record.value.mastery = [];
    expect(report(facts, 'evidence')).toMatchObject({ mastery: [], omitted: ['readiness'] });
    expect(report(facts, 'standards')).toMatchObject({ mastery: [], omitted: ['itemEvidence', 'readiness'] });
    expect(report(facts, 'summary')).toMatchObject({ omitted: ['mastery', 'itemEvidence', 'readiness'] });
  });

  it('are incomplete where an optional source failed, whose receipt says so, and only there [RP-071]', () => {
    const receipt = {
      ...settledAttempt('formative').candidate,
      service: 'caliper',
      status: 'unavailable',
    } as const;
    const failure = problem('reports', 'dependency-unavailable', 503, { dependency: 'caliper' });
    const enriched = { ...settledAttempt('formative'), enrichments: [{ receipt, problem: failure }] };
    expect(report(enriched)).toMatchObject({
      sources: [{}, {}, {}, {}, {}, receipt],
      incompleteSections: [reportsDocument(failure, moment)],
    });
    expect(
      report({ ...enriched, enrichments: [{ receipt: { ...receipt, status: 'current' } }] }),
    ).toMatchObject({
      sources: [{}, {}, {}, {}, {}, { service: 'caliper', status: 'current' }],
      incompleteSections: [],
    });
  });

  it('say when they were composed and for which request [RP-072, RP-073]', () => {
    const { observedAt, requestId, traceId } = moment;
    expect(report(settledAttempt('formative'))).toMatchObject({ observedAt, requestId, traceId });
  });
});

interface Defect {
  readonly owner: SourceService;
  /** Kinds of which it is a defect. Default: all. */
  readonly of?: readonly Kind[];
  readonly spoil: (facts: ReportFacts) => ReportFacts;
}

/** Facts whose members `change` may write. */
type Change = (facts: ReportFacts) => unknown;

function defect(owner: SourceService, change: Change, ...of: readonly Kind[]): Defect {
  const spoil = (facts: ReportFacts): ReportFacts => {
    change(facts);
    return facts;
  };
  return { owner, ...(of.length === 0 ? {} : { of }), spoil };
}

/** A defect in what Results settled on the first mastery row. */
function row(
  spoil: (row: SettledMastery, facts: ReportFacts) => unknown,
  owner: SourceService = 'results',
): Defect {
  return defect(owner, (facts) => spoil(facts.record.value.mastery[0]!, facts));
}

/** A defect of a gate decision. */
function gate(decision: Partial<SettledGate>, owner: SourceService = 'results'): Defect {
  return defect(owner, (facts) => decide(facts, decision), 'mastery_gate');
}

/** A defect in what Results measured for an adaptive diagnostic. */
function measured(change: (record: ReportFacts['record']['value']) => unknown): Defect {
  return defect('results', ({ record }) => change(record.value), 'adaptive_diagnostic');
}

function score(settled: { value: number; minimum?: number; maximum?: number; unit?: string }): Defect {
  const unbounded = { minimum: null, maximum: null, unit: 'points', scaleVersion: null };
  return defect('results', ({ record }) => (record.value.score = { ...unbounded, ...settled }));
}

function onScale(value: number, scaleVersion: string): ReportFacts['record']['value']['score'] {
  return { value, minimum: null, maximum: null, unit: 'mastery_scale', scaleVersion };
}

/** A defect in the place of the first mastery row: its parent at Results, and its parents in CASE. */
function place(isItsOwnParent: boolean, parentsInCase: readonly string[] | undefined): Defect {
  return {
    owner: 'results',
    spoil(facts) {
      const settled = facts.record.value.mastery[0]!;
      settled.parentCaseGuid = isItsOwnParent ? settled.caseGuid : null;
      const parents = new Map(facts.framework.value.parents);
      if (parentsInCase === undefined) parents.delete(settled.caseGuid);
      else parents.set(settled.caseGuid, parentsInCase);
      return { ...facts, framework: { ...facts.framework, value: { ...facts.framework.value, parents } } };
    },
  };
}

// The numbers of rows and of pieces of evidence, at their limits: test/contract/reports/large-report.test.ts.
const defects: Record<string, Defect> = {
  'stale evidence [RP-087]': defect('qti', ({ evidence }) => (evidence.receipt.status = 'stale')),
  'a stale record [RP-087]': defect('results', ({ record }) => (record.receipt.status = 'stale')),
  'stale criteria [RP-087]': defect('content', ({ criteria }) => (criteria.receipt.status = 'stale')),
  'a candidate who is not current [RP-087]': defect(
    'oneroster',
    ({ candidate }) => (candidate.status = 'stale'),
  ),
  'a stale framework [RP-087]': defect('case', ({ framework }) => (framework.receipt.status = 'stale')),
  'a framework from before the test spec’s [RP-087]': {
    owner: 'case',
    spoil(facts) {
      facts.criteria.value.caseFrameworkChangedAt = '2026-03-02T10:15:30.000000001Z';
      const framework = { ...facts.framework.value, changedAt: '2026-03-02T10:15:30Z' };
      return { ...facts, framework: { ...facts.framework, value: framework } };
    },
  },
  'an attempt that is not scored [RP-063]': defect(
    'qti',
    ({ evidence }) => (evidence.value.status = 'submitted'),
  ),
  'a record that is not settled [RP-062]': defect('results', ({ record }) => (record.value.settled = false)),
  'two test kinds [RP-008]': defect('results', ({ record }) => (record.value.testKind = 'summative')),
  'no score [RP-062]': defect('results', ({ record }) => (record.value.score = null)),
  'a score below its minimum [RP-081]': score({ value: -1, minimum: 0 }),
  'a score above its maximum [RP-081]': score({ value: 41, minimum: 0, maximum: 40 }),
  'a mastery scale without a version [RP-083]': score({ value: 214, unit: 'mastery_scale' }),

  'no criteria at either owner [RP-028, RP-103]': defect(
    'content',
    ({ record, criteria }) => (record.value.gate = criteria.value.criteria = null),
    'mastery_gate',
  ),
  'a pass with gaps [RP-105]': gate({ gapCaseGuids: ['guid'] }),
  'a fail without gaps [RP-105]': gate({ status: 'fail' }),
  'a gap that is listed twice [RP-105]': gate({ status: 'indeterminate', gapCaseGuids: ['guid', 'guid'] }),
  'a gap that CASE does not know [RP-089]': gate({ status: 'fail', gapCaseGuids: ['nowhere '] }, 'case'),
  'a fail that leaves a row’s gap out [RP-105]': defect(
    'results',
    (facts) => {
      decide(facts, { status: 'fail', gapCaseGuids: ['some-other-guid'] });
      facts.record.value.mastery[0]!.state = 'gap';
    },
    'mastery_gate',
  ),

  'no diagnostic [RP-068]': measured((record) => (record.diagnostic = null)),
  'no administered item [RP-106]': defect(
    'qti',
    ({ evidence }) => (evidence.value.administeredItemCount = 0),
    'adaptive_diagnostic',
  ),
  'fewer administered items than items with an outcome [RP-106]': defect('qti', ({ evidence }) => {
    const outcome = evidence.value.outcomes[0]!;
    evidence.value.outcomes.push({ ...outcome, qtiItemId: 'one-more-item' });
    const items = new Set(evidence.value.outcomes.map(({ qtiItemId }) => qtiItemId));
    evidence.value.administeredItemCount = Math.max(1, items.size - 1);
  }),
  'two mastery scales [RP-083, RP-106]': measured((record) => {
    record.score = onScale(record.diagnostic!.scaleScore, `${record.diagnostic!.scaleVersion} `);
  }),
  'two scores on one mastery scale [RP-106]': measured((record) => {
    record.diagnostic!.scaleScore = 512.25;
    record.score = onScale(512.3001, record.diagnostic!.scaleVersion);
  }),

  'a row without evidence [RP-095]': row((settled) => (settled.evidence = [])),
  'two rows of one kind and GUID [RP-064]': row((settled, { record }) =>
    record.value.mastery.push({ ...settled }),
  ),
  'a row without an estimate [RP-092]': row((settled) => (settled.estimate = null)),
  'a row without a threshold [RP-092]': row((settled) => (settled.threshold = null)),
  'a row that CASE does not know [RP-089]': row((settled) => (settled.caseGuid = 'nowhere '), 'case'),
  'a parent that CASE does not know [RP-090]': row(
    (settled) => (settled.parentCaseGuid = 'nowhere '),
    'case',
  ),
  'a child without its parent [RP-090]': place(false, ['above']),
  'a root with a parent [RP-090]': place(true, undefined),
  'a child under another item than its parent [RP-090]': place(true, ['above']),

  'an outcome that QTI names twice': defect('qti', ({ evidence: { value } }) =>
    value.outcomes.push({ ...value.outcomes[0]!, scoredAt: '2026-01-01T00:00:00Z' }),
  ),
  'evidence without an outcome [RP-096, RP-099]': row(({ evidence }, facts) => {
    const [{ qtiItemId, qtiOutcomeId } = { qtiItemId: '', qtiOutcomeId: '' }] = evidence;
    facts.evidence.value.outcomes = facts.evidence.value.outcomes.filter(
      (outcome) => outcome.qtiItemId !== qtiItemId || outcome.qtiOutcomeId !== qtiOutcomeId,
    );
  }, 'qti'),
  'evidence of another item’s outcome [RP-096, RP-099]': row(({ evidence }, facts) => {
    evidence[0] = { ...evidence[0]!, qtiItemId: 'item-a', qtiOutcomeId: 'outcome-b' };
    facts.evidence.value.administeredItemCount = 2;
    facts.evidence.value.outcomes = [
      { qtiItemId: 'item-a', qtiOutcomeId: 'outcome-a', scoredAt: '2026-01-01T00:00:00Z' },
      { qtiItemId: 'item-b', qtiOutcomeId: 'outcome-b', scoredAt: '2026-01-01T00:00:00Z' },
    ];
  }, 'qti'),
};

describe('an adaptive diagnostic', () => {
  const unproved = new Set(provable.filter((name) => name !== 'mastery_engine_production_learner'));

  it('is not shown before the mastery engine is proved with production learners: 503 that names it [RP-026]', () => {
    const facts = settledAttempt('adaptive_diagnostic');
    expect(report(facts)).toMatchObject({ testKind: 'adaptive_diagnostic' });
    expect(report({ ...facts, proved: unproved })).toMatchObject({
      status: 503,
      code: 'dependency-incomplete',
      dependency: 'mastery_engine',
      retryable: true,
    });
  });

  it('is the only kind that waits for that [RP-026]', () => {
    for (const kind of kinds.filter((other) => other !== 'adaptive_diagnostic'))
      expect(composeAttemptReport({ ...settledAttempt(kind), proved: unproved }), kind).toMatchObject({
        ok: true,
      });
  });
});

describe('a single defect of the owners’ facts', () => {
  it.each(Object.entries(defects))(
    '%s is a 503 that names its owner, never a report with less [RP-028]',
    (_, { owner, of = kinds, spoil }) => {
      const details = new Set<string>();
      fc.assert(
        fc.property(attemptFacts(fc.constantFrom(...of)), (facts) => {
          const spoilt = structuredClone(facts);
          const result = composeAttemptReport(frozen(spoil(spoilt)));
          expect(result).toMatchObject({
            ok: false,
            error: { status: 503, code: 'dependency-incomplete', dependency: owner, retryable: true },
          });
          if (result.ok) return;
          expect(reportsProblem.safeParse(reportsDocument(result.error, moment)).success).toBe(true);
          details.add(result.error.detail);
        }),
        { numRuns: 25 },
      );
      // One sentence, whatever the ids: nothing of an owner's text stands in it.
      expect(details.size).toBe(1);
    },
  );
});

describe('readiness on a single defect of the owners’ facts', () => {
  const { crosswalks } = anExampleOf(readinessFacts);
  crosswalks.receipt.status = 'current';
  crosswalks.value.entries = [
    {
      sourceTest: 'State Assessment Mathematics 5',
      sourceVersion: '2026',
      crosswalkVersion: 'crosswalk-9',
      coverageFraction: 1,
      dokDominance: 'satisfied',
      qualifyingBlueprintSlotIds: ['slot-1'],
      freshness: 'current',
      limitations: [],
    },
  ];
  const decisionOn = (facts: ReportFacts): unknown => {
    const readiness = composeReadiness({ ...facts, crosswalks }, moment);
    return readiness.ok ? readiness.value.entries.map(({ decision }) => decision) : readiness.error;
  };

  it.each(Object.entries(defects).filter(([, { of = kinds }]) => of.includes('mastery_gate')))(
    '%s projects no pass: the problem of the report, or no decision [RP-116, RP-118]',
    (_, { spoil }) => {
      fc.assert(
        fc.property(attemptFacts(fc.constant<Kind>('mastery_gate')), (facts) => {
          const passed = decide(structuredClone(facts), {});
          expect(decisionOn(passed)).toEqual(['projected_pass']);
          const spoilt = spoil(passed);
          const report = composeAttemptReport(spoilt);
          if (report.ok) throw new Error('the defect is none');
          const isFinal =
            report.error.reason === 'contradiction' ||
            spoilt.evidence.value.status !== 'scored' ||
            !spoilt.record.value.settled;
          const undecided = spoilt.record.value.gate?.status === 'fail' ? 'not_ready' : 'indeterminate';
          expect(decisionOn(spoilt)).toEqual(isFinal ? report.error : [undecided]);
        }),
        { numRuns: 25 },
      );
    },
  );
});

describe('evidence', () => {
  /** Outcomes that are named by item and variable, each with a time of its own. */
  const outcomes = ['item-a', 'item-b', '__proto__'].flatMap((qtiItemId, item) =>
    ['SCORE', 'DURATION', 'constructor'].slice(item).map((qtiOutcomeId, variable) => ({
      qtiItemId,
      qtiOutcomeId,
      scoredAt: `2026-03-0${item + 1}T00:00:0${variable}Z`,
    })),
  );

  it('is found by item and outcome where neither alone tells outcomes apart [RP-096, RP-099]', () => {
    const facts = settledAttempt('formative');
    const { value: record } = facts.record;
    facts.evidence.value.outcomes = outcomes;
    facts.evidence.value.administeredItemCount = 3;
    const parts = outcomes.map(({ qtiItemId, qtiOutcomeId }) => ({
      qtiItemId,
      qtiOutcomeId,
      resultComponentId: null,
      contribution: -1,
    }));
    record.mastery = [{ ...record.mastery[0]!, evidence: parts.toReversed() }];
    expect(report(facts)).toMatchObject({
      mastery: [
        {
          evidence: outcomes.toReversed().map(({ qtiItemId, qtiOutcomeId, scoredAt }) => ({
            qtiItemId,
            qtiOutcomeId,
            observedAt: scoredAt,
          })),
        },
      ],
    });
  });

  it('is a 503 whichever outcome of an item QTI names twice', () => {
    for (const twice of outcomes) {
      const facts = settledAttempt('formative');
      facts.record.value.mastery = [];
      facts.evidence.value.outcomes = [...outcomes, twice];
      expect(report(facts)).toMatchObject({ status: 503, dependency: 'qti' });
    }
  });
});

describe('the limits of a report', () => {
  it('admit one GUID as a standard and as a knowledge component [RP-064]', () => {
    const facts = settledAttempt('formative');
    const { value: record } = facts.record;
    const [first] = record.mastery;
    record.mastery = [
      { ...first!, kind: 'standard' },
      { ...first!, kind: 'knowledge_component' },
    ];
    expect(composeAttemptReport(facts).ok).toBe(true);
  });

  it('admit a framework of the very instant that the test spec knows', () => {
    const facts = settledAttempt('formative');
    facts.criteria.value.caseFrameworkChangedAt = '2026-03-02T10:15:30Z';
    const value = { ...facts.framework.value, changedAt: '2026-03-02T10:15:30.000Z' };
    expect(composeAttemptReport({ ...facts, framework: { ...facts.framework, value } }).ok).toBe(true);
  });
});
