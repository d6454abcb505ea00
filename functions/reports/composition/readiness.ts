import type * as z from 'zod';
import { areUnique } from '#shared/contract/reports/primitives.ts';
import {
  MAX_ENTRIES,
  MAX_LIMITATIONS,
  MAX_LIMITATION_LENGTH,
  nameSourcesOnce,
  type OmittedEntry,
  type ReadinessEntry,
  type readinessReport,
} from '#shared/contract/reports/readiness-report.ts';
import { cutAfter } from '#shared/kernel/cut-text.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { ReadinessCrosswalks } from '#shared/platform/owners/content.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Moment, ReadinessFacts, Released } from '../facts/facts.ts';
import { checkScored, fallsShort, incomplete, requireCurrent } from '../facts/incomplete.ts';
import { composeAttemptReport, requiredReceipts } from './attempt-report.ts';
import { composeGate, settledKind } from './header.ts';

/** The rule that is applied [RP-113]. `composeEntry` implements it; other conditions need another version. */
const RULE = { decisionRuleId: 'gate-implies-readiness', decisionRuleVersion: '2' } as const;

type Crosswalk = ReadinessCrosswalks['entries'][number];

/** The facts of an attempt that apply to every crosswalk. */
interface AttemptGrounds {
  /** Whether a current decision failed the gate. */
  readonly hasFailedGate: boolean;
  /** What rules out a projected pass in every crosswalk, one sentence per cause. */
  readonly limitations: readonly string[];
}

/**
 * Composes what an attempt implies for every named test of its blueprint's crosswalks. It composes the report of the attempt first: if that fails as
 * missing, unusable or stale although the record is settled, no pass is projected. An attempt that is not settled, and facts that contradict each
 * other, are the 503 that the report would be; a blueprint without a crosswalk is a 404 [the reading of RP-119].
 */
export function composeReadiness(
  facts: ReadinessFacts & Released,
  moment: Moment,
): Result<z.input<typeof readinessReport>, Problem> {
  const { evidence, crosswalks } = facts;
  const unfit = checkScored(facts) ?? checkCrosswalks(crosswalks.value);
  if (unfit !== undefined) return err(unfit);
  if (crosswalks.value.entries.length === 0)
    return err(requireCurrent([crosswalks.receipt]) ?? problem('reports', 'not-found', 404));
  const attempt = groundsOf(facts);
  if (!attempt.ok) return attempt;

  const entries: ReadinessEntry[] = [];
  const omittedEntries: OmittedEntry[] = [];
  for (const crosswalk of crosswalks.value.entries) {
    const { sourceTest, sourceVersion, coverageFraction } = crosswalk;
    if (coverageFraction === null || coverageFraction === undefined) {
      omittedEntries.push({ sourceTest, sourceVersion, reason: 'coverage_missing' });
      continue;
    }
    const isCurrent = crosswalks.receipt.status === 'current' && crosswalk.freshness === 'current';
    const entry = composeEntry(attempt.value, { ...crosswalk, coverageFraction }, isCurrent);
    if (!entry.ok) return entry;
    entries.push(entry.value);
  }
  if (entries.length === 0)
    return err(incomplete('blueprint', 'The blueprint has no coverage evidence for any source test.'));
  return ok({
    object: 'readiness_report',
    attemptId: evidence.value.attemptId,
    entries,
    ...(omittedEntries.length === 0 ? {} : { omittedEntries }),
    sources: [...requiredReceipts(facts), crosswalks.receipt],
    ...moment,
  });
}

/** Returns the grounds that the attempt gives, or the problem that its report would be too. */
function groundsOf(facts: ReadinessFacts & Released): Result<AttemptGrounds, Problem> {
  const record = facts.record.value;
  const criteria = facts.criteria.value;
  if (!record.settled) return fallsShort('notSettled');
  const report = composeAttemptReport({ ...facts, enrichments: [] });
  if (!report.ok && report.error.reason === 'contradiction') return report;
  const limitations = report.ok ? [] : [report.error.detail];
  // The gate of an attempt without a report may still be known.
  const kind = settledKind({ record, criteria });
  const gate = kind.ok ? composeGate(kind.value, { record, criteria }) : kind;
  const { status, achieved = null, required = 0 } = (gate.ok ? gate.value : null) ?? {};
  if (gate.ok && gate.value === null)
    limitations.push('Tests of this kind have no gate decision, on which readiness depends.');
  if (kind.ok && kind.value === 'formative' && !criteria.qualifyingCoverage)
    limitations.push('The blueprint has no coverage evidence that qualifies for an external claim.');
  if (status === 'indeterminate') limitations.push('The gate decision of the attempt is indeterminate.');
  if (status === 'unknown') limitations.push('The status of the attempt’s gate decision is not known.');
  if (status === 'pass' && achieved !== null && achieved < required)
    limitations.push('The gate is passed at a measurement that reaches its threshold by rounding alone.');
  if (report.ok && status === 'pass' && !report.value.mastery.some(({ row }) => row.state === 'mastered'))
    limitations.push('No mastery row of the attempt shows anything mastered.');
  if (report.ok && report.value.ungovernedGapCount > 0)
    limitations.push('The attempt shows a gap of which the criteria of the gate do not speak.');
  // The gate may have been passed since, if its decision or the lookup that led to it is old.
  const isCurrent = requireCurrent([facts.evidence.receipt, facts.record.receipt]) === undefined;
  return ok({ hasFailedGate: status === 'fail' && isCurrent, limitations });
}

/** Checks the limits of a report [RP-110]. */
function checkCrosswalks({ entries }: ReadinessCrosswalks): Problem | undefined {
  if (entries.length > MAX_ENTRIES)
    return incomplete('blueprint', 'The blueprint has more crosswalks than a report can contain.');
  return nameSourcesOnce(entries)
    ? undefined
    : incomplete('blueprint', 'The blueprint has two crosswalks to one version of a source test.');
}

/**
 * Applies the rule: a failed gate is always `not_ready`; a pass that nothing contradicts is a `projected_pass`; everything else is `indeterminate`,
 * with one limitation per cause [RP-116..RP-118, the reading of RP-119].
 */
function composeEntry(
  { hasFailedGate, limitations: general }: AttemptGrounds,
  crosswalk: Crosswalk & { readonly coverageFraction: number },
  isCurrent: boolean,
): Result<ReadinessEntry, Problem> {
  const { sourceTest, sourceVersion, crosswalkVersion, coverageFraction } = crosswalk;
  const { qualifyingBlueprintSlotIds } = crosswalk;
  if (!areUnique(qualifyingBlueprintSlotIds))
    return err(incomplete('blueprint', 'The blueprint names a qualifying slot of a source test twice.'));
  const dokDominance = dominanceOf(crosswalk.dokDominance);
  const causes = [...general];
  if (!isCurrent) causes.push('The crosswalk to the source test is not current.');
  if (coverageFraction !== 1) causes.push('The blueprint does not cover the source test completely.');
  if (dokDominance === 'not_satisfied')
    causes.push('The blueprint demands less depth of knowledge than the source test.');
  if (dokDominance === 'indeterminate')
    causes.push(
      'Whether the blueprint demands as much depth of knowledge as the source test is not determined.',
    );
  if (qualifyingBlueprintSlotIds.length === 0)
    causes.push('No slot of the blueprint qualifies for the source test.');
  const limitations = withinLimit(crosswalk.limitations, causes);
  if (limitations === undefined)
    return err(
      incomplete(
        'blueprint',
        'The blueprint states more limitations of a source test than a report can contain.',
      ),
    );
  const decision = causes.length === 0 ? 'projected_pass' : 'indeterminate';
  return ok({
    decision: hasFailedGate ? 'not_ready' : decision,
    sourceTest,
    sourceVersion,
    crosswalkVersion,
    coverageFraction,
    dokDominance,
    qualifyingBlueprintSlotIds,
    ...RULE,
    limitations,
  });
}

/**
 * Returns the limitations that the blueprint states, then the causes. If they are too many, it joins the last ones, the causes first, and cuts the
 * blueprint's to the length of one limitation. Returns undefined if the blueprint by itself states too many.
 */
function withinLimit(stated: readonly string[], causes: readonly string[]): string[] | undefined {
  const own = joinedBeyond(stated, MAX_LIMITATIONS - 1);
  if ((own.at(-1) ?? '').length > MAX_LIMITATION_LENGTH) return undefined;
  if (own.length + causes.length <= MAX_LIMITATIONS) return [...own, ...causes];
  const kept = own.slice(0, MAX_LIMITATIONS - 1);
  const rest = joinedBeyond([...causes, ...own.slice(kept.length)], MAX_LIMITATIONS - 1 - kept.length);
  return [
    ...kept,
    ...rest.map((text) =>
      text.length > MAX_LIMITATION_LENGTH ? cutAfter(text, MAX_LIMITATION_LENGTH - 1) : text,
    ),
  ];
}

/** Returns texts of which those after a place are joined into one. */
function joinedBeyond(texts: readonly string[], place: number): readonly string[] {
  return texts.length <= place + 1 ? texts : [...texts.slice(0, place), texts.slice(place).join(' ')];
}

/** Returns the dominance of a crosswalk. The response has no `unknown` here: a missing or unknown dominance is not determined [RP-112]. */
function dominanceOf(dokDominance: Crosswalk['dokDominance']): ReadinessEntry['dokDominance'] {
  return dokDominance === 'satisfied' || dokDominance === 'not_satisfied' ? dokDominance : 'indeterminate';
}
