import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { predictedActualComparison } from '#shared/contract/reports/alignment-report.ts';
import { comparisonArtifact } from '#shared/platform/owners/analytics.ts';
import type { ComparisonArtifact } from '#shared/platform/owners/analytics.ts';
import { showComparison } from './show-comparison.ts';

const artifact: ComparisonArtifact = {
  kind: 'comparison',
  tenantId: 'tenant',
  artifactRef: 'artifact-comparison-1',
  administrationId: 'administration',
  contentTestSpecId: 'spec',
  contentTestSpecVersion: '12',
  sourceKey: 'state-math-5',
  method: 'pass classification',
  analysisVersion: 'external-2',
  populationCount: 390,
  suppression: { status: 'not_suppressed', rule: null },
  predictedPassCount: 301,
  actualPassCount: 288,
  agreementCount: 371,
  qtiFormId: null,
  qtiTestId: null,
  caseGuids: [],
};
const identity = {
  artifactRef: 'artifact-comparison-1',
  populationCount: 390,
  method: 'pass classification',
  analysisVersion: 'external-2',
};
const noCounts = {
  predictedPassCount: null,
  actualPassCount: null,
  agreementCount: null,
  observedAgreement: null,
};

describe('a comparison of predicted with actual results', () => {
  it('is shown with its counts and their agreement, half up at the sixth digit [RP-185, RP-187, RP-188]', () => {
    expect(showComparison(artifact)).toEqual({
      comparison: {
        ...identity,
        suppressionStatus: 'not_suppressed',
        suppressionRule: null,
        predictedPassCount: 301,
        actualPassCount: 288,
        agreementCount: 371,
        observedAgreement: 0.951282,
      },
      limitations: [],
    });
    const half = {
      populationCount: 64_000_000,
      predictedPassCount: 32_000_000,
      actualPassCount: 32_000_000,
      agreementCount: 32,
    };
    expect(showComparison({ ...artifact, ...half }).comparison?.observedAgreement).toBe(0.000001);
  });

  it('shows nothing but its rule where it is suppressed, whatever counts it comes with [RP-176, RP-186, RP-187, RP-188]', () => {
    const shown = showComparison({
      ...artifact,
      suppression: { status: 'suppressed', rule: 'minimum 10' },
    });
    expect(shown.comparison).toEqual({
      ...identity,
      suppressionStatus: 'suppressed',
      suppressionRule: 'minimum 10',
      ...noCounts,
    });
    expect(shown.limitations).toEqual([expect.stringContaining('suppressed')]);
  });

  it.each(['unknown', 'redacted', 'NOT_SUPPRESSED', ''])(
    'shows no count where its suppression is %j [RP-187, RP-188]',
    (status) => {
      const shown = showComparison({ ...artifact, suppression: { status, rule: 'minimum 10' } });
      expect(shown.comparison).toEqual({
        ...identity,
        suppressionStatus: 'unknown',
        suppressionRule: null,
        ...noCounts,
      });
      expect(shown.limitations).toHaveLength(1);
    },
  );

  it.each<[string, Partial<ComparisonArtifact>]>([
    [
      'nobody was compared [RP-189]',
      { populationCount: 0, predictedPassCount: 0, actualPassCount: 0, agreementCount: 0 },
    ],
    [
      'nobody was compared and that is suppressed [RP-189]',
      { populationCount: 0, suppression: { status: 'suppressed', rule: 'minimum 10' } },
    ],
    ['it is suppressed without a rule [RP-186]', { suppression: { status: 'suppressed', rule: null } }],
    ['it lacks a predicted count [RP-187]', { predictedPassCount: null }],
    ['it lacks an actual count [RP-187]', { actualPassCount: null }],
    ['it lacks its agreement [RP-187]', { agreementCount: null }],
    ['it predicts more than its population [RP-187]', { predictedPassCount: 391 }],
    ['more passed than its population [RP-187]', { actualPassCount: 391 }],
    ['more agree than its population [RP-187]', { agreementCount: 391 }],
    ['more agree than the difference of its counts leaves [RP-187]', { agreementCount: 379 }],
    ['fewer agree than passed in both [RP-187]', { agreementCount: 197 }],
    ['its agreement leaves half a person [RP-187]', { agreementCount: 370 }],
  ])('is none, with a limitation, where %s', (_, change) => {
    const { comparison, limitations } = showComparison({ ...artifact, ...change });
    expect(comparison).toBeNull();
    expect(limitations).toHaveLength(1);
  });

  const count = fc.option(fc.nat({ max: 40 }));
  const artifacts = fc
    .record({
      populationCount: fc.nat({ max: 40 }),
      suppression: fc.record({
        status: fc.constantFrom('not_suppressed', 'suppressed', 'unknown', 'else'),
        rule: fc.option(fc.constant('minimum 10')),
      }),
      predictedPassCount: count,
      actualPassCount: count,
      agreementCount: count,
    })
    .map((change): ComparisonArtifact => ({ ...artifact, ...change }));

  it('is shown exactly where some population can be so divided [RP-187, RP-188]', () => {
    const four = fc.tuple(...[0, 1, 2, 3].map(() => fc.nat({ max: 12 })));
    fc.assert(
      fc.property(
        four,
        fc.tuple(four, fc.nat({ max: 3 })),
        ([both, onlyPredicted, onlyActual, neither], [other, at]) => {
          const counts = {
            populationCount: both! + onlyPredicted! + onlyActual! + neither!,
            predictedPassCount: both! + onlyPredicted!,
            actualPassCount: both! + onlyActual!,
            agreementCount: both! + neither!,
          };
          fc.pre(counts.populationCount > 0);
          expect(showComparison({ ...artifact, ...counts }).comparison).not.toBeNull();
          // One count changed: it is shown only if there are four other groups that give it.
          const name = (Object.keys(counts) as (keyof typeof counts)[])[at]!;
          const changed = { ...counts, [name]: other.reduce((sum, one) => sum + one, 0) };
          fc.pre(changed.populationCount > 0);
          const {
            populationCount: n,
            predictedPassCount: p,
            actualPassCount: a,
            agreementCount: g,
          } = changed;
          const exists = Array.from(
            { length: Math.min(p, a) + 1 },
            (_, pass) => n - p - a + 2 * pass === g && n - p - a + pass >= 0,
          );
          expect(showComparison({ ...artifact, ...changed }).comparison !== null).toBe(exists.includes(true));
        },
      ),
    );
  });

  it('is one as the contract wants it or none, and says why it shows less than all [RP-176, RP-185, RP-186, RP-187, RP-188]', () => {
    fc.assert(
      fc.property(artifacts, (made) => {
        expect(comparisonArtifact.parse(made)).toEqual(made);
        const { comparison, limitations } = showComparison(made);
        if (comparison !== null) expect(predictedActualComparison.parse(comparison)).toEqual(comparison);
        expect(limitations).toHaveLength(comparison?.suppressionStatus === 'not_suppressed' ? 0 : 1);
        for (const sentence of limitations) {
          expect(sentence.length).toBeLessThanOrEqual(500);
          // A limitation goes into a receipt bundle, which holds no observed value.
          expect(sentence).not.toMatch(/\d/);
        }
      }),
    );
  });
});
