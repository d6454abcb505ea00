import type { AlignmentCrosswalk } from '#shared/platform/owners/content.ts';

/** Generates requirements of a crosswalk: some have no mapping, some have two, and some mappings are stale. */
export function requirementsOf(
  length: number,
  weightOf: (n: number) => number,
): AlignmentCrosswalk['requirements'] {
  return Array.from({ length }, (_, n) => ({
    sourceRequirementId: `requirement-${n}`,
    weight: weightOf(n),
    sourceDok: 1 + (n % 4),
    mappings: Array.from({ length: n % 7 === 0 ? 0 : n % 11 === 0 ? 2 : 1 }, (_one, candidate) => ({
      caseGuid: `guid-${n}-${candidate}`,
      blueprintSlotId: `slot-${n}`,
      targetDok: 1 + ((n * 3) % 4),
      status: n % 13 === 0 ? 'stale' : 'current',
    })),
  }));
}
