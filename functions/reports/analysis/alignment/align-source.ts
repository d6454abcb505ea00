import { alignmentPercentOf, type AlignmentContribution } from '#shared/contract/reports/alignment-report.ts';
import { shownLists } from '#shared/contract/reports/invariants/lists.ts';
import { areDistinct } from '#shared/contract/reports/invariants/invariant.ts';
import { exactSum } from '#shared/kernel/decimal.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { AlignmentCrosswalk, AlignmentSources } from '#shared/platform/owners/content.ts';

type Requirement = AlignmentCrosswalk['requirements'][number];
type Mapping = Requirement['mappings'][number];
type ReasonCode = NonNullable<AlignmentContribution['reasonCode']>;

/** The possible targets of a mapping; undefined by the rules of earlier runs. */
type Targets = { readonly slots: ReadonlySet<string>; readonly guids: ReadonlySet<string> } | undefined;

/** How much of one named source a blueprint covers, by the formula `alignment-v1` [RP-170..RP-174]. */
export interface Alignment {
  readonly numerator: number;
  /** More than 0. */
  readonly denominator: number;
  /** 0 to 100, rounded half up at the sixth digit. */
  readonly alignmentPercent: number;
  /** One per requirement, in the crosswalk's order. */
  readonly contributions: readonly AlignmentContribution[];
  /** At most one sentence per cause. */
  readonly limitations: readonly string[];
}

/** As many requirements as a report can show [RP-173]. */
const MAX_REQUIREMENTS = 10_000;

/** The sentence for each cause because of which requirements count zero; the reason of requirements that are astray is `unknown`. */
const shortfalls: Readonly<Record<ReasonCode | 'astray', string>> = {
  missing_mapping: 'without a mapping to a slot of the blueprint',
  ambiguous_mapping: 'with several candidate mappings',
  stale_mapping: 'with a mapping that is stale',
  lower_dok: 'met at a lower depth of knowledge than the source demands',
  unknown: 'with a mapping of which status or depth of knowledge is not known',
  astray: 'with a mapping to a slot or CASE GUID that the blueprint does not have',
};

/**
 * Aligns one source with its blueprint: every requirement keeps its full weight. It counts only if exactly one current mapping leads to a slot that
 * demands at least as much as the source [RP-171, RP-177..RP-184].
 * @param sourceSet Content's list of the sources, which names the possible targets of a mapping; undefined for a run of earlier rules, under which
 *   every target exists and an unknown status counts as no mapping
 * @returns err: a sentence on why the crosswalk has no alignment, which is an owner's mistake
 */
export function alignSource(
  { requirements }: Pick<AlignmentCrosswalk, 'requirements'>,
  sourceSet: Pick<AlignmentSources, 'slotIds' | 'caseGuids'> | undefined,
): Result<Alignment, string> {
  if (requirements.length === 0) return err('The crosswalk has no requirements.');
  if (requirements.length > MAX_REQUIREMENTS)
    return err(`The crosswalk has more than ${MAX_REQUIREMENTS} requirements.`);
  if (!areDistinct(requirements, shownLists.readAlignmentReport.contributions))
    return err('The crosswalk has a requirement twice.');
  const { slotIds, caseGuids } = sourceSet ?? {};
  const targets = slotIds && caseGuids && { slots: new Set(slotIds), guids: new Set(caseGuids) };
  if (sourceSet !== undefined && targets === undefined)
    return err('The list of sources does not name the slots and CASE GUIDs of the blueprint.');
  const contributions = requirements.map((requirement) => contributionOf(requirement, targets));
  const sums = alignmentPercentOf(contributions);
  if (!Number.isFinite(sums.denominator))
    return err('The weights of the crosswalk have a sum beyond every number.');
  return ok({ ...sums, contributions, limitations: limitationsOf(contributions, sums.denominator, targets) });
}

function contributionOf(requirement: Requirement, targets: Targets): AlignmentContribution {
  const { sourceRequirementId, weight, sourceDok } = requirement;
  const mapped = mappingOf(requirement, targets);
  return {
    ...{ sourceRequirementId, weight, sourceDok, ...mapped },
    coverage: mapped.targetDok === null ? 0 : 1,
    rigor: mapped.reasonCode === null ? 1 : 0,
    weightedContribution: mapped.reasonCode === null ? weight : 0,
  };
}

/** Returns the part of a requirement's mapping that holds, and why it does not count. The target DOK is set only if the mapping covers it. */
function mappingOf(
  { sourceDok, mappings }: Requirement,
  targets: Targets,
): Pick<AlignmentContribution, 'caseGuid' | 'blueprintSlotId' | 'targetDok' | 'reasonCode'> {
  const [mapping, ...others] = distinctCurrent(mappings);
  if (mapping === undefined || others.length > 0) {
    const reasonCode = mapping === undefined ? absenceOf(mappings, targets) : 'ambiguous_mapping';
    return { caseGuid: null, blueprintSlotId: null, targetDok: null, reasonCode };
  }
  const { caseGuid, blueprintSlotId, targetDok } = mapping;
  const uncovered = (reasonCode: ReasonCode) => ({ caseGuid, blueprintSlotId, targetDok: null, reasonCode });
  if (blueprintSlotId === null) return uncovered('missing_mapping');
  if (targetDok === null || isAstray(mapping, targets)) return uncovered('unknown');
  return { caseGuid, blueprintSlotId, targetDok, reasonCode: targetDok < sourceDok ? 'lower_dok' : null };
}

/** Returns why none of the candidates is current. */
function absenceOf(mappings: readonly Mapping[], targets: Targets): ReasonCode {
  if (mappings.some(({ status }) => status === 'stale')) return 'stale_mapping';
  const isUnknown = targets !== undefined && mappings.some(({ status }) => status !== 'current');
  return isUnknown ? 'unknown' : 'missing_mapping';
}

/** Returns whether a mapping leads to a slot or standard that the blueprint does not have. */
function isAstray(
  { caseGuid, blueprintSlotId }: Pick<AlignmentContribution, 'caseGuid' | 'blueprintSlotId'>,
  targets: Targets,
): boolean {
  if (targets === undefined || caseGuid === null || blueprintSlotId === null) return false;
  return !targets.slots.has(blueprintSlotId) || !targets.guids.has(caseGuid);
}

/** Returns the current ones among candidate mappings, each once: a list that repeats a mapping is not ambiguous. */
function distinctCurrent(mappings: readonly Mapping[]): readonly Mapping[] {
  const keyOf = ({ caseGuid, blueprintSlotId, targetDok }: Mapping): string =>
    JSON.stringify([caseGuid, blueprintSlotId, targetDok]);
  const current = mappings.filter(({ status }) => status === 'current');
  return [...new Map(current.map((mapping) => [keyOf(mapping), mapping])).values()];
}

/** Returns a sentence per cause that keeps requirements from counting, with their number and weight [RP-176]. */
function limitationsOf(
  contributions: readonly AlignmentContribution[],
  denominator: number,
  targets: Targets,
): string[] {
  const causeOf = (row: AlignmentContribution) => (isAstray(row, targets) ? 'astray' : row.reasonCode);
  const byCause = Map.groupBy(contributions, causeOf);
  return (Object.keys(shortfalls) as (keyof typeof shortfalls)[]).flatMap((cause) => {
    const kept = byCause.get(cause);
    if (kept === undefined) return [];
    const weight = exactSum(kept.map((contribution) => contribution.weight)).toNumber();
    const named = cause === 'astray' ? `unknown, first ${kept[0]?.sourceRequirementId ?? ''}` : cause;
    return [
      `${kept.length} of ${contributions.length} requirements ${shortfalls[cause]} (${named}): weight ${weight} of ${denominator} counts zero.`,
    ];
  });
}
