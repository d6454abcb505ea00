import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  classCohort,
  equivalentForms,
  failedGate,
  page,
  schoolGradeCohort,
} from '#shared/contract/reports/examples.ts';
import {
  adaptiveDiagnostic,
  masteryGate,
  sandboxStandards,
  viewOf,
} from '#shared/contract/reports/sandbox-fixtures.ts';
import { advancedRun, startedRun, waitingRun } from '#shared/contract/mastery/examples.ts';
import type { AttemptReport } from '#client/index.ts';
import type { Knowledge, ReportData } from '#report-element/data.ts';
import { countsOf, ruleText, zonesOf } from '#report-element/speak/states.ts';
import { compareScores } from '#report-element/speak/history.ts';
import { orderOf } from '#report-element/speak/order.ts';
import { readAt, speak } from '#report-element/speak/speak.ts';
import { auditSections } from '#report-element/speak/audit.ts';
import { speakFailure } from '#report-element/speak/failure.ts';
import { createSpeaker } from '#report-element/speak/speaker.ts';
import type { Spoken } from '#report-element/speak/document.ts';

const nothing: Knowledge = { names: {}, precedes: [], learner: undefined, scales: {}, hrefOf: undefined };
const correlation = { requestId: 'request-1', traceId: 'trace-1' };
const report = (fixture: typeof masteryGate): AttemptReport => viewOf(fixture, 'evidence', correlation);
const gate = report(masteryGate);
const diagnostic = report(adaptiveDiagnostic);

const standardNames = Object.fromEntries(
  Object.values(sandboxStandards).map(({ caseGuid, name }) => [caseGuid, name]),
);
const named: Knowledge = {
  ...nothing,
  learner: 'Ben',
  names: standardNames,
};

const examples: readonly ReportData[] = [
  { kind: 'attempt', report: gate },
  { kind: 'attempt', report: diagnostic },
  { kind: 'attempt', report: failedGate },
  {
    kind: 'history',
    page: page,
    details: [gate, diagnostic],
  },
  { kind: 'cohort', cohort: classCohort },
  { kind: 'cohort', cohort: schoolGradeCohort },
  {
    kind: 'equivalence',
    equivalence: equivalentForms,
  },
  { kind: 'run', run: startedRun },
  { kind: 'run', run: waitingRun },
  { kind: 'run', run: advancedRun },
  { kind: 'class', learners: ['learner-1'], reportOf: () => Promise.resolve(gate) },
];
const fetchedOf = (data: ReportData) =>
  new Map(
    data.kind === 'class' ? data.learners.map((id) => [id, { state: 'done', report: gate } as const]) : [],
  );

/** Every text of the layers for teachers. */
function textsOf({ verdict, facts, teacher, sure }: Spoken): readonly string[] {
  const found: string[] = [];
  const visit = (value: unknown, name: string): void => {
    if (typeof value === 'string' && !['kind', 'tone', 'state', 'fileName', 'href'].includes(name))
      found.push(value);
    else if (typeof value === 'object' && value !== null)
      for (const [member, one] of Object.entries(value)) visit(one, Array.isArray(value) ? name : member);
  };
  visit({ verdict, facts, teacher, sure }, '');
  return found;
}

/** Sentences that the contract says are for people. */
const prose = ['limitations'];

/** Replaces every text of an answer but instants and sentences by one that occurs nowhere else, as ids and values of a later version would be. */
function strange(value: unknown, token: () => string, path: readonly string[] = []): unknown {
  if (Array.isArray(value)) return value.map((one) => strange(one, token, path));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [
        path.at(-1) === 'sampleSizes' ? token() : name,
        strange(one, token, [...path, name]),
      ]),
    );
  if (typeof value !== 'string' || prose.includes(path.at(-1) ?? '') || !Number.isNaN(Date.parse(value)))
    return value;
  return token();
}

const say = (data: ReportData, knowledge: Knowledge = named, language = 'en'): Spoken =>
  speak(createSpeaker(language, knowledge), data, fetchedOf(data));

describe('what the element says', () => {
  it('says of an adaptive run that it was computed, of a report when its sources were read, and of none that it is live', () => {
    const noteOf = (language: string, kind: ReportData['kind'], ...times: readonly string[]): string =>
      createSpeaker(language, nothing).texts.dataNote(kind, times);
    for (const { kind } of examples)
      for (const [language, read, computed] of [
        [
          'en',
          /^Read from the systems that own it, on noon\./,
          /computed this from the scores that the test system holds/,
        ],
        ['de', /^Am noon bei den Systemen gelesen/, /aus den Bewertungen berechnet, die das Testsystem hat/],
      ] as const) {
        const note = noteOf(language, kind, 'noon');
        expect(note).toMatch(kind === 'run' ? computed : read);
        expect(note).not.toMatch(/\blive\b|this view|diese Ansicht/i);
        if (kind === 'run') expect(note).not.toMatch(/\bread\b|gelesen/i);
      }
    expect(noteOf('en', 'class', 'noon', 'night')).toMatch(/^Read .*, between noon and night\./);
    expect(noteOf('de', 'class', 'noon', 'night')).toMatch(/^Zwischen noon und night bei/);
    expect(noteOf('en', 'class')).toMatch(/^Read from the systems that own it\./);
    expect(noteOf('de', 'class')).toMatch(/^Bei den Systemen gelesen/);
  });

  it('has the verdict first, with achieved and required in one place', () => {
    const { verdict, facts } = say({ kind: 'attempt', report: gate });
    expect(verdict).toEqual({ tone: 'bad', text: 'Ben has not passed yet: 1 gap.' });
    expect(facts).toEqual([
      '0.7 achieved, 0.8 required (the report does not name the unit of this figure).',
      'Last item scored on 14 January 2026.',
    ]);
    expect(say({ kind: 'attempt', report: gate }, named, 'de').verdict.text).toBe(
      'Ben hat noch nicht bestanden: 1 Lücke.',
    );
  });

  it('names the unit of a gate only where the score is the same figure', () => {
    const { score, gate: decision } = gate;
    const same = {
      ...gate,
      score: { ...score, value: 14 },
      gate: { ...decision!, achieved: 14, required: 16 },
    };
    expect(say({ kind: 'attempt', report: same }).facts[0]).toBe('14 achieved, 16 required (points).');
  });

  it('says what an undecided gate lacks', () => {
    const open = (facts: object) =>
      say({
        kind: 'attempt',
        report: { ...gate, gate: { ...gate.gate!, status: 'indeterminate', ...facts } },
      }).facts;
    expect(open({ achieved: null })[1]).toMatch(/no valid measurement/);
    expect(open({ coverageEvidenceId: null })[1]).toMatch(/covers its blueprint is missing/);
    expect(open({})[1]).toMatch(/does not say which/);
    // Neither a new attempt nor the evidence alone settles what lacks both.
    const both = open({ achieved: null, coverageEvidenceId: null }).join(' ');
    expect(both).toMatch(/can supply one\. The evidence that the test covers its blueprint is missing/);
    expect(both).not.toMatch(/settle/);
  });

  it('orders gaps by what builds on what, and says so only if it is known', () => {
    const [whole, mastered, gap] = diagnostic.mastery as [
      (typeof gate.mastery)[0],
      (typeof gate.mastery)[0],
      (typeof gate.mastery)[0],
    ];
    const two = { ...diagnostic, mastery: [{ ...mastered, state: 'gap' }, gap] };
    const stepsWith = (precedes: Knowledge['precedes']) =>
      JSON.stringify(say({ kind: 'attempt', report: two }, { ...named, precedes }).teacher[0]);
    expect(stepsWith([])).toMatch(/No order is known.*Find a common denominator.*Borrow one/);
    expect(stepsWith([[gap.caseGuid, mastered.caseGuid]])).toMatch(
      /what builds on what.*Borrow one.*Find a common denominator.*First: Borrow one/,
    );
    // What comes before is named in the same order, however the pairs are.
    const three = { ...two, mastery: [{ ...whole, state: 'gap' }, ...two.mastery] };
    const pairs = [
      [mastered.caseGuid, whole.caseGuid],
      [gap.caseGuid, whole.caseGuid],
      [gap.caseGuid, mastered.caseGuid],
    ] as const;
    const spoken = say({ kind: 'attempt', report: three }, { ...named, precedes: pairs });
    expect(JSON.stringify(spoken.teacher[0])).toMatch(/First: Borrow one[^"]*Find a common denominator/);
  });

  it('says of each open state what would settle it, and that it is no failure', () => {
    expect(JSON.stringify(say({ kind: 'attempt', report: diagnostic }).teacher)).toMatch(
      /Not settled yet.*Subtract fractions and mixed numbers.*Not a failure.*More scored items/,
    );
  });

  it('calls a run good only if every component is mastered, and provisional without its anchor', () => {
    const [one] = advancedRun.kcClassifications;
    const spoken = (classifications: readonly string[], scaleReportability = 'reportable'): Spoken =>
      say({
        kind: 'run',
        run: {
          ...advancedRun,
          status: 'completed',
          stopReason: 'max_items',
          scaleReportability,
          kcClassifications: classifications.map((classification) => ({ ...one, classification })),
        },
      });
    expect(spoken(['mastered', 'mastered']).verdict.tone).toBe('good');
    for (const rest of [[], ['mastered', 'of_a_later_version'], ['mastered', 'not_yet']])
      expect(spoken(rest).verdict.tone).toBe('open');
    expect(spoken(['mastered'], 'anchor_unavailable').facts.join()).toMatch(/Provisional/);
    expect(spoken(['mastered']).facts.join()).not.toMatch(/Provisional/);
  });

  it('does not call forms interchangeable that cover or demand other things', () => {
    const verdictOf = (change: object) =>
      say({ kind: 'equivalence', equivalence: { ...equivalentForms, ...change } }).verdict;
    expect(verdictOf({}).tone).toBe('good');
    for (const change of [{ coverageMatch: false }, { dokMatch: false }]) {
      expect(verdictOf(change).tone).toBe('open');
      expect(verdictOf(change).text).not.toMatch(/does not matter/);
    }
  });

  it('draws no margin of an unknown kind, and gives no reason for an unknown suppression', () => {
    const bandsOf = (uncertaintyKind: string) => {
      const rows = diagnostic.mastery.map((row) => ({
        ...row,
        estimate: 40,
        threshold: 80,
        confidence: null,
        uncertaintyKind,
      }));
      return JSON.stringify(say({ kind: 'attempt', report: { ...diagnostic, mastery: rows } }).sure.slice(1));
    };
    const drawn = (kind: string) => [
      bandsOf(kind).includes('"band"'),
      bandsOf(kind).includes('margin (blue)'),
    ];
    expect(['policy_margin', 'unknown', 'of_a_later_version'].map(drawn)).toEqual([
      [true, true],
      [false, false],
      [false, false],
    ]);
    const figuresOf = (status: string): string =>
      JSON.stringify(
        say({
          kind: 'cohort',
          cohort: {
            ...classCohort,
            measures: undefined,
            suppression: { ...classCohort.suppression, status },
          },
        }).teacher,
      );
    expect(figuresOf('suppressed')).toMatch(/nothing can be concluded about single learners/);
    for (const status of ['unknown', 'of_a_later_version'])
      expect(figuresOf(status)).toMatch(/It is not known whether the figures/);
  });

  it('takes an unknown state for none of the known ones', () => {
    const later = { ...gate, mastery: gate.mastery.map((row) => ({ ...row, state: 'nearly_there' })) };
    const spoken = say({ kind: 'attempt', report: later });
    expect(spoken.verdict.text).toContain('1 in an unknown state');
    expect(textsOf(spoken).join()).not.toContain('nearly');
  });

  it('teaches a gap that only the decision lists, with or without a row of its own', () => {
    const spoken = say({ kind: 'attempt', report: { ...gate, mastery: [] } }, nothing);
    expect(JSON.stringify(spoken.teacher)).toMatch(/Further gap 1.*says nothing else about it/);
    const open = gate.mastery.map((row) => ({ ...row, state: 'not_yet' }));
    const [next] = say({ kind: 'attempt', report: { ...gate, mastery: open } }).teacher;
    expect(JSON.stringify(next)).toMatch(
      /Add fractions with unlike denominators.*lists it as a gap; its own row says: not settled\./,
    );
  });

  it('keeps a standard and a component of one id apart, and names the standard where only the id is given', () => {
    const [row] = gate.mastery;
    const [standard, component] = ['standard', 'knowledge_component'].map((kind) => ({ ...row!, kind }));
    const rowsOf = (state: string) => [
      { ...standard!, state },
      { ...component!, state },
    ];
    const nextOf = (state: string) =>
      say(
        { kind: 'attempt', report: { ...gate, mastery: rowsOf(state) } },
        nothing,
      ).teacher[0]?.blocks.flatMap((block) =>
        block.kind === 'entries' ? block.entries.map(({ name }) => name) : [],
      );
    expect(nextOf('gap')).toEqual(['Standard 1', 'Component 1']);
    expect(nextOf('not_yet')).toEqual(['Standard 1']);
  });

  it('does not say that there is no gap where nothing was measured', () => {
    const nextOf = (mastery: AttemptReport['mastery']): string =>
      JSON.stringify(
        say({ kind: 'attempt', report: { ...gate, gate: { ...gate.gate!, gapCaseGuids: [] }, mastery } })
          .teacher[0],
      );
    expect(nextOf([])).toMatch(/nothing is known about gaps/);
    expect(nextOf(gate.mastery.map((row) => ({ ...row, state: 'mastered' })))).toMatch(/No gap was found/);
  });

  it('counts an item once, however many outcomes it has', () => {
    const evidence = gate.mastery[0]!.evidence!;
    const twice = gate.mastery.map((row) => ({ ...row, evidence: [evidence[0]!, evidence[0]!] }));
    expect(JSON.stringify(say({ kind: 'attempt', report: { ...gate, mastery: twice } }).teacher)).toContain(
      'Decided by the answers to: 1 item without a name here',
    );
  });

  it.each(['en', 'de', 'de-AT', 'fr', 'x-!!'])(
    'shows no id and no value of an enumeration to teachers: %s',
    (language) => {
      for (const knowledge of [nothing, named])
        for (const example of examples) {
          const spoken = say(example, knowledge, language);
          for (const text of textsOf(spoken)) {
            expect(text).not.toMatch(/[a-z]_[a-z]|[0-9a-f]{8}-|sandbox|\d\.\d{4}|undefined|null|NaN/);
          }
          // The auditors' layer has them.
          expect(JSON.stringify(spoken.audit)).toMatch(/id/i);
        }
    },
  );

  it('shows no text of an answer but its sentences, whatever ids and later values it holds', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...examples),
        fc.array(fc.stringMatching(/^[a-z]{5,9}$/), { minLength: 60, maxLength: 60 }),
        (example, words) => {
          let count = 0;
          const used: string[] = [];
          const token = (): string => {
            const one = `Q${words[count % words.length] ?? ''}${(count += 1)}Z`;
            used.push(one);
            return one;
          };
          const { kind, ...content } = example;
          // SAFETY: only values of texts differ, and the element has to bear any.
          const data = { ...(strange(content, token) as object), kind } as ReportData;
          const shown = textsOf(say(data.kind === 'class' ? { ...example } : data, nothing)).join('\n');
          expect(used.filter((one) => shown.includes(one))).toEqual([]);
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('a figure', () => {
  const textOf = (spoken: unknown): string => JSON.stringify(spoken);
  const { numbers, probability, percent } = createSpeaker('en', nothing);

  it('is not rounded to what it is compared with', () => {
    expect(numbers([59.96, 60])).toEqual(['59.96', '60']);
    expect(numbers([0.1 + 0.2, 0.3])).toEqual(['0.3', '0.3']);
    expect(numbers([60, 60, 512.44])).toEqual(['60', '60', '512.4']);
    expect([0.995, 0.9949, 0.005, 0.0049, 1, 0].map((share) => probability(share))).toEqual([
      '>99 %',
      '99 %',
      '1 %',
      '<1 %',
      '100 %',
      '0 %',
    ]);
    expect(percent(0.9999999)).toBe('99.99999 %');
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 10_000 }),
        fc.array(fc.integer({ min: 0, max: 10_000 })),
        (at, limits) => {
          const shown = probability(
            at / 10_000,
            limits.map((limit) => limit / 10_000),
          );
          if (/[<>]/.test(shown)) return;
          for (const limit of limits)
            expect(Math.sign(Math.round(parseFloat(shown) * 100) - limit)).toBe(Math.sign(at - limit));
        },
      ),
    );
  });

  it('does not contradict the decision beside it: of a gate, a component, a run, forms, a cohort and a change', () => {
    const failed = {
      ...gate,
      score: { ...gate.score, value: 59.96, maximum: 100 },
      gate: { ...gate.gate!, achieved: 59.96, required: 60 },
    };
    const spoken = say({ kind: 'attempt', report: failed });
    expect(spoken.facts[0]).toBe('59.96 achieved, 60 required (points).');
    expect(textOf(spoken.sure)).toContain('Score: 59.96 of 100 points.');
    const rowsOf = (change: object) =>
      textOf(
        say({
          kind: 'attempt',
          report: { ...diagnostic, mastery: diagnostic.mastery.map((row) => ({ ...row, ...change })) },
        }).sure,
      );
    const close = { kind: 'knowledge_component', estimate: 0.796, threshold: 0.5, confidence: 0.8 };
    expect(rowsOf(close)).toContain('probability of mastery 79.6 %');
    expect(rowsOf({ estimate: 59.96, threshold: 60, confidence: null })).toMatch(
      /estimate 59\.96 .*threshold 60"/,
    );
    const [one] = advancedRun.kcClassifications;
    const run = {
      ...advancedRun,
      kcClassifications: [{ ...one, posteriorProbability: 0.7951, confidenceThreshold: 0.8 }],
    };
    expect(textOf(say({ kind: 'run', run }).sure)).toContain('probability of mastery 79.5 %');
    const study = { statistic: 1, confidenceInterval: { lower: 0, upper: 5.002 }, tolerance: 5 };
    expect(textOf(say({ kind: 'equivalence', equivalence: { ...equivalentForms, ...study } }).sure)).toMatch(
      /to 5\.002\..*as alike is 5,/,
    );
    const measures = [{ name: 'pass_rate', value: 0.99996, unit: 'proportion' }];
    const cohort = say({ kind: 'cohort', cohort: { ...classCohort, measures } });
    expect(textOf(cohort.teacher)).toContain('99.996 %');
    expect(textOf(cohort)).not.toMatch(/exactly/);
  });

  it('of an estimate that is no probability is not called one', () => {
    for (const [estimate, threshold] of [
      [512, 500],
      [0.4, 500],
    ]) {
      const rows = diagnostic.mastery.map((row) => ({
        ...row,
        estimate: estimate!,
        threshold: threshold!,
        confidence: 0.8,
      }));
      const sure = textOf(say({ kind: 'attempt', report: { ...diagnostic, mastery: rows } }).sure);
      expect(sure).toContain('threshold 500');
      expect(sure).not.toMatch(/probability of|mastered from/);
    }
  });

  it('on a scale without ends has an axis that is not said to be that of every learner', () => {
    const scoreOf = (change: object, scales: Knowledge['scales'] = {}) => {
      const score = { ...gate.score, unit: 'mastery_scale', minimum: null, maximum: null, ...change };
      return textOf(say({ kind: 'attempt', report: { ...gate, score } }, { ...named, scales }).sure[0]);
    };
    expect(scoreOf({ value: 512 })).toMatch(
      /states no ends; this axis runs from 0 to 1,000, that of another score may not/,
    );
    expect(scoreOf({ value: 0 })).toMatch(/from 0 to 1,/);
    // Neither a scale of one point nor ends the wrong way round make an axis.
    expect(scoreOf({ value: 5, minimum: 5, maximum: 5 })).not.toMatch(/axis/i);
    expect(scoreOf({ value: 512, scaleVersion: 's' }, { s: { low: 800, high: 200 } })).toMatch(
      /states no ends/,
    );
  });
});

describe('what only some data support', () => {
  it('names the grade of a cohort, with or without the name of its school', () => {
    const verdictOf = (grade: string, names = {}, language = 'en') =>
      say(
        {
          kind: 'cohort',
          cohort: { ...schoolGradeCohort, scope: { ...schoolGradeCohort.scope, grade } },
        },
        { ...nothing, names },
        language,
      ).verdict.text;
    expect(verdictOf('05', { 'school-north': 'North' })).toMatch(/^North, grade 5: \d+ learners/);
    expect(verdictOf('KG', {}, 'de')).toMatch(/^Diese Schule, Kindergarten: /);
    expect(verdictOf('of a later version')).toMatch(/^This school, a grade that this page does not know: /);
  });

  it('has no zone of what counts as alike, and no advice that a decision does not give', () => {
    const spokenOf = (change: object) =>
      say({ kind: 'equivalence', equivalence: { ...equivalentForms, ...change } });
    expect(JSON.stringify(spokenOf({}).sure)).toContain('"zones":[]');
    for (const decision of ['unknown', 'of_a_later_version'])
      expect(spokenOf({ decision }).facts.join()).toMatch(/^Ask the owner of the analysis/);
    expect(spokenOf({ coverageMatch: false }).facts.join()).not.toMatch(/study/);
    expect(spokenOf({ decision: 'insufficient_evidence' }).facts.join()).toMatch(/more evidence/);
  });

  it('does not deny the score of a test that is not adaptive', () => {
    const score = { ...gate.score, unit: 'mastery_scale' };
    const data = [{ ...gate, score }];
    const page = { data, nextCursor: null, hasMore: false, observedAt: gate.observedAt, sources: [] };
    expect(say({ kind: 'history', page }).facts.join(' ')).toMatch(
      /No report on this page has a score with a standard error/,
    );
  });

  it('has no capital within a sentence for a learner without a name', () => {
    const verdictOf = (status: string, language: string) =>
      say({ kind: 'attempt', report: { ...gate, gate: { ...gate.gate!, status } } }, nothing, language)
        .verdict.text;
    expect(verdictOf('indeterminate', 'en')).toMatch(/^Whether this learner has passed/);
    expect(verdictOf('unknown', 'de')).toMatch(/über diese Person nicht/);
    expect(verdictOf('fail', 'en')).toMatch(/^This learner has not/);
    const page = { data: [], nextCursor: null, hasMore: false, observedAt: gate.observedAt, sources: [] };
    expect(say({ kind: 'history', page }, nothing).verdict.text).toBe(
      'There is no report about this learner yet.',
    );
  });

  it('is stamped with the first and the last time of its readings', () => {
    const at = (observedAt: string) => ({ state: 'done', report: { ...gate, observedAt } }) as const;
    const fetched = new Map([
      ['a', at('2026-05-01T09:00:00Z')],
      ['b', at('2026-05-01T08:00:00.5Z')],
      ['c', at('2026-05-01T08:00:00Z')],
    ]);
    const data: ReportData = {
      kind: 'class',
      learners: ['a', 'b', 'c'],
      reportOf: () => Promise.resolve(gate),
    };
    expect(readAt(data, fetched)).toEqual(['2026-05-01T08:00:00Z', '2026-05-01T09:00:00Z']);
    expect(readAt(data, new Map())).toEqual([]);
  });
});

describe('the part for auditors', () => {
  const cellsOf = (answer: object): readonly (readonly string[])[] =>
    auditSections(createSpeaker('en', nothing), answer).flatMap(({ blocks }) =>
      blocks.flatMap((block) =>
        block.kind === 'table' ? block.table.rows.map((row) => row.map(({ text }) => text)) : [],
      ),
    );

  it('has values as in the JSON, and tells null, absent and empty apart', () => {
    expect(
      cellsOf({ a: 0.123456789, b: null, c: [], d: {}, e: '', f: 'null', g: 'text', h: ['x', null] }),
    ).toEqual([
      ['a', '0.123456789'],
      ['b', 'null'],
      ['c', '[]'],
      ['d', '{}'],
      ['e', '""'],
      ['f', '"null"'],
      ['g', 'text'],
      ['h', '["x",null]'],
    ]);
    expect(
      cellsOf({
        rows: [
          { id: 'one', more: [] },
          { id: 'two', list: [{}, {}] },
        ],
      }),
    ).toEqual([
      ['one', '[]', '(not in the answer)'],
      ['two', '(not in the answer)', '(2 entries, not shown here)'],
    ]);
  });

  it('cuts nothing off a long list', () => {
    const rows = Array.from({ length: 5000 }, (_, at) => ({ at }));
    expect(cellsOf({ rows })).toHaveLength(5000);
    expect(cellsOf({ ids: rows.map(String) })).toHaveLength(5000);
  });
});

describe('the rule of a state', () => {
  it('is one sentence for reports and runs', () => {
    const speaker = createSpeaker('en', nothing);
    expect(ruleText(speaker, { cutScore: 0.5, confidence: 0.8 })).toBe(
      'mastered from 80 %, gap up to 20 %, between: not settled',
    );
    expect(JSON.stringify(say({ kind: 'run', run: advancedRun }).sure)).toContain(
      ruleText(speaker, {
        cutScore: advancedRun.kcClassifications[0].cutScore,
        confidence: advancedRun.kcClassifications[0].confidenceThreshold,
      }),
    );
    const [row] = diagnostic.mastery;
    const withRule = {
      ...diagnostic,
      mastery: [{ ...row!, kind: 'knowledge_component', threshold: 0.5, confidence: 0.8 }],
    };
    expect(JSON.stringify(say({ kind: 'attempt', report: withRule }).sure)).toContain(
      'mastered from 80 %, gap up to 20 %',
    );
  });

  it('leaves the decision to the policy where the report gives no confidence', () => {
    const rows = diagnostic.mastery.map((row) => ({ ...row, confidence: null }));
    const text = JSON.stringify(say({ kind: 'attempt', report: { ...diagnostic, mastery: rows } }).sure);
    expect(text).toContain('The policy decides the state, which does not follow from these figures alone.');
    expect(text).not.toMatch(/mastered from/);
  });

  it('agrees with the classification of the engine for every probability [MA-197]', () => {
    const share = fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100);
    fc.assert(
      fc.property(share, share, share, (p, cutScore, confidence) => {
        const zones = zonesOf({ cutScore, confidence });
        const isMastered = p >= cutScore && p >= confidence;
        const isGap = p < cutScore && Math.round((1 - p) * 1e12) / 1e12 >= confidence;
        expect(p >= zones.mastered).toBe(isMastered);
        // The end of the gap zone belongs to it unless it is the cut itself.
        if (p !== zones.gap) expect(p < zones.gap).toBe(isGap);
      }),
    );
  });

  it('counts in words and leaves out what there is none of', () => {
    const speaker = createSpeaker('en', nothing);
    const rows = ['gap', 'gap', 'mastered', 'not_yet', 'insufficient_evidence'].map((state) => ({ state }));
    expect(countsOf(speaker, rows)).toBe('2 gaps, 1 mastered, 2 not settled');
    expect(countsOf(speaker, [])).toBe('');
  });
});

describe('a change of a score', () => {
  const at = (
    day: string,
    scaleScore: number,
    standardError: number,
    id: string,
    scale = 'one',
  ): AttemptReport => ({
    ...diagnostic,
    attemptId: id,
    diagnostic: { ...diagnostic.diagnostic!, scaleScore, standardError, scaleVersion: scale },
    mastery: diagnostic.mastery.map((row) => ({
      ...row,
      evidence: row.evidence?.map((one) => ({ ...one, observedAt: `${day}T09:00:00Z` })),
    })),
  });
  const history = (...reports: readonly AttemptReport[]) =>
    say({
      kind: 'history',
      page: { data: reports, nextCursor: null, hasMore: false, observedAt: gate.observedAt, sources: [] },
      details: reports,
    });

  it('is called one only beyond twice the errors of both', () => {
    expect(compareScores({ value: 500, error: 3 }, { value: 510, error: 4 })).toEqual({
      by: 10,
      least: 10,
      change: 'none',
    });
    expect(compareScores({ value: 500, error: 3 }, { value: 511, error: 4 }).change).toBe('rose');
    expect(compareScores({ value: 511, error: 3 }, { value: 500, error: 4 }).change).toBe('fell');
  });

  it('is not rounded to what chance explains', () => {
    expect(history(at('2026-03-12', 500, 3, 'a'), at('2026-11-20', 510.04, 4, 'b')).verdict.text).toMatch(
      /rose by 10\.04: more than chance explains, which is up to 10\.$/,
    );
  });

  it('is told from the earliest to the latest test, in whatever order the page has them', () => {
    expect(history(at('2026-11-20', 526, 3, 'b'), at('2026-03-12', 512, 4, 'a')).verdict.text).toBe(
      'From 12 March 2026 to 20 November 2026 the score rose by 14: more than chance explains, which is up to 10.',
    );
    expect(history(at('2026-11-20', 518, 3, 'b'), at('2026-03-12', 512, 4, 'a')).verdict.text).toMatch(
      /: no change that can be told from chance\./,
    );
  });

  it('is not called one across calibrations, or without an error', () => {
    const [spring, autumn] = [at('2026-03-12', 500, 3, 'a'), at('2026-11-20', 600, 3, 'b')];
    const elsewhere = { ...autumn, diagnostic: { ...autumn.diagnostic!, calibrationVersion: 'another' } };
    for (const verdict of [
      history(spring, elsewhere).verdict,
      history(at('2026-03-12', 500, 0, 'a'), at('2026-11-20', 600, 0, 'b')).verdict,
    ]) {
      expect(verdict.tone).toBe('open');
      expect(verdict.text).toMatch(/is not called a change\.$/);
    }
  });

  it('is told within one scale alone', () => {
    const spoken = history(at('2026-11-20', 900, 3, 'b', 'two'), at('2026-03-12', 512, 4, 'a'));
    expect(textsOf(spoken).join(' ')).not.toMatch(/rose|fell|no change/);
    expect(spoken.teacher.filter(({ heading }) => heading.startsWith('Scores over time'))).toHaveLength(2);
  });

  it('is not told where the days are not given', () => {
    const spoken = say({
      kind: 'history',
      page: {
        data: [at('2026-11-20', 900, 3, 'b')],
        nextCursor: null,
        hasMore: true,
        observedAt: gate.observedAt,
        sources: [],
      },
    });
    expect(spoken.facts.join(' ')).toMatch(/days of the tests are not given.*further reports/);
  });
});

describe('a class', () => {
  const say8 = (
    states: Readonly<Record<string, 'waiting' | 'failed' | AttemptReport | undefined>>,
  ): Spoken => {
    const learners = Object.keys(states);
    const fetched = new Map(
      Object.entries(states).map(([id, one]) => [
        id,
        one === 'waiting'
          ? ({ state: 'waiting' } as const)
          : one === 'failed'
            ? ({ state: 'failed', error: new Error('x') } as const)
            : ({ state: 'done', report: one } as const),
      ]),
    );
    const data: ReportData = { kind: 'class', learners, reportOf: () => Promise.resolve(undefined) };
    const names = { ...standardNames, a: 'Ada', b: 'Ben', c: 'Cleo', d: 'Dana' };
    return speak(createSpeaker('en', { ...named, learner: undefined, names }), data, fetched);
  };

  it('is grouped by shared gap, and names who is missing and why', () => {
    const spoken = say8({ a: gate, b: gate, c: 'failed', d: undefined });
    expect(spoken.verdict.text).toBe('2 learners share the gap: Add fractions with unlike denominators.');
    expect(spoken.facts.join(' ')).toMatch(/nothing about: Cleo\. 1 learner without a report: Dana/);
    expect(JSON.stringify(spoken.teacher)).toContain('2 learners: Ada, Ben');
  });

  it('does not say that no gap is shared where reports are missing', () => {
    const noGap = {
      ...gate,
      gate: null,
      mastery: gate.mastery.map((row) => ({ ...row, state: 'mastered' })),
    };
    expect(say8({ a: noGap, b: noGap }).verdict.text).toBe('No gap is known that two learners share.');
    for (const missing of ['failed', undefined, { ...noGap, omitted: ['mastery'] }] as const) {
      const spoken = say8({ a: noGap, b: noGap, c: missing });
      expect(spoken.verdict.text).toBe(
        'No gap is known to be shared: 2 reports of the class can be compared.',
      );
      expect(JSON.stringify(spoken.teacher)).not.toContain('No gap is known that two');
    }
    expect(JSON.stringify(say8({ a: noGap, b: 'waiting' }).teacher)).not.toContain('No gap');
  });

  it('says how far it is while it loads, and nothing final', () => {
    expect(say8({ a: gate, b: 'failed', c: 'waiting' }).verdict).toEqual({
      tone: 'open',
      text: '1 of 3 reports is still being loaded.',
    });
  });

  it('counts the gaps that only a decision lists', () => {
    const open = { ...gate, mastery: gate.mastery.map((row) => ({ ...row, state: 'not_yet' })) };
    const spoken = say8({ a: { ...gate, mastery: [] }, b: gate, c: open });
    expect(spoken.verdict.text).toBe('3 learners share the gap: Add fractions with unlike denominators.');
    expect(JSON.stringify(spoken.teacher[1]).match(/gap, says the decision/g)).toHaveLength(4);
    // The state of the learner's own row stays to be read.
    expect(JSON.stringify(spoken.teacher[1])).toContain('not settled; gap, says the decision');
    // Once on the page, once in the file: without a row of anybody, too.
    const alone = say8({ a: { ...gate, mastery: [] }, b: { ...gate, mastery: [] } });
    expect(alone.verdict.text).toBe('2 learners share the gap: Add fractions with unlike denominators.');
  });

  it('has a learner once who is listed twice', () => {
    const data: ReportData = {
      kind: 'class',
      learners: ['a', 'a'],
      reportOf: () => Promise.resolve(undefined),
    };
    const spoken = speak(createSpeaker('en', named), data, new Map());
    expect(spoken.facts[0]).toBe('A class of 1 learner.');
  });

  it('does not say that the columns left out have fewer gaps', () => {
    const mastery = Array.from({ length: 25 }, (_, at) => ({ ...gate.mastery[0]!, caseGuid: `guid-${at}` }));
    expect(JSON.stringify(say8({ a: { ...gate, gate: null, mastery } }).teacher)).toContain(
      '1 further column has no more gaps than these and is not drawn; the file has it.',
    );
  });
});

describe('the order of what builds on what', () => {
  it('puts nothing before what precedes it, loses nothing, and bears circles', () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const id = fc.constantFrom(...ids);
    fc.assert(
      fc.property(fc.array(fc.tuple(id, id)), fc.shuffledSubarray(ids), (pairs, wanted) => {
        const order = orderOf(wanted, pairs);
        expect(order.ids.toSorted()).toEqual(wanted.toSorted());
        // Warshall: which id comes before which, through whatever others.
        const reaches = new Set(pairs.map(String));
        for (const by of ids)
          for (const from of ids)
            for (const to of ids)
              if (reaches.has(String([from, by])) && reaches.has(String([by, to])))
                reaches.add(String([from, to]));
        for (const one of wanted) {
          for (const other of wanted) {
            const isBefore = reaches.has(String([one, other])) && !reaches.has(String([other, one]));
            if (isBefore) expect(order.ids.indexOf(one)).toBeLessThan(order.ids.indexOf(other));
            if (order.before(other).includes(one)) expect(isBefore).toBe(true);
          }
        }
      }),
    );
    expect(orderOf(['c', 'a', 'b'], []).ids).toEqual(['c', 'a', 'b']);
  });

  it('goes through what is no gap, and leaves a circle as it came', () => {
    const chain = orderOf(
      ['c', 'a'],
      [
        ['a', 'mastered'],
        ['mastered', 'c'],
      ],
    );
    expect([chain.ids, chain.before('c'), chain.before('a')]).toEqual([['a', 'c'], ['a'], []]);
    const circle = orderOf(
      ['b', 'a', 'p'],
      [
        ['a', 'b'],
        ['b', 'a'],
        ['p', 'a'],
      ],
    );
    expect([circle.ids, circle.before('b'), circle.before('a')]).toEqual([['p', 'b', 'a'], ['p'], ['p']]);
    const long = Array.from({ length: 5000 }, (_, at) => String(at));
    const pairs = long.slice(1).map((id, at) => [id, String(at)] as const);
    expect(orderOf(long, pairs).ids).toEqual(long.toReversed());
  });
});

describe('a failure', () => {
  const fail = (error: unknown) => speakFailure(createSpeaker('en', nothing), error);
  it.each([
    ['not-found', 404, 'Nothing is here for you'],
    ['dependency-incomplete', 503, 'The facts are not complete'],
    ['dependency-unavailable', 503, 'Not available now'],
    ['authentication-required', 401, 'You are not signed in'],
    ['a-later-problem', 503, 'Something went wrong in the service'],
    ['a-later-problem', 418, 'This page asked for something wrong'],
  ])('says in words what it means: %s', (code, status, title) => {
    const problem = { type: `https://docs.example/problems/${code}`, status, title: 'T', retryable: false };
    const { audit, ...spoken } = fail(Object.assign(new Error(), { problem }));
    expect(spoken.title).toBe(title);
    expect(JSON.stringify(spoken)).not.toContain(code);
    expect(JSON.stringify(audit)).toContain(code);
  });

  it('takes any other error for a missing answer', () => {
    expect(fail(new TypeError('fetch failed')).title).toBe('No answer arrived');
    expect(fail(null).title).toBe('No answer arrived');
  });
});
