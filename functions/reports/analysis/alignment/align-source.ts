import { alignmentPercentOf } from '#shared/contract/reports/alignment-report.ts';
import type { AlignmentContribution } from '#shared/contract/reports/alignment-report.ts';
import { areUnique } from '#shared/contract/reports/primitives.ts';
import { exactSum } from '#shared/kernel/decimal.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { AlignmentCrosswalk } from '#shared/platform/owners/content.ts';

type Requirement = AlignmentCrosswalk['requirements'][number];
type Mapping = Requirement['mappings'][number];
type ReasonCode = NonNullable<AlignmentContribution['reasonCode']>;

/** How far a blueprint covers one named source, by the formula `alignment-v1` [RP-170..RP-174]. */
export interface Alignment {
  readonly numerator: number;
  /** More than 0. */
  readonly denominator: number;
  /** 0 to 100, half up at the sixth digit. */
  readonly alignmentPercent: number;
  /** One for each requirement, in the crosswalk's order. */
  readonly contributions: readonly AlignmentContribution[];
  /** At most one sentence for each reason that occurs. */
  readonly limitations: readonly string[];
}

/** As many requirements as a report can show [RP-173]. */
const MAX_REQUIREMENTS = 10_000;

/** What each reason says of the requirements that it counts zero. */
const shortfalls: Readonly<Record<ReasonCode, string>> = {
  missing_mapping: 'without a mapping to a slot of the blueprint',
  ambiguous_mapping: 'with several candidate mappings',
  stale_mapping: 'with a mapping that is stale',
  lower_dok: 'met at a lower depth of knowledge than the source demands',
  unknown: 'with a mapping of which status or depth of knowledge is not known',
};

/**
 * Aligns one source with its blueprint: every requirement keeps its full weight, and counts with it only where exactly one current mapping
 * leads to a slot that demands at least as much as the source [RP-171, RP-177..RP-184].
 * @returns err: a sentence that says why the crosswalk has no alignment: an owner's mistake
 */
export function alignSource({ requirements }: AlignmentCrosswalk): Result<Alignment, string> {
  if (requirements.length === 0) return err('The crosswalk has no requirements.');
  if (requirements.length > MAX_REQUIREMENTS)
    return err(`The crosswalk has more than ${MAX_REQUIREMENTS} requirements.`);
  if (!areUnique(requirements.map(({ sourceRequirementId }) => sourceRequirementId)))
    return err('The crosswalk has a requirement twice.');
  const contributions = requirements.map(contributionOf);
  const sums = alignmentPercentOf(contributions);
  if (!Number.isFinite(sums.denominator))
    return err('The weights of the crosswalk have a sum beyond every number.');
  return ok({ ...sums, contributions, limitations: limitationsOf(contributions, sums.denominator) });
}

function contributionOf(requirement: Requirement): AlignmentContribution {
  const { sourceRequirementId, weight, sourceDok } = requirement;
  const mapped = mappingOf(requirement);
  return {
    sourceRequirementId,
    caseGuid: mapped.caseGuid,
    blueprintSlotId: mapped.blueprintSlotId,
    weight,
    coverage: mapped.targetDok === null ? 0 : 1,
    rigor: mapped.reasonCode === null ? 1 : 0,
    sourceDok,
    targetDok: mapped.targetDok,
    weightedContribution: mapped.reasonCode === null ? weight : 0,
    reasonCode: mapped.reasonCode,
  };
}

/** What of a requirement's mapping holds, and why it does not count. A target DOK stands only where the mapping covers the requirement. */
function mappingOf({
  sourceDok,
  mappings,
}: Requirement): Pick<AlignmentContribution, 'caseGuid' | 'blueprintSlotId' | 'targetDok' | 'reasonCode'> {
  const [mapping, ...others] = distinctCurrent(mappings);
  if (mapping === undefined || others.length > 0) {
    const wasStale = mappings.some(({ status }) => status === 'stale');
    const absent = wasStale ? 'stale_mapping' : 'missing_mapping';
    const reasonCode = mapping === undefined ? absent : 'ambiguous_mapping';
    return { caseGuid: null, blueprintSlotId: null, targetDok: null, reasonCode };
  }
  const { caseGuid, blueprintSlotId, targetDok } = mapping;
  const uncovered = (reasonCode: ReasonCode) => ({ caseGuid, blueprintSlotId, targetDok: null, reasonCode });
  if (blueprintSlotId === null) return uncovered('missing_mapping');
  if (targetDok === null) return uncovered('unknown');
  return { caseGuid, blueprintSlotId, targetDok, reasonCode: targetDok < sourceDok ? 'lower_dok' : null };
}

/** The current ones among candidate mappings, each once: a list that repeats itself is not ambiguous. */
function distinctCurrent(mappings: readonly Mapping[]): readonly Mapping[] {
  const distinct = new Map(
    mappings
      .filter(({ status }) => status === 'current')
      .map((mapping) => {
        const { caseGuid, blueprintSlotId, targetDok } = mapping;
        return [JSON.stringify([caseGuid, blueprintSlotId, targetDok]), mapping];
      }),
  );
  return [...distinct.values()];
}

/** Names whatever keeps requirements from counting, with how many they are and what they weigh [RP-176]. */
function limitationsOf(contributions: readonly AlignmentContribution[], denominator: number): string[] {
  const byReason = Map.groupBy(contributions, ({ reasonCode }) => reasonCode);
  return (Object.keys(shortfalls) as ReasonCode[]).flatMap((reasonCode) => {
    const kept = byReason.get(reasonCode);
    if (kept === undefined) return [];
    const weight = exactSum(kept.map((contribution) => contribution.weight)).toNumber();
    return [
      `${kept.length} of ${contributions.length} requirements ${shortfalls[reasonCode]} (${reasonCode}): weight ${weight} of ${denominator} counts zero.`,
    ];
  });
}
