import { describe, expect, it } from 'vitest';
import { equivalenceReport } from '#shared/contract/reports/equivalence-report.ts';
import type { FormEquivalence } from '#shared/platform/owners/analytics.ts';
import type { FormEvidence } from '#shared/platform/owners/content.ts';
import { moment, observed, tenantId } from '#test/support/report-facts.ts';
import { shortfall, soundGate } from '#test/support/sound-attempt.ts';
import { composeEquivalence } from './equivalence.ts';

const versioned = { version: 'v1', freshness: 'current' as const };
const governed = { contentTestSpecId: 'spec-1', contentTestSpecVersion: 'c12' };

/** The facts on two forms that are equivalent. */
function facts(analysis: Partial<FormEquivalence> = {}, blueprint: Partial<FormEvidence> = {}) {
  return {
    form: observed('qti', 'form-1', { tenantId, qtiTestId: 'form-1', ...versioned, ...governed }),
    equivalence: observed('analytics', 'equivalence-1', {
      tenantId,
      equivalenceId: 'equivalence-1',
      ...versioned,
      qtiTestId: 'form-1',
      comparisonQtiTestIds: ['form-2'],
      ...governed,
      sampleSizes: { 'form-1': 240, 'form-2': 251 },
      method: 'anchored mean',
      analysisVersion: '3',
      statisticKind: 'difference',
      statistic: -0.2,
      confidenceInterval: { lower: -0.7, upper: 0.3 },
      tolerance: 0.5,
      decision: 'equivalent',
      evidenceArtifactUrl: 'https://analytics.example/studies/1',
      ...analysis,
    }),
    criteria: soundGate().criteria,
    formEvidence: observed('blueprint', 'evidence-1', {
      tenantId,
      testSpecId: 'spec-1',
      testSpecVersion: 'c12',
      formEvidenceId: 'evidence-1',
      ...versioned,
      qtiTestId: 'form-1',
      comparisonQtiTestIds: ['form-2'],
      coverageMatch: true,
      dokMatch: true,
      ...blueprint,
    }),
  };
}

/** What is shown of them. */
const shown = {
  object: 'equivalence_report',
  qtiTestId: 'form-1',
  comparisonQtiTestIds: ['form-2'],
  contentTestSpecId: 'spec-1',
  coverageMatch: true,
  dokMatch: true,
  sampleSizes: { 'form-1': 240, 'form-2': 251 },
  method: 'anchored mean',
  analysisVersion: '3',
  statistic: -0.2,
  confidenceInterval: { lower: -0.7, upper: 0.3 },
  tolerance: 0.5,
  decision: 'equivalent',
  evidenceArtifactUrl: 'https://analytics.example/studies/1',
  ...moment,
};
const noCoverage = { coverageMatch: false };
const noDepth = { dokMatch: false };
const limitedBy = (...words: readonly RegExp[]) => ({
  limitations: words.map((word) => expect.stringMatching(word) as unknown),
});

type Case = readonly [analysis: Partial<FormEquivalence>, blueprint: Partial<FormEvidence>, shown: object];

describe('an equivalence report', () => {
  const decided = (decision: string, shownAs = decision): Case => [{ decision }, {}, { decision: shownAs }];
  const none = { decision: 'insufficient_evidence', evidenceArtifactUrl: null };
  const neither = { ...noCoverage, ...noDepth };
  it.each(
    Object.entries<Case>({
      'shows the analysis as Analytics published it [RP-004, RP-121, RP-122, RP-123, RP-124]': [{}, {}, {}],
      'shows a statistic that is no difference beyond the tolerance [RP-124]': [
        { statisticKind: undefined, tolerance: 0.1 },
        {},
        { tolerance: 0.1 },
      ],
      'decides nothing that Analytics does not [RP-004, RP-125]': decided('not_equivalent'),
      'has no artifact beside insufficient evidence [RP-126]': [none, {}, none],
      'shows a decision that the contract does not name as unknown [RP-125]': decided('nearly', 'unknown'),
      'names the coverage that the blueprint says against equivalent forms [RP-122]': [
        {},
        noCoverage,
        { ...noCoverage, ...limitedBy(/cover/) },
      ],
      'names the depth that it says against them [RP-122]': [
        {},
        noDepth,
        { ...noDepth, ...limitedBy(/depth/) },
      ],
      'names both [RP-122]': [{}, neither, { ...neither, ...limitedBy(/cover/, /depth/) }],
      'needs no sentence on forms that nobody calls equivalent [RP-122]': [
        { decision: 'not_equivalent' },
        neither,
        { decision: 'not_equivalent', ...neither },
      ],
    }),
  )('%s', (_, [analysis, blueprint, expected]) => {
    const { form, equivalence, criteria, formEvidence } = facts(analysis, blueprint);
    const report = composeEquivalence({ form, equivalence, criteria, formEvidence }, moment);
    const sources = [form.receipt, equivalence.receipt, criteria.receipt, formEvidence.receipt];
    expect(report).toEqual({ ok: true, value: { ...shown, ...expected, sources } });
    if (report.ok) expect(equivalenceReport.parse(report.value)).toEqual(report.value);
  });

  it.each<[title: string, analysis: Partial<FormEquivalence>]>([
    ['a difference is larger than the tolerance', { tolerance: 0.1 }],
    ['the statistic lies outside its interval [RP-124]', { statistic: 0.4 }],
    ['a form has no sample size [RP-123]', { sampleSizes: { 'form-1': 240 } }],
    ['an unknown decision has no evidence [RP-126]', { decision: 'nearly', evidenceArtifactUrl: null }],
  ])('is a 503 of Analytics when %s', (_, analysis) => {
    expect(composeEquivalence(facts(analysis), moment)).toMatchObject(shortfall('analytics contradiction'));
  });

  it.each(['form', 'equivalence', 'criteria', 'formEvidence'] as const)(
    'is a 503 when its %s is not current [RP-087, RP-127]',
    (name) => {
      const all = facts();
      all[name].receipt.status = 'stale';
      expect(composeEquivalence(all, moment)).toMatchObject(shortfall(`${all[name].receipt.service} stale`));
    },
  );
});
