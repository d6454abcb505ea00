import type * as z from 'zod';
import type { GateDecision, TestKind } from '#shared/contract/reports/attempt-report.ts';
import { areUnique } from '#shared/contract/reports/primitives.ts';
import { MAX_ENTRIES, MAX_LIMITATIONS, nameSourcesOnce } from '#shared/contract/reports/readiness-report.ts';
import type {
  OmittedEntry,
  ReadinessEntry,
  readinessReport,
} from '#shared/contract/reports/readiness-report.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { ReadinessCrosswalks } from '#shared/platform/owners/content.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import { correlationOf } from '../facts/facts.ts';
import type { Moment, ReadinessFacts, Released } from '../facts/facts.ts';
import { checkScored, fallsShort, incomplete, requireCurrent } from '../facts/incomplete.ts';
import { composeAttemptReport } from './attempt-report.ts';
import { composeGate, settledKind } from './header.ts';

/** The rule that is applied [RP-113]. What it says stands in `decide` and `causes`; other conditions are another version. */
const RULE = { decisionRuleId: 'gate-implies-readiness', decisionRuleVersion: '2' } as const;

type Crosswalk = ReadinessCrosswalks['entries'][number];

/** What an attempt says to every crosswalk. */
interface AttemptGrounds {
  /** Why the attempt has no report of its own, in a sentence; undefined where it has one. */
  readonly shortfall: string | undefined;
  /** Undefined where it cannot be told, null for a kind without one. */
  readonly gate: GateDecision | null | undefined;
  readonly testKind: TestKind | undefined;
  /** Whether the blueprint has coverage evidence for claims beyond the single standard. */
  readonly qualifyingCoverage: boolean;
}

/** What the rule is applied to. */
interface Grounds extends AttemptGrounds {
  /** Whether the set of crosswalks and this one of it are current. */
  readonly crosswalkIsCurrent: boolean;
  readonly coverageFraction: number;
  readonly dokDominance: ReadinessEntry['dokDominance'];
  readonly slots: number;
}

/**
 * What an attempt implies for every named test of its blueprint's crosswalks. The report of the attempt is composed first: where it fails
 * as missing, unusable or stale beside a settled record, no pass is projected. An attempt that is not settled and facts that contradict each
 * other are the 503 that the report would be; a blueprint without a crosswalk is a 404 [the reading of RP-119].
 */
export function composeReadiness(
  facts: ReadinessFacts & Released,
  moment: Moment,
): Result<z.input<typeof readinessReport>, Problem> {
  const { evidence, record, criteria, candidate, framework, crosswalks } = facts;
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
    const entry = composeEntry(crosswalk, {
      ...attempt.value,
      coverageFraction,
      crosswalkIsCurrent: crosswalks.receipt.status === 'current' && crosswalk.freshness === 'current',
    });
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
    sources: [
      evidence.receipt,
      record.receipt,
      criteria.receipt,
      candidate,
      framework.receipt,
      crosswalks.receipt,
    ],
    ...correlationOf(moment),
  });
}

/** What the attempt says, or the problem that its report would be too. */
function groundsOf(facts: ReadinessFacts & Released): Result<AttemptGrounds, Problem> {
  const record = facts.record.value;
  const criteria = facts.criteria.value;
  if (!record.settled) return fallsShort('notSettled');
  const report = composeAttemptReport({ ...facts, enrichments: [] });
  if (!report.ok && report.error.reason === 'contradiction') return report;
  // The gate of an attempt without a report may still be told.
  const kind = settledKind({ record, criteria });
  const gate = kind.ok ? composeGate(kind.value, { record, criteria }) : kind;
  return ok({
    shortfall: report.ok ? undefined : report.error.detail,
    gate: gate.ok ? gate.value : undefined,
    testKind: kind.ok ? kind.value : undefined,
    qualifyingCoverage: criteria.qualifyingCoverage,
  });
}

/** The limits of a report [RP-110]. */
function checkCrosswalks({ entries }: ReadinessCrosswalks): Problem | undefined {
  if (entries.length > MAX_ENTRIES)
    return incomplete('blueprint', 'The blueprint holds more crosswalks than a report can carry.');
  return nameSourcesOnce(entries)
    ? undefined
    : incomplete('blueprint', 'The blueprint holds two crosswalks to one version of a source test.');
}

function composeEntry(
  crosswalk: Crosswalk,
  known: Pick<Grounds, keyof AttemptGrounds | 'coverageFraction' | 'crosswalkIsCurrent'>,
): Result<ReadinessEntry, Problem> {
  const { qualifyingBlueprintSlotIds } = crosswalk;
  if (!areUnique(qualifyingBlueprintSlotIds))
    return err(incomplete('blueprint', 'The blueprint names a qualifying slot of a source test twice.'));
  const dokDominance = dominanceOf(crosswalk.dokDominance);
  const { decision, limitations: ours } = decide({
    ...known,
    dokDominance,
    slots: qualifyingBlueprintSlotIds.length,
  });
  const limitations = [...crosswalk.limitations, ...ours];
  if (limitations.length > MAX_LIMITATIONS)
    return err(
      incomplete(
        'blueprint',
        'The blueprint states more limitations of a source test than a report can carry.',
      ),
    );
  return ok({
    decision,
    sourceTest: crosswalk.sourceTest,
    sourceVersion: crosswalk.sourceVersion,
    crosswalkVersion: crosswalk.crosswalkVersion,
    coverageFraction: known.coverageFraction,
    dokDominance,
    qualifyingBlueprintSlotIds,
    ...RULE,
    limitations,
  });
}

/** The answer has no `unknown` here: a dominance that is missing, or that this service does not know, is not determined [RP-112]. */
function dominanceOf(dokDominance: Crosswalk['dokDominance']): ReadinessEntry['dokDominance'] {
  return dokDominance === 'satisfied' || dokDominance === 'not_satisfied' ? dokDominance : 'indeterminate';
}

/**
 * The rule: a failed gate is `not_ready`, whatever else there is; a pass with nothing that speaks against it is a `projected_pass`; everything
 * else is `indeterminate`, with a limitation for each cause [RP-116..RP-118, the reading of RP-119].
 */
function decide(grounds: Grounds): Pick<ReadinessEntry, 'decision' | 'limitations'> {
  const shortfall = grounds.shortfall === undefined ? [] : [grounds.shortfall];
  if (grounds.gate?.status === 'fail') return { decision: 'not_ready', limitations: shortfall };
  const ruledOut = causes.filter(({ holds }) => holds(grounds)).map(({ limitation }) => limitation);
  const limitations = [...shortfall, ...ruledOut];
  return { decision: limitations.length === 0 ? 'projected_pass' : 'indeterminate', limitations };
}

/** All that rules a projected pass out beside the shortfall of a report. */
const causes: readonly { readonly holds: (grounds: Grounds) => boolean; readonly limitation: string }[] = [
  {
    holds: ({ gate }) => gate === null,
    limitation: 'Tests of this kind have no gate decision, on which readiness rests.',
  },
  {
    holds: ({ testKind, qualifyingCoverage }) => testKind === 'formative' && !qualifyingCoverage,
    limitation: 'The blueprint has no coverage evidence that qualifies for an external claim.',
  },
  {
    holds: ({ gate }) => gate?.status === 'indeterminate',
    limitation: 'The gate decision of the attempt is indeterminate.',
  },
  {
    holds: ({ gate }) => gate?.status === 'unknown',
    limitation: 'The status of the attempt’s gate decision is not known.',
  },
  {
    holds: ({ crosswalkIsCurrent }) => !crosswalkIsCurrent,
    limitation: 'The crosswalk to the source test is not current.',
  },
  {
    holds: ({ coverageFraction }) => coverageFraction !== 1,
    limitation: 'The blueprint does not cover the source test completely.',
  },
  {
    holds: ({ dokDominance }) => dokDominance === 'not_satisfied',
    limitation: 'The blueprint demands less depth of knowledge than the source test.',
  },
  {
    holds: ({ dokDominance }) => dokDominance === 'indeterminate',
    limitation:
      'Whether the blueprint demands as much depth of knowledge as the source test is not determined.',
  },
  {
    holds: ({ slots }) => slots === 0,
    limitation: 'No slot of the blueprint qualifies for the source test.',
  },
];
