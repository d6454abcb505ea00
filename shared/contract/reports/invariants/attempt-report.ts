import { canBeOneValue, isFurtherApart } from '#shared/kernel/decimal.ts';
import type { DiagnosticDetail, GateDecision, ItemEvidence, MasteryRow, Score } from '../attempt-report.ts';
import { areDistinct, ownedBy, type InvariantRows } from './invariant.ts';
import { shownLists } from './lists.ts';

/** The part of a report's summary that can contradict itself. */
export interface CheckedSummary {
  readonly score: Score;
  /** Null if the kind of the test has no decision. */
  readonly gate: GateDecision | null;
  readonly diagnostic: DiagnosticDetail | null;
  /** The CASE GUIDs of the mastery rows in state `gap`, which no summary shows. */
  readonly gapRows: readonly string[];
  /** Returns whether the criteria of the gate cover a standard or knowledge component. */
  readonly isGoverned: (caseGuid: string) => boolean;
}

/** A whole report before any projection. */
export interface CheckedReport extends Pick<CheckedSummary, 'gate'> {
  readonly mastery: readonly {
    readonly row: Omit<MasteryRow, 'evidence'>;
    readonly evidence: readonly ItemEvidence[];
  }[];
  /** How many items QTI administered. */
  readonly administeredItemCount: number;
  /** How many items have a scored outcome. */
  readonly scoredItemCount: number;
}

const lists = shownLists.readAttemptReport;

/** The invariants that apply to a decision of each status, in addition to those that apply to all. */
const cells: Readonly<Record<GateDecision['status'], { passed?: true; failed?: true; listsGapRows?: true }>> =
  {
    pass: { passed: true, listsGapRows: true },
    fail: { failed: true, listsGapRows: true },
    // There is no decision: the list need not be complete, and the measurement need not be valid.
    indeterminate: {},
    unknown: {},
  };

const isPassed = (gate: GateDecision | null): gate is GateDecision =>
  gate !== null && cells[gate.status].passed === true;

/** The invariants of what a summary shows, and of the gaps that its gate has to list. */
export const summaryInvariants = ownedBy('results', {
  'score-within-bounds': {
    broken: 'The settled score lies outside the bounds that Results gives for it.',
    allows: 'Extra credit, where Results gives no maximum.',
    reason: 'unusable',
    holds: ({ score: { value, minimum, maximum } }) =>
      (minimum ?? value) <= value && value <= (maximum ?? value),
  },
  'one-mastery-scale': {
    broken: 'Score and diagnostic at Results are on two mastery scales.',
    allows: 'A score in points or percent together with a diagnostic.',
    holds: ({ score, diagnostic }) =>
      diagnostic === null || score.unit !== 'mastery_scale' || score.scaleVersion === diagnostic.scaleVersion,
  },
  'one-score-per-scale': {
    broken: 'Score and diagnostic at Results are two scores on one scale.',
    allows: 'One score at two precisions.',
    holds: ({ score, diagnostic }) =>
      diagnostic === null ||
      score.unit !== 'mastery_scale' ||
      canBeOneValue(score.value, diagnostic.scaleScore),
  },
  'pass-not-below-required': {
    broken: 'The gate is passed at Results below its own threshold.',
    allows: 'A measurement that is the threshold when both are given at the coarser precision of the two.',
    holds: ({ gate }) =>
      !isPassed(gate) ||
      gate.achieved === null ||
      gate.achieved >= gate.required ||
      canBeOneValue(gate.achieved, gate.required),
  },
  'pass-lists-no-gap': {
    broken: 'The gate is passed at Results and lists gaps.',
    allows: 'An indeterminate gate that lists gaps.',
    holds: ({ gate }) => !isPassed(gate) || gate.gapCaseGuids.length === 0,
  },
  'fail-has-a-cause': {
    broken: 'The gate is failed at Results, is not below its threshold, and lists no gap.',
    allows:
      'A gate that is failed at its threshold for a gap (conjunctive criteria), or below it without a gap.',
    holds: ({ gate }) =>
      gate === null ||
      cells[gate.status].failed !== true ||
      gate.achieved === null ||
      gate.achieved < gate.required ||
      gate.gapCaseGuids.length > 0,
  },
  'gap-listed-once': {
    broken: 'The gate’s list of gaps at Results names one of them twice.',
    allows: 'A listed gap without a mastery row.',
    holds: ({ gate }) => gate === null || areDistinct(gate.gapCaseGuids, lists.gate.gapCaseGuids),
  },
  'gate-lists-its-gap-rows': {
    broken: 'The decided gate at Results does not list a gap of its mastery rows.',
    allows: 'A gap that the criteria do not cover.',
    holds: ({ gate, gapRows, isGoverned }) => {
      if (gate === null || cells[gate.status].listsGapRows !== true) return true;
      const listed = new Set(gate.gapCaseGuids);
      return gapRows.every((caseGuid) => listed.has(caseGuid) || !isGoverned(caseGuid));
    },
  },
} satisfies InvariantRows<CheckedSummary>);

/** The statements about one attempt by two owners, or in two responses of one owner: code that reads both compares them. */
export const attemptStatements = ownedBy('results', {
  'one-test-kind': {
    broken: 'Results and Content name different test kinds for the attempt.',
    allows: 'A test kind that this version does not know, if both name it.',
  },
  'one-time-of-modification': {
    broken: 'Record and index at Results give an attempt two times of modification.',
    allows: 'One instant in two spellings.',
  },
  'parent-as-in-case': {
    broken: 'Results gives a mastery row another parent than the CASE framework.',
    allows: 'Any of several parents.',
  },
});

/** The invariants of facts that only a whole report contains. */
export const reportInvariants = ownedBy('results', {
  'items-administered': {
    owner: 'qti',
    broken: 'QTI has scored more items than it has administered.',
    allows: 'An administered item without a scored outcome.',
    holds: ({ administeredItemCount, scoredItemCount }) => scoredItemCount <= administeredItemCount,
  },
  'one-row-per-standard': {
    broken: 'Results has two mastery rows of one kind and CASE GUID.',
    allows: 'A standard and a knowledge component under one GUID.',
    holds: ({ mastery }) =>
      areDistinct(
        mastery.map(({ row }) => row),
        lists.mastery,
      ),
  },
  'no-standard-above-itself': {
    owner: 'case',
    broken: 'The CASE framework has a standard of the mastery rows above itself.',
    allows: 'A standard that two others are below.',
    holds: ({ mastery }) => isAcyclic(mastery.map(({ row }) => row)),
  },
  'one-evidence-per-outcome': {
    broken: 'Results counts one outcome twice as evidence of a mastery row.',
    allows: 'One outcome as evidence of several rows.',
    holds: ({ mastery }) =>
      mastery.every(({ evidence }) => areDistinct(evidence, lists.mastery.rows.evidence)),
  },
  'listed-gap-not-mastered': {
    broken: 'The gate at Results lists a gap whose mastery row is mastered.',
    allows: 'A listed gap whose row is not decided yet, or of whose two rows one is a gap.',
    holds: ({ gate, mastery }) => {
      if (gate === null) return true;
      const listed = new Set(gate.gapCaseGuids);
      // A standard may be mastered although the knowledge component with its GUID is a gap.
      for (const { row } of mastery) if (row.state === 'gap') listed.delete(row.caseGuid);
      return mastery.every(({ row: { state, caseGuid } }) => state !== 'mastered' || !listed.has(caseGuid));
    },
  },
  'state-fits-estimate': {
    broken: 'A mastery row at Results is mastered far below its threshold, or a gap far above it.',
    allows: 'An estimate on the other side of the threshold within its uncertainty.',
    holds: ({ mastery }) => mastery.every(({ row }) => isNear(row)),
  },
} satisfies InvariantRows<CheckedReport>);

/** Returns whether no path from child to parent returns to its start. A standard and a knowledge component with one GUID may have different parents. */
function isAcyclic(rows: readonly Pick<MasteryRow, 'caseGuid' | 'parentCaseGuid'>[]): boolean {
  const above = new Map(rows.map(({ caseGuid }) => [caseGuid, 0]));
  const below = new Map<string, string[]>();
  for (const { caseGuid, parentCaseGuid } of rows) {
    if (parentCaseGuid === null || !above.has(parentCaseGuid)) continue;
    above.set(caseGuid, (above.get(caseGuid) ?? 0) + 1);
    const others = below.get(parentCaseGuid);
    if (others === undefined) below.set(parentCaseGuid, [caseGuid]);
    else others.push(caseGuid);
  }
  // Takes away what has nothing above it, until nothing is left but what is above itself.
  const free = [...above].flatMap(([guid, count]) => (count === 0 ? [guid] : []));
  for (const guid of free)
    for (const child of below.get(guid) ?? []) {
      const left = (above.get(child) ?? 0) - 1;
      above.set(child, left);
      if (left === 0) free.push(child);
    }
  return free.length === above.size;
}

/** By how many times its uncertainty an estimate may be on the wrong side of the threshold. */
const margins: Readonly<Record<MasteryRow['uncertaintyKind'], number | undefined>> = {
  policy_margin: 1,
  interval_half_width: 1,
  standard_error: 4,
  unknown: undefined,
};

/** On which side of the threshold the estimate of a row of each state is: 1 above, -1 below, 0 on either. */
const sides: Readonly<Record<MasteryRow['state'], 1 | -1 | 0>> = {
  mastered: 1,
  gap: -1,
  not_yet: 0,
  insufficient_evidence: 0,
  unknown: 0,
};

function isNear({ state, estimate, threshold, uncertainty, uncertaintyKind }: Omit<MasteryRow, 'evidence'>) {
  const times = margins[uncertaintyKind];
  if (times === undefined || Math.sign(estimate - threshold) !== -sides[state]) return true;
  return !isFurtherApart(estimate, threshold, uncertainty, times);
}
