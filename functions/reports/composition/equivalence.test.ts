import { describe, expect, it } from 'vitest';
import { equivalenceReport } from '#shared/contract/reports/equivalence-report.ts';
import type { FormEquivalence } from '#shared/platform/owners/analytics.ts';
import type { FormEvidence } from '#shared/platform/owners/content.ts';
import { moment, observed, tenantId } from '#test/support/report-facts.ts';
import { soundGate } from '#test/support/sound-attempt.ts';
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

describe('an equivalence report', () => {
  it.each<
    [title: string, analysis: Partial<FormEquivalence>, blueprint: Partial<FormEvidence>, shown: object]
  >([
    ['shows the analysis as Analytics published it [RP-004, RP-121, RP-122, RP-123, RP-124]', {}, {}, {}],
    [
      'shows a statistic that is no difference beyond the tolerance [RP-124]',
      { statisticKind: undefined, tolerance: 0.1 },
      {},
      { tolerance: 0.1 },
    ],
    [
      'decides nothing that Analytics does not [RP-004, RP-125]',
      { decision: 'not_equivalent' },
      {},
      { decision: 'not_equivalent' },
    ],
    [
      'has no artifact beside insufficient evidence [RP-126]',
      { decision: 'insufficient_evidence', evidenceArtifactUrl: null },
      {},
      { decision: 'insufficient_evidence', evidenceArtifactUrl: null },
    ],
    [
      'shows a decision that the contract does not name as unknown [RP-125]',
      { decision: 'nearly' },
      {},
      { decision: 'unknown' },
    ],
    [
      'names the coverage that the blueprint says against equivalent forms [RP-122]',
      {},
      noCoverage,
      { ...noCoverage, ...limitedBy(/cover/) },
    ],
    [
      'names the depth that the blueprint says against equivalent forms [RP-122]',
      {},
      noDepth,
      { ...noDepth, ...limitedBy(/depth/) },
    ],
    [
      'names both [RP-122]',
      {},
      { ...noCoverage, ...noDepth },
      { ...noCoverage, ...noDepth, ...limitedBy(/cover/, /depth/) },
    ],
    [
      'needs no sentence on forms that nobody calls equivalent [RP-122]',
      { decision: 'not_equivalent' },
      { ...noCoverage, ...noDepth },
      { decision: 'not_equivalent', ...noCoverage, ...noDepth },
    ],
  ])('%s', (_, analysis, blueprint, expected) => {
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
    [
      'a decision that the contract does not name has no evidence [RP-126]',
      { decision: 'nearly', evidenceArtifactUrl: null },
    ],
  ])('is a 503 of Analytics when %s', (_, analysis) => {
    expect(composeEquivalence(facts(analysis), moment)).toMatchObject({
      ok: false,
      error: { status: 503, code: 'dependency-incomplete', dependency: 'analytics', reason: 'contradiction' },
    });
  });

  it.each(['form', 'equivalence', 'criteria', 'formEvidence'] as const)(
    'is a 503 when its %s is not current [RP-087, RP-127]',
    (name) => {
      const all = facts();
      const { receipt } = all[name];
      const outdated = {
        ...all,
        [name]: { ...all[name], receipt: { ...receipt, status: 'stale' as const } },
      };
      expect(composeEquivalence(outdated, moment)).toMatchObject({
        ok: false,
        error: { status: 503, code: 'dependency-incomplete', dependency: receipt.service, reason: 'stale' },
      });
    },
  );
});
