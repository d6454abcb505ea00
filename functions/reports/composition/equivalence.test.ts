import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { equivalenceReport } from '#shared/contract/reports/equivalence-report.ts';
import { formEquivalence } from '#shared/platform/owners/analytics.ts';
import { anExampleOf, equivalenceFacts, frozen, moment } from '#test/support/report-facts.ts';
import { composeEquivalence } from './equivalence.ts';

// What a wrong fact makes of it: test/lemmas/contradictions.contract.test.ts.

const incomplete = {
  ok: false,
  error: { status: 503, code: 'dependency-incomplete', dependency: 'analytics' },
};

describe('the equivalence of forms', () => {
  it('is the analysis of Analytics beside the evidence of the blueprint, passed on [RP-004, RP-005, RP-121, RP-122, RP-123, RP-124, RP-127]', () => {
    fc.assert(
      fc.property(equivalenceFacts, (facts) => {
        const { form, equivalence, criteria, formEvidence } = frozen(facts);
        expect(formEquivalence.parse(equivalence.value)).toEqual(equivalence.value);
        const report = composeEquivalence(facts, moment);
        if (!report.ok) throw new Error(report.error.detail);
        expect(equivalenceReport.parse(report.value)).toEqual(report.value);
        const { comparisonQtiTestIds, sampleSizes, method, analysisVersion } = equivalence.value;
        const { statistic, confidenceInterval, tolerance, evidenceArtifactUrl } = equivalence.value;
        expect(report.value).toMatchObject({
          qtiTestId: form.value.qtiTestId,
          contentTestSpecId: form.value.contentTestSpecId,
          coverageMatch: formEvidence.value.coverageMatch,
          dokMatch: formEvidence.value.dokMatch,
          comparisonQtiTestIds,
          sampleSizes,
          method,
          analysisVersion,
          statistic,
          confidenceInterval,
          tolerance,
          evidenceArtifactUrl,
          sources: [form.receipt, equivalence.receipt, criteria.receipt, formEvidence.receipt],
        });
      }),
    );
  });

  it.each([
    'http://analytics.example/a',
    'ftp://analytics.example/a',
    'javascript:alert(1)',
    'https://user:secret@analytics.example/a',
    'https://user@analytics.example/a',
    'https://:secret@analytics.example/a',
    'https://',
    'analytics.example/a',
    ' https://analytics.example/a',
    'https://analytics.example/a\n',
    'https://analytics.example/a\tb',
    '',
  ])('names its artifact by a plain HTTPS URL only, not by %j [RP-126]', (evidenceArtifactUrl) => {
    const facts = anExampleOf(equivalenceFacts);
    facts.equivalence.value.evidenceArtifactUrl = evidenceArtifactUrl;
    expect(composeEquivalence(facts, moment)).toMatchObject(incomplete);
  });

  it('may have its statistic at either end of its interval [RP-124]', () => {
    const facts = anExampleOf(equivalenceFacts);
    for (const confidenceInterval of [
      { lower: 0.1, upper: 0.2 },
      { lower: 0.2, upper: 0.3 },
    ]) {
      Object.assign(facts.equivalence.value, { statistic: 0.2, confidenceInterval });
      expect(composeEquivalence(facts, moment)).toMatchObject({ ok: true, value: { confidenceInterval } });
    }
  });

  it('names no form twice, even with as many sample sizes [RP-121, RP-123]', () => {
    const facts = anExampleOf(equivalenceFacts);
    const { value } = facts.equivalence;
    for (const twice of [value.qtiTestId, 'form-2']) {
      const comparisonQtiTestIds = ['form-2', twice];
      Object.assign(value, {
        comparisonQtiTestIds,
        sampleSizes: { [value.qtiTestId]: 1, 'form-2': 1, 'form-3': 1 },
      });
      expect(composeEquivalence(facts, moment)).toMatchObject(incomplete);
    }
  });

  it('is a 503 of a form whose id no record of sample sizes can hold [RP-123]', () => {
    const facts = anExampleOf(equivalenceFacts);
    const { value } = facts.equivalence;
    const sent = JSON.stringify({
      ...value,
      qtiTestId: '__proto__',
      sampleSizes: Object.fromEntries([['__proto__', 1], ...Object.entries(value.sampleSizes)]),
    });
    const equivalence = { ...facts.equivalence, value: formEquivalence.parse(JSON.parse(sent)) };
    expect(composeEquivalence({ ...facts, equivalence }, moment)).toMatchObject(incomplete);
  });
});
