import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  agreementOf,
  alignmentContribution,
  alignmentPercentOf,
  alignmentReport,
  predictedActualComparison,
} from './alignment-report.ts';
import { alignment } from './examples.ts';
import { receiptLink } from './receipt-link.ts';

const [full, missing] = alignment.contributions;
const lower = { ...full, rigor: 0, targetDok: 1, weightedContribution: 0, reasonCode: 'lower_dok' };

type Change = Readonly<Record<string, unknown>>;
const accepts = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown) =>
  schema.safeParse(value).success;

describe('the contribution of a requirement', () => {
  it('takes full, missing and lower-DOK ones [RP-177, RP-183]', () => {
    for (const row of [full, missing, lower, { ...missing, caseGuid: 'guid', reasonCode: 'stale_mapping' }])
      expect(accepts(alignmentContribution, row)).toBe(true);
  });

  it.each<[string, Change]>([
    ['a coverage without a slot [RP-179]', { ...full, blueprintSlotId: null }],
    ['a coverage without a standard [RP-178]', { ...full, caseGuid: null }],
    ['a coverage without a target DOK [RP-182]', { ...full, targetDok: null }],
    ['a target DOK of what is not covered [RP-182]', { ...missing, targetDok: 3 }],
    ['a DOK beyond 4 [RP-182]', { ...full, targetDok: 5 }],
    ['no source DOK [RP-182]', { ...full, sourceDok: null }],
    ['rigor below the source’s DOK [RP-181]', { ...full, targetDok: 1 }],
    ['rigor without coverage [RP-181]', { ...missing, rigor: 1 }],
    ['half a coverage [RP-181]', { ...full, coverage: 0.5, weightedContribution: 1 }],
    ['no weight [RP-180]', { ...missing, weight: 0 }],
    ['a weight that is no number [RP-180]', { ...full, weight: Infinity, weightedContribution: Infinity }],
    ['a contribution near its weight [RP-183]', { ...full, weightedContribution: 2.0000000001 }],
    ['a contribution of what does not count [RP-183]', { ...lower, weightedContribution: 2 }],
    ['a reason for what counts in full [RP-184]', { ...full, reasonCode: 'lower_dok' }],
    ['no reason for what does not [RP-184]', { ...missing, reasonCode: null }],
    ['another reason [RP-184]', { ...missing, reasonCode: 'forgotten' }],
    ['a member more', { ...full, candidateSourcedId: 'learner' }],
  ])('refuses %s', (_, row) => {
    expect(accepts(alignmentContribution, row)).toBe(false);
  });
});

describe('a comparison of predicted with actual results', () => {
  const shown = alignment.predictedActual ?? {};
  const none = {
    predictedPassCount: null,
    actualPassCount: null,
    agreementCount: null,
    observedAgreement: null,
  };
  const suppressed = { ...shown, ...none, suppressionStatus: 'suppressed', suppressionRule: 'minimum 10' };

  it('takes shown, suppressed and unknown ones [RP-185]', () => {
    const unknown = { ...shown, ...none, suppressionStatus: 'unknown' };
    for (const comparison of [shown, suppressed, unknown])
      expect(accepts(predictedActualComparison, comparison)).toBe(true);
  });

  it.each<[string, Change]>([
    ['a suppressed one without its rule [RP-186]', { ...suppressed, suppressionRule: null }],
    ['a suppressed one with a count [RP-187]', { ...suppressed, agreementCount: 371 }],
    ['a suppressed one with its agreement [RP-188]', { ...suppressed, observedAgreement: 0.951282 }],
    ['one that lacks a count [RP-187]', { ...shown, actualPassCount: null }],
    ['a count beyond the population [RP-187]', { ...shown, predictedPassCount: 391 }],
    ['an agreement that is not the quotient [RP-188]', { ...shown, observedAgreement: 0.951283 }],
    ['no agreement [RP-188]', { ...shown, observedAgreement: null }],
    ['one without its artifact [RP-185]', { ...shown, artifactRef: null }],
  ])('refuses %s', (_, comparison) => {
    expect(accepts(predictedActualComparison, comparison)).toBe(false);
  });

  it('has an agreement that is a proportion, half up at the sixth digit [RP-188, RP-189]', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_147_483_647 }), fc.nat({ max: 2_147_483_647 }), (all, some) => {
        const agreed = some % (all + 1);
        const millionths = (2n * 1_000_000n * BigInt(agreed) + BigInt(all)) / (2n * BigInt(all));
        expect(agreementOf(agreed, all)).toBe(Number(millionths) / 1e6);
      }),
    );
  });
});

describe('an alignment report', () => {
  it.each<[string, Change]>([
    ['another numerator [RP-174]', { numerator: 2.5 }],
    ['another denominator [RP-174]', { denominator: 3 }],
    ['another percentage [RP-172]', { alignmentPercent: 57.142858 }],
    ['more digits than six [RP-172]', { alignmentPercent: 400 / 7 }],
    ['no contributions [RP-173]', { contributions: [], numerator: 0 }],
    ['weights of 0 [RP-180]', { contributions: [{ ...missing, weight: 0 }], numerator: 0 }],
    ['weights that have no sum [RP-170]', { contributions: [full, { ...missing, weight: -2 }] }],
    [
      'a requirement twice [RP-177]',
      { contributions: [full, full], numerator: 4, denominator: 4, alignmentPercent: 100 },
    ],
    ['no limitations list [RP-176]', { limitations: null }],
    ['an empty limitation [RP-176]', { limitations: [''] }],
    ['a limitation of 501 characters [RP-176]', { limitations: ['x'.repeat(501)] }],
    ['101 limitations [RP-176]', { limitations: Array<string>(101).fill('stale') }],
    ['a hash in capitals [RP-169]', { crosswalkHash: alignment.crosswalkHash.toUpperCase() }],
    ['another formula', { formulaVersion: 'alignment-v2' }],
    ['no receipt [RP-168]', { receipt: null }],
    [
      'a link that has expired [RP-213]',
      { receipt: { ...alignment.receipt, expiresAt: alignment.observedAt } },
    ],
    ['a key that is no part of a path [RP-167]', { sourceKey: 'state/math' }],
    ['a key that is a step in a path [RP-167]', { sourceKey: '..' }],
  ])('refuses %s', (_, change) => {
    expect(accepts(alignmentReport, alignment)).toBe(true);
    expect(accepts(alignmentReport, { ...alignment, ...change })).toBe(false);
  });

  it('takes a null comparison, and the alignment stays what it is [RP-175]', () => {
    expect(accepts(alignmentReport, { ...alignment, predictedActual: null })).toBe(true);
  });

  it('is exact where the arithmetic of the machine is not [RP-172, RP-174]', () => {
    const rows = Array.from({ length: 10 }, (_, n) => ({
      ...full,
      sourceRequirementId: `requirement-${n}`,
      weight: 0.1,
      weightedContribution: 0.1,
    }));
    const exact = { numerator: 1, denominator: 1, alignmentPercent: 100 };
    expect(alignmentPercentOf(rows)).toEqual(exact);
    expect(accepts(alignmentReport, { ...alignment, ...exact, contributions: rows })).toBe(true);
    const added = rows.reduce((sum, { weight }) => sum + weight, 0);
    const machine = { ...exact, numerator: added, denominator: added };
    expect(accepts(alignmentReport, { ...alignment, ...machine, contributions: rows })).toBe(false);
  });
});

describe('a receipt link', () => {
  const { receipt } = alignment;

  it('is https, or http on this machine alone [RP-212]', () => {
    for (const [downloadUrl, fits] of [
      ['https://receipts.example/x', true],
      ['http://127.0.0.1:4010/x', true],
      ['http://localhost:4010/x', true],
      ['http://receipts.example/x', false],
      ['http://localhost.example/x', false],
      ['http://127.0.0.1.example/x', false],
      ['s3://receipts/x', false],
      ['/receipts/x', false],
    ] as const)
      expect([downloadUrl, accepts(receiptLink, { ...receipt, downloadUrl })]).toEqual([downloadUrl, fits]);
  });

  it.each<[string, Change]>([
    ['another media type [RP-210]', { mediaType: 'text/plain' }],
    ['a digest in capitals [RP-211]', { sha256: receipt.sha256.toUpperCase() }],
    ['half a digest [RP-211]', { sha256: receipt.sha256.slice(32) }],
    ['an expiry that is no instant [RP-213]', { expiresAt: '2026-03-02' }],
    ['a credential beside the address [RP-212]', { token: 'secret' }],
  ])('refuses %s', (_, change) => {
    expect(accepts(receiptLink, receipt)).toBe(true);
    expect(accepts(receiptLink, { ...receipt, ...change })).toBe(false);
  });
});
