import type * as z from 'zod';
import type { GateDecision, TestKind } from '#shared/contract/reports/attempt-report.ts';
import { areUnique } from '#shared/contract/reports/primitives.ts';
import { MAX_ENTRIES, MAX_LIMITATIONS, nameSourcesOnce } from '#shared/contract/reports/readiness-report.ts';
import type { ReadinessEntry, readinessReport } from '#shared/contract/reports/readiness-report.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { ReadinessCrosswalks } from '#shared/platform/owners/content.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Moment, ReadinessFacts } from '../facts/facts.ts';
import { reportKinds, settledKind } from './header.ts';
import { checkScored, incomplete, requireCurrent } from '../facts/incomplete.ts';
import { checkGaps } from './mastery-gate.ts';

/** The rule that is applied [RP-113]. What it says stands in `decide` and `causes`; other conditions are another version. */
const RULE = { decisionRuleId: 'gate-implies-readiness', decisionRuleVersion: '2' } as const;

type Crosswalk = ReadinessCrosswalks['entries'][number];

/** What the rule is applied to: one crosswalk and what the attempt says of all. */
interface Grounds {
  readonly testKind: TestKind;
  /** Null for a kind without one. */
  readonly gate: GateDecision | null;
  /** Whether everything that the gate stands on is current. */
  readonly gateIsCurrent: boolean;
  /** Whether the blueprint has coverage evidence for claims beyond the single standard. */
  readonly qualifyingCoverage: boolean;
  /** Whether the set of crosswalks and this one of it are current. */
  readonly crosswalkIsCurrent: boolean;
  readonly coverageFraction: number;
  readonly dokDominance: ReadinessEntry['dokDominance'];
  readonly slots: number;
}

/**
 * What an attempt implies for every named test of its blueprint's crosswalks. The gate is the report's own. What is stale gives
 * `indeterminate`; what an entry cannot be written without gives a 503 naming its owner; a blueprint without a crosswalk is a 404.
 */
export function composeReadiness(
  facts: ReadinessFacts,
  moment: Moment,
): Result<z.input<typeof readinessReport>, Problem> {
  const { evidence, record, criteria, candidate, crosswalks } = facts;
  const unfit = checkScored(facts) ?? checkCrosswalks(crosswalks.value);
  if (unfit !== undefined) return err(unfit);
  if (crosswalks.value.entries.length === 0)
    return err(requireCurrent([crosswalks.receipt]) ?? problem('reports', 'not-found', 404));

  const sources = [evidence.receipt, record.receipt, criteria.receipt, candidate, crosswalks.receipt];
  const settled = settledKind({ record: record.value, criteria: criteria.value });
  if (!settled.ok) return settled;
  const gate = reportKinds[settled.value].gate({
    record: record.value,
    criteria: criteria.value,
    administeredItemCount: evidence.value.administeredItemCount,
  });
  if (!gate.ok) return gate;
  const gap = checkGaps(gate.value, record.value.mastery);
  if (gap !== undefined) return err(gap);

  const attempt = {
    testKind: settled.value,
    gate: gate.value,
    gateIsCurrent:
      requireCurrent([evidence.receipt, record.receipt, criteria.receipt, candidate]) === undefined,
    qualifyingCoverage: criteria.value.qualifyingCoverage,
  };
  const entries: ReadinessEntry[] = [];
  for (const crosswalk of crosswalks.value.entries) {
    const entry = composeEntry(crosswalk, {
      ...attempt,
      crosswalkIsCurrent: crosswalks.receipt.status === 'current' && crosswalk.freshness === 'current',
    });
    if (!entry.ok) return entry;
    entries.push(entry.value);
  }
  return ok({
    object: 'readiness_report',
    attemptId: evidence.value.attemptId,
    entries,
    sources,
    observedAt: moment.observedAt,
    requestId: moment.requestId,
    traceId: moment.traceId,
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
  attempt: Pick<Grounds, 'testKind' | 'gate' | 'gateIsCurrent' | 'qualifyingCoverage' | 'crosswalkIsCurrent'>,
): Result<ReadinessEntry, Problem> {
  const { coverageFraction, qualifyingBlueprintSlotIds } = crosswalk;
  if (coverageFraction === null)
    return err(incomplete('blueprint', 'The blueprint has no coverage evidence for a source test.'));
  if (!areUnique(qualifyingBlueprintSlotIds))
    return err(incomplete('blueprint', 'The blueprint names a qualifying slot of a source test twice.'));
  const dokDominance = dominanceOf(crosswalk.dokDominance);
  const { decision, limitations: ours } = decide({
    ...attempt,
    coverageFraction,
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
    coverageFraction,
    dokDominance,
    qualifyingBlueprintSlotIds,
    ...RULE,
    limitations,
  });
}

/** The answer has no `unknown` here: a dominance that this service does not know is not determined [RP-112]. */
function dominanceOf(dokDominance: string): ReadinessEntry['dokDominance'] {
  return dokDominance === 'satisfied' || dokDominance === 'not_satisfied' ? dokDominance : 'indeterminate';
}

/**
 * The rule: a current failed gate is `not_ready`, whatever the crosswalk says; a pass with nothing that speaks against it is a
 * `projected_pass`; everything else is `indeterminate`, with a limitation for each cause [RP-116..RP-118, the reading of RP-119].
 */
function decide(grounds: Grounds): Pick<ReadinessEntry, 'decision' | 'limitations'> {
  if (grounds.gateIsCurrent && grounds.gate?.status === 'fail')
    return { decision: 'not_ready', limitations: [] };
  const limitations = causes.filter(({ holds }) => holds(grounds)).map(({ limitation }) => limitation);
  return { decision: limitations.length === 0 ? 'projected_pass' : 'indeterminate', limitations };
}

/** All that rules a projected pass out. */
const causes: readonly { readonly holds: (grounds: Grounds) => boolean; readonly limitation: string }[] = [
  {
    holds: ({ gateIsCurrent }) => !gateIsCurrent,
    limitation: 'The evidence of the attempt, or the criteria that it is held against, is not current.',
  },
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
    holds: ({ gate }) => gate?.status === 'fail',
    limitation: 'The gate of the attempt was failed on evidence that is not current.',
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
