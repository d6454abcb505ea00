import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alignmentContribution } from '#shared/contract/reports/alignment-report.ts';
import { alignmentCrosswalk } from '#shared/platform/owners/content.ts';
import type { AlignmentCrosswalk, AlignmentSources } from '#shared/platform/owners/content.ts';
import { expectedAlignment } from '#test/contract/reports/expected-improvement.ts';
import {
  crosswalk,
  mappingOf,
  requirementOf,
  runArtifacts,
  someTargets,
  targetsOf,
} from '#test/support/improvement-facts.ts';
import { alignSource, type Alignment } from './align-source.ts';

type Requirement = AlignmentCrosswalk['requirements'][number];
type Mapping = Requirement['mappings'][number];
type Targets = Pick<AlignmentSources, 'slotIds' | 'caseGuids'> | undefined;

const crosswalkOf = (requirements: readonly Requirement[]): AlignmentCrosswalk => ({
  ...runArtifacts.crosswalk,
  requirements: [...requirements],
});

function aligned(
  requirements: readonly Requirement[],
  targets: Targets = targetsOf({ requirements: [...requirements] }),
): Alignment {
  const alignment = alignSource(crosswalkOf(requirements), targets);
  if (!alignment.ok) throw new Error(alignment.error);
  return alignment.value;
}

const ofEarlierRules = (requirements: readonly Requirement[]): Alignment => {
  const alignment = alignSource(crosswalkOf(requirements), undefined);
  if (!alignment.ok) throw new Error(alignment.error);
  return alignment.value;
};

/** A crosswalk with what its blueprint has; undefined by the rules of earlier runs. */
const evaluated = crosswalk.chain((value) =>
  fc.record({
    value: fc.constant(value),
    targets: fc.option(someTargets(value), { nil: undefined, freq: 3 }),
  }),
);

describe('the alignment of a source', () => {
  it('has the contribution of every requirement, exact sums, and a percentage that is half up at the sixth digit [RP-170, RP-171, RP-172, RP-174, RP-177, RP-178, RP-179, RP-180, RP-181, RP-182, RP-183, RP-184]', () => {
    fc.assert(
      fc.property(evaluated, ({ value, targets }) => {
        expect(alignmentCrosswalk.parse(value)).toEqual(value);
        const { limitations, ...alignment } = targets
          ? aligned(value.requirements, targets)
          : ofEarlierRules(value.requirements);
        expect(alignment).toEqual(expectedAlignment(value, targets));
        const { contributions } = alignment;
        const causes = new Set(
          contributions.flatMap((row) => {
            const { caseGuid, blueprintSlotId, reasonCode } = row;
            if (reasonCode !== 'unknown' || blueprintSlotId === null) return reasonCode ?? [];
            const isThere =
              targets?.slotIds.includes(blueprintSlotId) !== false &&
              targets?.caseGuids.includes(caseGuid!) !== false;
            return isThere ? reasonCode : 'led astray';
          }),
        );
        expect(limitations).toHaveLength(causes.size);
        expect(contributions.map((row) => alignmentContribution.parse(row))).toEqual(contributions);
      }),
      { numRuns: 300 },
    );
  });

  it('cannot be judged by a list that does not name slots and GUIDs', () => {
    for (const targets of [{}, { slotIds: [] }, { caseGuids: [] }])
      expect(alignSource(crosswalkOf([requirementOf('a')]), targets)).toEqual({
        ok: false,
        error: 'The list of sources does not name the slots and CASE GUIDs of the blueprint.',
      });
  });

  it('names what does not count, with its number and its exact weight [RP-176]', () => {
    const row = (name: string, weight: number, ...mappings: Mapping[]) =>
      requirementOf(name, { weight, mappings });
    const current = mappingOf('guid');
    const rows = [
      row('counts', 3, current),
      row('missing-1', 0.1),
      row('missing-2', 0.2, { ...current, blueprintSlotId: null }),
      row('ambiguous', 1, current, mappingOf('guid-2')),
      row('stale', 2, { ...current, status: 'draft' }, { ...current, status: 'stale' }),
      row('lower', 4, { ...current, targetDok: 1 }),
      row('unknown', 5, { ...current, targetDok: null }),
      row('astray', 6, mappingOf('nowhere')),
    ];
    const { slotIds, caseGuids } = targetsOf({ requirements: rows.slice(0, -1) });
    expect(aligned(rows, { slotIds, caseGuids }).limitations).toEqual([
      '2 of 8 requirements without a mapping to a slot of the blueprint (missing_mapping): weight 0.3 of 21.3 counts zero.',
      '1 of 8 requirements with several candidate mappings (ambiguous_mapping): weight 1 of 21.3 counts zero.',
      '1 of 8 requirements with a mapping that is stale (stale_mapping): weight 2 of 21.3 counts zero.',
      '1 of 8 requirements met at a lower depth of knowledge than the source demands (lower_dok): weight 4 of 21.3 counts zero.',
      '1 of 8 requirements with a mapping of which status or depth of knowledge is not known (unknown): weight 5 of 21.3 counts zero.',
      '1 of 8 requirements with a mapping to a slot or CASE GUID that the blueprint does not have (unknown, first requirement-astray): weight 6 of 21.3 counts zero.',
    ]);
  });

  it('is of 1 to 10,000 requirements, each of them once [RP-173, RP-177]', () => {
    const many = (length: number) => Array.from({ length }, (_, n) => requirementOf(`${n}`));
    expect(aligned(many(10_000)).contributions).toHaveLength(10_000);
    for (const [rows, error] of [
      [[], 'The crosswalk has no requirements.'],
      [many(10_001), 'The crosswalk has more than 10000 requirements.'],
      [[...many(2), requirementOf('1')], 'The crosswalk has a requirement twice.'],
    ] as const)
      expect(alignSource(crosswalkOf(rows), undefined)).toEqual({ ok: false, error });
  });

  it('is none where the weights have no sum that is a number [RP-170]', () => {
    const huge = ['a', 'b'].map((name) => requirementOf(name, { weight: 1e308 }));
    const error = 'The weights of the crosswalk have a sum beyond every number.';
    expect(alignSource(crosswalkOf(huge), undefined)).toEqual({ ok: false, error });
    expect(aligned(huge.slice(1)).denominator).toBe(1e308);
  });
});
