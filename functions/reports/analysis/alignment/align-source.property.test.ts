import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alignmentContribution } from '#shared/contract/reports/alignment-report.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { alignmentCrosswalk } from '#shared/platform/owners/content.ts';
import type { AlignmentCrosswalk } from '#shared/platform/owners/content.ts';
import { alignSource } from './align-source.ts';
import type { Alignment } from './align-source.ts';

type Requirement = AlignmentCrosswalk['requirements'][number];
type Mapping = Requirement['mappings'][number];

const crosswalkOf = (requirements: readonly Requirement[]): AlignmentCrosswalk => ({
  tenantId: 'tenant',
  testSpecId: 'spec',
  testSpecVersion: '12',
  crosswalkId: 'crosswalk',
  version: '3',
  sourceKey: 'state-math-5',
  sourceAssessment: 'State mathematics, grade 5',
  sourceVersion: '2025',
  requirements: [...requirements],
});

const aligned = (requirements: readonly Requirement[]): Alignment => {
  const alignment = alignSource(crosswalkOf(requirements));
  if (!alignment.ok) throw new Error(alignment.error);
  return alignment.value;
};

const current: Mapping = { caseGuid: 'guid', blueprintSlotId: 'slot', targetDok: 3, status: 'current' };
const requirement = (change: Partial<Requirement> = {}): Requirement => ({
  sourceRequirementId: 'requirement',
  weight: 2.5,
  sourceDok: 3,
  mappings: [current],
  ...change,
});
const only = (change: Partial<Requirement>) => {
  const [contribution] = aligned([requirement(change)]).contributions;
  if (contribution === undefined) throw new Error('no contribution');
  return contribution;
};

const dok = fc.integer({ min: 1, max: 4 });
const mapping: fc.Arbitrary<Mapping> = fc.record({
  caseGuid: fc.constantFrom('guid-1', 'guid-2'),
  blueprintSlotId: fc.option(fc.constantFrom('slot-1', 'slot-2')),
  targetDok: fc.option(dok),
  status: fc.oneof({ arbitrary: fc.constant('current'), weight: 4 }, fc.constantFrom('stale', 'withdrawn')),
});

/** A weight as the exact decimal that its text names, which has at most 15 significant digits. */
const weight = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 15n - 1n }), fc.integer({ min: 0, max: 20 }))
  .map(([units, scale]) => ({ units, scale, number: Number(`${units}e-${scale}`) }));
const SCALE = 20;

const source = fc.uniqueArray(
  fc.record({
    sourceRequirementId: fc
      .string({ minLength: 1, maxLength: 8, unit: 'grapheme-ascii' })
      .filter((id) => !/\s/.test(id)),
    sourceDok: dok,
    mappings: fc.oneof(
      { arbitrary: fc.array(mapping, { minLength: 1, maxLength: 1 }), weight: 4 },
      fc.array(mapping, { maxLength: 3 }),
    ),
    weight,
  }),
  { selector: ({ sourceRequirementId }) => sourceRequirementId, minLength: 1, maxLength: 25 },
);
const requirementsOf = (rows: readonly (Omit<Requirement, 'weight'> & { weight: { number: number } })[]) =>
  rows.map((row) => ({ ...row, weight: row.weight.number }));

describe('the contribution of a requirement', () => {
  it('is its full weight where one current mapping leads to a slot of at least its DOK [RP-181, RP-183, RP-184]', () => {
    for (const targetDok of [3, 4]) {
      expect(only({ mappings: [{ ...current, targetDok }] })).toEqual({
        sourceRequirementId: 'requirement',
        caseGuid: 'guid',
        blueprintSlotId: 'slot',
        weight: 2.5,
        coverage: 1,
        rigor: 1,
        sourceDok: 3,
        targetDok,
        weightedContribution: 2.5,
        reasonCode: null,
      });
    }
  });

  it('is zero of a target of lower DOK, which is covered but not as rigorous [RP-171, RP-181]', () => {
    for (const targetDok of [1, 2]) {
      expect(only({ mappings: [{ ...current, targetDok }] })).toMatchObject({
        coverage: 1,
        rigor: 0,
        targetDok,
        weight: 2.5,
        weightedContribution: 0,
        reasonCode: 'lower_dok',
      });
    }
  });

  it.each<[string, Mapping[], object]>([
    ['no candidate', [], { caseGuid: null, blueprintSlotId: null, reasonCode: 'missing_mapping' }],
    [
      'several candidates',
      [current, { ...current, caseGuid: 'another' }],
      { caseGuid: null, blueprintSlotId: null, reasonCode: 'ambiguous_mapping' },
    ],
    [
      'a stale mapping',
      [{ ...current, status: 'stale' }],
      { caseGuid: null, blueprintSlotId: null, reasonCode: 'stale_mapping' },
    ],
    [
      'a stale mapping and one of a status nobody has named yet',
      [
        { ...current, status: 'draft' },
        { ...current, status: 'stale' },
      ],
      { caseGuid: null, blueprintSlotId: null, reasonCode: 'stale_mapping' },
    ],
    [
      'a mapping of a status nobody has named yet',
      [{ ...current, status: 'draft' }],
      { caseGuid: null, blueprintSlotId: null, reasonCode: 'missing_mapping' },
    ],
    [
      'a mapping without a slot',
      [{ ...current, blueprintSlotId: null }],
      { caseGuid: 'guid', blueprintSlotId: null, reasonCode: 'missing_mapping' },
    ],
    [
      'a slot of which the DOK is not known',
      [{ ...current, targetDok: null }],
      { caseGuid: 'guid', blueprintSlotId: 'slot', reasonCode: 'unknown' },
    ],
  ])(
    'is zero of %s, and the weight stays [RP-171, RP-178, RP-179, RP-182, RP-184]',
    (_, mappings, expected) => {
      const alignment = aligned([
        requirement({ mappings }),
        requirement({ sourceRequirementId: 'another', weight: 7.5 }),
      ]);
      expect(alignment.contributions[0]).toMatchObject({
        coverage: 0,
        rigor: 0,
        targetDok: null,
        sourceDok: 3,
        weight: 2.5,
        weightedContribution: 0,
        ...expected,
      });
      expect(alignment).toMatchObject({ numerator: 7.5, denominator: 10, alignmentPercent: 75 });
    },
  );

  it('is what it is without candidates that repeat another or are not current [RP-178, RP-184]', () => {
    fc.assert(
      fc.property(
        fc.array(mapping, { maxLength: 3 }),
        fc.array(mapping, { maxLength: 3 }),
        fc.nat(),
        (own, more, at) => {
          const noise = [...more.filter(({ status }) => status === 'withdrawn'), ...own];
          const mappings = [...own.slice(at % 4), ...noise];
          expect(only({ mappings })).toEqual(only({ mappings: own }));
        },
      ),
    );
  });

  it('is one as the contract wants it, whatever Content says [RP-177, RP-180, RP-182, RP-183]', () => {
    fc.assert(
      fc.property(source, (rows) => {
        const crosswalk = crosswalkOf(requirementsOf(rows));
        expect(alignmentCrosswalk.parse(crosswalk)).toEqual(crosswalk);
        const { contributions } = aligned(crosswalk.requirements);
        expect(contributions.map((row) => alignmentContribution.parse(row))).toEqual(contributions);
        expect(
          contributions.map(({ sourceRequirementId, weight, sourceDok }) => [
            sourceRequirementId,
            weight,
            sourceDok,
          ]),
        ).toEqual(
          crosswalk.requirements.map(({ sourceRequirementId, weight, sourceDok }) => [
            sourceRequirementId,
            weight,
            sourceDok,
          ]),
        );
      }),
    );
  });
});

describe('the alignment of a source', () => {
  it('has exact sums, and a percentage that is half up at the sixth digit [RP-170, RP-172, RP-174]', () => {
    fc.assert(
      fc.property(source, (rows) => {
        // In integers, from the decimals that the weights were made of.
        const units = rows.map(({ weight: { units, scale } }) => units * 10n ** BigInt(SCALE - scale));
        const counts = rows.map(({ mappings, sourceDok }) => {
          const candidates = mappings
            .filter(({ status }) => status === 'current')
            .map((one) => hashCanonical(one));
          const one = mappings.find(({ status }) => status === 'current');
          if (one === undefined || new Set(candidates).size > 1) return false;
          return one.blueprintSlotId !== null && one.targetDok !== null && one.targetDok >= sourceDok;
        });
        const denominator = units.reduce((sum, one) => sum + one, 0n);
        const numerator = units.reduce((sum, one, n) => (counts[n] === true ? sum + one : sum), 0n);

        const alignment = aligned(requirementsOf(rows));
        expect(alignment.denominator).toBe(Number(`${denominator}e-${SCALE}`));
        expect(alignment.numerator).toBe(Number(`${numerator}e-${SCALE}`));
        const millionths = BigInt(Math.round(alignment.alignmentPercent * 1e6));
        expect(alignment.alignmentPercent).toBe(Number(millionths) / 1e6);
        // millionths − ½ ≤ 10^8 × numerator / denominator < millionths + ½
        const scaled = 2n * 100_000_000n * numerator;
        expect((2n * millionths - 1n) * denominator <= scaled).toBe(true);
        expect(scaled < (2n * millionths + 1n) * denominator).toBe(true);
      }),
    );
  });

  it('does not depend on the order of requirements and candidates [RP-172]', () => {
    fc.assert(
      fc.property(
        source.chain((rows) =>
          fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length })),
        ),
        ([rows, others]) => {
          const [first, second] = [rows, others].map((of) => aligned(requirementsOf(of)));
          const reversed = aligned(
            requirementsOf(rows).map((row) => ({ ...row, mappings: row.mappings.toReversed() })),
          );
          expect(reversed).toEqual(first);
          const byId = (alignment: Alignment | undefined) => ({
            ...alignment,
            contributions: alignment?.contributions.toSorted((a, b) =>
              a.sourceRequirementId < b.sourceRequirementId ? -1 : 1,
            ),
          });
          expect(byId(second)).toEqual(byId(first));
        },
      ),
    );
  });

  it('never falls when a requirement that did not count gets a mapping that does [RP-171]', () => {
    fc.assert(
      fc.property(source, fc.nat(), (rows, pick) => {
        const requirements = requirementsOf(rows);
        const at = pick % requirements.length;
        const mapped = requirements.map((row, n) =>
          n === at ? { ...row, mappings: [{ ...current, targetDok: 4 }] } : row,
        );
        const [before, after] = [aligned(requirements), aligned(mapped)];
        expect(after.denominator).toBe(before.denominator);
        expect(after.alignmentPercent).toBeGreaterThanOrEqual(before.alignmentPercent);
      }),
    );
  });

  it('is 100 exactly when everything counts, and 0 when nothing does [RP-172]', () => {
    const tenths = (mappings: Mapping[]) =>
      Array.from({ length: 10 }, (_, n) =>
        requirement({ sourceRequirementId: `r${n}`, weight: 0.1, mappings }),
      );
    expect(aligned(tenths([current]))).toMatchObject({
      numerator: 1,
      denominator: 1,
      alignmentPercent: 100,
      limitations: [],
    });
    expect(aligned(tenths([]))).toMatchObject({ numerator: 0, denominator: 1, alignmentPercent: 0 });
  });

  it('names what does not count, with its number and its exact weight [RP-176]', () => {
    const rows = [
      requirement({ sourceRequirementId: 'counts', weight: 3 }),
      requirement({ sourceRequirementId: 'missing-1', weight: 0.1, mappings: [] }),
      requirement({ sourceRequirementId: 'missing-2', weight: 0.2, mappings: [] }),
      requirement({
        sourceRequirementId: 'ambiguous',
        weight: 1,
        mappings: [current, { ...current, caseGuid: 'guid-2' }],
      }),
      requirement({ sourceRequirementId: 'stale', weight: 2, mappings: [{ ...current, status: 'stale' }] }),
      requirement({ sourceRequirementId: 'lower', weight: 4, mappings: [{ ...current, targetDok: 2 }] }),
      requirement({ sourceRequirementId: 'unknown', weight: 5, mappings: [{ ...current, targetDok: null }] }),
    ];
    expect(aligned(rows).limitations).toEqual([
      '2 of 7 requirements without a mapping to a slot of the blueprint (missing_mapping): weight 0.3 of 15.3 counts zero.',
      '1 of 7 requirements with several candidate mappings (ambiguous_mapping): weight 1 of 15.3 counts zero.',
      '1 of 7 requirements with a mapping that is stale (stale_mapping): weight 2 of 15.3 counts zero.',
      '1 of 7 requirements met at a lower depth of knowledge than the source demands (lower_dok): weight 4 of 15.3 counts zero.',
      '1 of 7 requirements with a mapping of which status or depth of knowledge is not known (unknown): weight 5 of 15.3 counts zero.',
    ]);
  });

  it('is of 1 to 10,000 requirements, each of them once [RP-173, RP-177]', () => {
    const many = (length: number) =>
      Array.from({ length }, (_, n) => requirement({ sourceRequirementId: `requirement-${n}` }));
    expect(aligned(many(10_000)).contributions).toHaveLength(10_000);
    for (const rows of [
      [],
      many(10_001),
      [...many(2), requirement({ sourceRequirementId: 'requirement-1' })],
    ])
      expect(alignSource(crosswalkOf(rows))).toMatchObject({ ok: false });
  });

  it('is none where the weights have no sum that is a number [RP-170]', () => {
    const huge = ['a', 'b'].map((sourceRequirementId) => requirement({ sourceRequirementId, weight: 1e308 }));
    expect(alignSource(crosswalkOf(huge))).toMatchObject({ ok: false });
    expect(aligned(huge.slice(1)).denominator).toBe(1e308);
  });
});
