import fc from 'fast-check';
import type * as z from 'zod';
import { describe, expect, it } from 'vitest';
import { changed, expectForm } from '#test/support/changed.ts';
import {
  attemptReport,
  attemptReportPage,
  diagnosticDetail,
  gateDecision,
  masteryRow,
} from './attempt-report.ts';
import { cohortReport } from './cohort-report.ts';
import { equivalenceReport } from './equivalence-report.ts';
import * as examples from './examples.ts';
import { count, instant, proportion, reference } from './primitives.ts';
import { readinessEntry, readinessReport } from './readiness-report.ts';
import { listCandidateReports } from './routes.ts';
import { sourceRef } from './source-ref.ts';

const receipt = examples.failedGate.sources[0];

const diagnostic = {
  ...examples.failedGate,
  testKind: 'adaptive_diagnostic',
  gate: null,
  score: { value: 512, minimum: null, maximum: null, unit: 'mastery_scale', scaleVersion: 'scale-1' },
  diagnostic: {
    scaleScore: 512,
    scaleVersion: 'scale-1',
    calibrationVersion: 'calibration-2',
    standardError: 18.5,
    stoppingReason: 'max_items',
    administeredItemCount: 1,
    extNormsSet: null,
  },
};
const openCohort = examples.classCohort;
const passed = changed(
  changed(examples.failedGate, 'gate/status', 'pass'),
  'gate/gapCaseGuids',
  [],
) as typeof examples.failedGate;

/** Every character with the property White_Space of Unicode 17, and the byte order mark. */
const whiteSpace = [
  ...[0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff],
  ...Array.from({ length: 11 }, (_, at) => 0x2000 + at),
].map((code) => String.fromCharCode(code));

describe('values of the reports service', () => {
  it('takes as a reference what has 1 to 255 UTF-8 bytes and no white space, whatever it looks like [RP-049, RP-050]', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const bytes = Buffer.byteLength(text);
        const hasSpace = whiteSpace.some((space) => text.includes(space));
        const fits = bytes >= 1 && bytes <= 255 && !hasSpace && text.isWellFormed();
        expect(reference.safeParse(text).success).toBe(fits);
      }),
    );
    for (const space of whiteSpace)
      for (const text of [space, `a${space}`, `${space}a`, `a${space}b`])
        expect([text, reference.safeParse(text).success]).toEqual([text, false]);
    // Bytes count, not characters: random texts hardly ever come near the limit.
    for (const [longest, over] of [
      ['a'.repeat(255), 'a'.repeat(256)],
      [`${'é'.repeat(127)}z`, 'é'.repeat(128)],
      [`${'🦉'.repeat(63)}abc`, '🦉'.repeat(64)],
    ] as const)
      expect([reference.safeParse(longest).success, reference.safeParse(over).success]).toEqual([
        true,
        false,
      ]);
    expect(reference.parse('ID-ä/%2F')).toBe('ID-ä/%2F');
  });

  it('takes as a proportion a number from 0 to 1 of at most six fractional digits [RP-052]', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), (millionths) => {
        expect(proportion.safeParse(millionths / 1_000_000).success).toBe(true);
      }),
    );
    for (const value of [-0.1, 1.000001, 0.1234567, 1e-7, Number.NaN, Infinity, '0.5'])
      expect(proportion.safeParse(value).success).toBe(false);
  });

  it('takes as a count a whole number from 0 to 2147483647 [RP-053]', () => {
    for (const value of [0, 2_147_483_647]) expect(count.safeParse(value).success).toBe(true);
    for (const value of [-1, 2_147_483_648, 1.5, '3', null])
      expect(count.safeParse(value).success).toBe(false);
  });

  it('takes as an instant an existing UTC time with a terminal Z [RP-051]', () => {
    for (const text of [
      '2026-01-31T09:30:00Z',
      '2026-01-31T09:30:00.123456789Z',
      '2026-01-31T09:30:00.1234567891Z',
    ])
      expect(instant.safeParse(text).success).toBe(true);
    for (const text of [
      '2026-01-31T09:30:00+00:00',
      '2026-01-31T09:30:60Z',
      '2026-02-30T09:30:00Z',
      '2026-01-31T09:30:00z',
      '2026-01-31',
    ])
      expect(instant.safeParse(text).success).toBe(false);
  });
});

it('says of a limit that it refuses what it takes [RP-302]', () => {
  for (const limit of ['0', '101', '1e1', '']) {
    const { error } = listCandidateReports.request.query.safeParse({ limit });
    expect(error?.issues).toMatchObject([
      { path: ['limit'], message: 'must be a whole number from 1 to 100, in plain digits' },
    ]);
  }
});

it('takes the test kind `unknown` in no request [RP-060]', () => {
  const takes = (testKind: string): boolean =>
    listCandidateReports.request.query.safeParse({ testKind }).success;
  expect([takes('formative'), takes('unknown')]).toEqual([true, false]);
});

const samples = {
  report: [attemptReport, examples.failedGate],
  pass: [attemptReport, passed],
  diagnostic: [attemptReport, diagnostic],
  page: [attemptReportPage, examples.page],
  readiness: [readinessReport, examples.notReady],
  cohort: [cohortReport, openCohort],
  equivalence: [equivalenceReport, examples.equivalentForms],
  receipt: [sourceRef, receipt],
} as const satisfies Readonly<Record<string, readonly [z.ZodType, unknown]>>;

/** Members that have one of a few values. */
const closed = [
  'object',
  'testKind',
  'status',
  'score/unit',
  'service',
  'kind',
  'state',
  'uncertaintyKind',
  'stoppingReason',
  'decision',
  'dokDominance',
];

const { shape: report } = attemptReport;

describe('the response schemas, as the last look at an answer', () => {
  it.each<[string, keyof typeof samples, readonly string[], readonly string[]]>([
    [
      'RP-054, RP-059, RP-060, RP-061, RP-073, RP-080, RP-082, RP-088, RP-091, RP-092, RP-093, RP-094, RP-096, RP-098, RP-100, RP-101, RP-103, RP-340',
      'report',
      ['maximum', 'minimum', 'qtiSessionId', 'resultComponentId', 'version'],
      ['evidence'],
    ],
    ['RP-106, RP-107, RP-340', 'diagnostic', ['qtiSessionId', 'resultComponentId', 'version'], ['evidence']],
    ['RP-133', 'page', ['maximum', 'minimum', 'qtiSessionId', 'version'], []],
    ['RP-109, RP-111, RP-112, RP-113, RP-340', 'readiness', ['version'], []],
    ['RP-130, RP-340', 'cohort', ['version'], ['measures']],
    ['RP-121, RP-124, RP-125, RP-340', 'equivalence', ['version'], []],
    ['RP-084, RP-085, RP-086, RP-087', 'receipt', ['version'], []],
  ])('have their form in every place [%s]: %s', (_, name, nullable, optional) => {
    const [schema, value] = samples[name];
    expectForm(schema, value, { nullable, optional, closed });
  });

  it.each<[string, { readonly options: readonly string[] }, readonly string[]]>([
    ['testKind [RP-060]', report.testKind, ['mastery_gate', 'adaptive_diagnostic', 'formative', 'unknown']],
    ['status [RP-061]', report.status, ['scored', 'indeterminate', 'unknown']],
    ['unit [RP-082]', report.score.shape.unit, ['points', 'percent', 'mastery_scale', 'unknown']],
    [
      'state [RP-091]',
      masteryRow.shape.state,
      ['mastered', 'not_yet', 'gap', 'insufficient_evidence', 'unknown'],
    ],
    [
      'uncertaintyKind [RP-093]',
      masteryRow.shape.uncertaintyKind,
      ['standard_error', 'interval_half_width', 'policy_margin', 'unknown'],
    ],
    ['gate status [RP-100]', gateDecision.shape.status, ['pass', 'fail', 'indeterminate', 'unknown']],
    [
      'stoppingReason [RP-107]',
      diagnosticDetail.shape.stoppingReason,
      ['classifications_complete', 'precision_target_met', 'max_items', 'time_budget', 'unknown'],
    ],
    [
      'readiness decision [RP-111]',
      readinessEntry.shape.decision,
      ['projected_pass', 'not_ready', 'indeterminate', 'unknown'],
    ],
    [
      'dokDominance [RP-112]',
      readinessEntry.shape.dokDominance,
      ['satisfied', 'not_satisfied', 'indeterminate'],
    ],
    [
      'equivalence decision [RP-125]',
      equivalenceReport.shape.decision,
      ['equivalent', 'not_equivalent', 'insufficient_evidence', 'unknown'],
    ],
  ])('have the values of the specification, no more and no fewer: %s', (_, { options }, values) => {
    expect(options).toEqual(values);
  });

  it.each<[string, keyof typeof samples, string, unknown]>([
    ['a gate on another kind [RP-066]', 'report', 'testKind', 'formative'],
    ['a mastery gate without a gate [RP-066, RP-067]', 'report', 'gate', null],
    ['a diagnostic without its detail [RP-068]', 'diagnostic', 'diagnostic', null],
    ['a detail on another kind [RP-068]', 'diagnostic', 'testKind', 'formative'],
    ['no source [RP-069]', 'report', 'sources', []],
    ['33 sources [RP-069]', 'report', 'sources', Array.from({ length: 33 }, () => receipt)],
    ['an omission of its own [RP-070]', 'report', 'omitted', ['gate']],
    ['an omission twice [RP-070]', 'report', 'omitted', ['readiness', 'readiness']],
    ['an omitted section that is there [RP-065]', 'report', 'omitted', ['mastery', 'readiness']],
    ['a request id of 129 characters [RP-073]', 'report', 'requestId', 'x'.repeat(129)],
    ['a score above its maximum [RP-081]', 'report', 'score/value', 41],
    ['a score below its minimum [RP-081]', 'report', 'score/value', -1],
    ['a mastery scale without version [RP-083]', 'diagnostic', 'score/scaleVersion', null],
    ['a scale version of 129 characters [RP-083]', 'report', 'score/scaleVersion', 'x'.repeat(129)],
    ['a version of 256 characters [RP-086]', 'receipt', 'version', 'x'.repeat(256)],
    ['a negative uncertainty [RP-093]', 'report', 'mastery/0/uncertainty', -0.1],
    ['a policy version of 256 characters [RP-094]', 'report', 'mastery/0/policyVersion', 'x'.repeat(256)],
    ['a row with no evidence [RP-095]', 'report', 'mastery/0/evidence', []],
    [
      'a row with 501 pieces of evidence [RP-095]',
      'report',
      'mastery/0/evidence',
      Array.from({ length: 501 }, () => examples.failedGate.mastery[0]!.evidence![0]),
    ],
    [
      '5,001 rows [RP-064]',
      'report',
      'mastery',
      Array.from({ length: 5_001 }, (_, at) => ({
        ...examples.failedGate.mastery[0],
        caseGuid: `guid-${at}`,
      })),
    ],
    ['a decision without measurement [RP-102]', 'report', 'gate/achieved', null],
    ['a pass with a gap [RP-105]', 'pass', 'gate/gapCaseGuids', ['gap']],
    ['a fail without a gap [RP-105]', 'report', 'gate/gapCaseGuids', []],
    ['a gap twice [RP-105]', 'report', 'gate/gapCaseGuids', ['gap', 'gap']],
    ['a decision without coverage evidence [RP-011]', 'pass', 'gate/coverageEvidenceId', null],
    [
      'an unknown decision without coverage evidence [RP-011]',
      'pass',
      'gate',
      { ...passed.gate, status: 'unknown', coverageEvidenceId: null },
    ],
    ['no administered item [RP-106]', 'diagnostic', 'diagnostic/administeredItemCount', 0],
    ['a negative standard error [RP-106]', 'diagnostic', 'diagnostic/standardError', -1],
    ['a slot twice [RP-109]', 'readiness', 'entries/0/qualifyingBlueprintSlotIds', ['slot', 'slot']],
    ['readiness without entries [RP-110]', 'readiness', 'entries', []],
    [
      'two entries for one source [RP-110]',
      'readiness',
      'entries',
      [examples.notReady.entries[0], examples.notReady.entries[0]],
    ],
    ['51 limitations [RP-114]', 'readiness', 'entries/0/limitations', Array.from({ length: 51 }, () => 'x')],
    ['a limitation of 501 characters [RP-114]', 'readiness', 'entries/0/limitations', ['x'.repeat(501)]],
    ['a form without sample size [RP-123]', 'equivalence', 'comparisonQtiTestIds', ['form-fractions-5-c']],
    ['a sample size that is no count [RP-123]', 'equivalence', 'sampleSizes/form-fractions-5-b', 1.5],
    ['a sample size of no form [RP-123]', 'equivalence', 'sampleSizes/form-fractions-5-c', 40],
    ['a statistic above its interval [RP-124]', 'equivalence', 'statistic', 0.04],
    ['a statistic below its interval [RP-124]', 'equivalence', 'statistic', -0.009],
    ['a negative tolerance [RP-124]', 'equivalence', 'tolerance', -0.05],
    ['a decision without artifact [RP-126]', 'equivalence', 'evidenceArtifactUrl', null],
    ['an artifact without TLS [RP-126]', 'equivalence', 'evidenceArtifactUrl', 'http://platform.example/a'],
    ['a class scope without class [RP-129]', 'cohort', 'scope', { type: 'class' }],
    [
      'a grade that OneRoster does not know [RP-129]',
      'cohort',
      'scope',
      { type: 'school_grade', schoolSourcedId: 's', grade: '5' },
    ],
    ['values of a suppressed snapshot [RP-131]', 'cohort', 'suppression/status', 'suppressed'],
    ['101 rows [RP-133]', 'page', 'data', Array.from({ length: 101 }, () => examples.page.data[0])],
    ['a cursor of 2049 characters [RP-134]', 'page', 'nextCursor', 'x'.repeat(2049)],
    ['more without a cursor [RP-136]', 'page', 'hasMore', true],
    ['a page without receipts [RP-137]', 'page', 'sources', []],
  ])('refuses %s', (_, name, path, to) => {
    const [schema, value] = samples[name];
    expect(schema.safeParse(changed(value, path, to)).success).toBe(false);
  });

  it('takes two rows of one GUID only when they are of two kinds [RP-064]', () => {
    const [row] = examples.failedGate.mastery;
    const component = { ...row, kind: 'knowledge_component' };
    expect(attemptReport.safeParse({ ...examples.failedGate, mastery: [row, component] }).success).toBe(true);
    expect(attemptReport.safeParse({ ...examples.failedGate, mastery: [row, row] }).success).toBe(false);
  });

  it('takes no form compared twice, even with a sample size for every place in the list [RP-121]', () => {
    const { comparisonQtiTestIds: compared, sampleSizes } = examples.equivalentForms;
    const accepts = (form: string): boolean =>
      equivalenceReport.safeParse({
        ...examples.equivalentForms,
        comparisonQtiTestIds: [...compared, form],
        sampleSizes: { ...sampleSizes, further: 40 },
      }).success;
    expect([accepts('further'), accepts(compared[0]!)]).toEqual([true, false]);
  });

  it('takes a projected pass only with complete evidence [RP-116]', () => {
    const entry = { ...examples.notReady.entries[0], decision: 'projected_pass' };
    const accepts = (change: object): boolean =>
      readinessReport.safeParse({ ...examples.notReady, entries: [{ ...entry, ...change }] }).success;
    expect(accepts({})).toBe(true);
    expect(accepts({ coverageFraction: 0.999999 })).toBe(false);
    expect(accepts({ dokDominance: 'indeterminate' })).toBe(false);
    expect(accepts({ qualifyingBlueprintSlotIds: [] })).toBe(false);
  });
});
