import { MAX_MASTERY_ROWS, MAX_ROW_EVIDENCE, masteryRow } from '#shared/contract/reports/attempt-report.ts';
import type { ItemEvidence, MasteryRow } from '#shared/contract/reports/attempt-report.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { AttemptEvidence } from '#shared/platform/owners/qti.ts';
import type { SettledMastery } from '#shared/platform/owners/results.ts';
import type { Framework } from '../facts/facts.ts';
import { disagreeing, fallsShort, shortfall, type Shortfall } from '../facts/incomplete.ts';
import { nameOrUnknown } from '../facts/name-or-unknown.ts';

/** The most evidence rows of one attempt: a longer response does not fit into a function's memory. */
const MAX_EVIDENCE = 250_000;

/** A mastery row before any projection: what the view `standards` shows of it, and its evidence. */
export interface ComposedRow {
  readonly row: Omit<MasteryRow, 'evidence'>;
  readonly evidence: ItemEvidence[];
}

const states = masteryRow.shape.state.options;
const uncertaintyKinds = masteryRow.shape.uncertaintyKind.options;

/**
 * Composes the mastery of an attempt: rows, contributions and ids from Results, the time of every outcome from QTI, every GUID in CASE.
 * @param mastery the rows of the settled record; they are counted before anything is built from them
 * @returns `scoredItemCount`: how many of the attempt's items have a scored outcome
 */
export function composeMastery(
  mastery: readonly SettledMastery[],
  { outcomes }: Pick<AttemptEvidence, 'outcomes'>,
  framework: Framework,
): Result<{ readonly rows: ComposedRow[]; readonly scoredItemCount: number }, Shortfall> {
  const excess = checkCounts(mastery);
  if (excess !== undefined) return err(excess);
  const index = indexOutcomes(outcomes);
  if (index === undefined) return fallsShort('outcomeTwice');
  const rows: ComposedRow[] = [];
  for (const settled of mastery) {
    const foreign = checkPlace(settled, framework);
    if (foreign !== undefined) return err(foreign);
    const row = composeRow(settled, index);
    if (!row.ok) return row;
    rows.push(row.value);
  }
  // The index is by item: its size is the number of items with an outcome.
  return ok({ rows, scoredItemCount: index.size });
}

/** Checks the limits of a report [RP-064, RP-095]. */
function checkCounts(mastery: readonly SettledMastery[]): Shortfall | undefined {
  if (mastery.length > MAX_MASTERY_ROWS) return shortfall('tooManyRows');
  let total = 0;
  for (const { evidence } of mastery) {
    if (evidence.length === 0) return shortfall('noEvidence');
    if (evidence.length > MAX_ROW_EVIDENCE) return shortfall('tooMuchEvidenceInRow');
    total += evidence.length;
  }
  return total > MAX_EVIDENCE ? shortfall('tooMuchEvidence') : undefined;
}

type Outcome = AttemptEvidence['outcomes'][number];

/**
 * The outcomes by item, and those of an item with several by outcome. Neither id by itself identifies an outcome: where QTI names outcomes by their
 * variables, every item has the same ones. A string of both ids as the key would cost more than the rest of a composition.
 */
type OutcomeIndex = Map<string, Outcome | Map<string, Outcome>>;

/** Indexes the outcomes; returns undefined if QTI names an outcome twice. */
function indexOutcomes(outcomes: readonly Outcome[]): OutcomeIndex | undefined {
  const index: OutcomeIndex = new Map();
  for (const outcome of outcomes) {
    const { qtiItemId, qtiOutcomeId } = outcome;
    if (findOutcome(index, qtiItemId, qtiOutcomeId) !== undefined) return undefined;
    const others = index.get(qtiItemId);
    if (others === undefined) index.set(qtiItemId, outcome);
    else if (others instanceof Map) others.set(qtiOutcomeId, outcome);
    else index.set(qtiItemId, new Map([others, outcome].map((each) => [each.qtiOutcomeId, each])));
  }
  return index;
}

function findOutcome(index: OutcomeIndex, qtiItemId: string, qtiOutcomeId: string): Outcome | undefined {
  const found = index.get(qtiItemId);
  if (found instanceof Map) return found.get(qtiOutcomeId);
  return found?.qtiOutcomeId === qtiOutcomeId ? found : undefined;
}

/** Checks that a row is in CASE, under one of its parents there; a root has none [RP-089, RP-090]. */
function checkPlace(
  { caseGuid, parentCaseGuid }: SettledMastery,
  { guids, parents }: Framework,
): Shortfall | undefined {
  if (!guids.has(caseGuid) || (parentCaseGuid !== null && !guids.has(parentCaseGuid)))
    return shortfall('unknownRow');
  const above = parents.get(caseGuid) ?? [];
  const fits = parentCaseGuid === null ? above.length === 0 : above.includes(parentCaseGuid);
  return fits ? undefined : disagreeing('parent-as-in-case');
}

function composeRow(settled: SettledMastery, index: OutcomeIndex): Result<ComposedRow, Shortfall> {
  const { estimate, threshold, confidence = null, evidence: settledEvidence, ...row } = settled;
  if (estimate === null || threshold === null) return fallsShort('noEstimate');
  const evidence: ItemEvidence[] = [];
  for (const { qtiItemId, qtiOutcomeId, resultComponentId, contribution } of settledEvidence) {
    const outcome = findOutcome(index, qtiItemId, qtiOutcomeId);
    if (outcome === undefined) return fallsShort('noOutcome');
    evidence.push({
      qtiItemId,
      qtiOutcomeId,
      resultComponentId,
      contribution,
      observedAt: outcome.scoredAt,
    });
  }
  return ok({
    row: {
      ...row,
      estimate,
      threshold,
      confidence,
      state: nameOrUnknown(states, row.state),
      uncertaintyKind: nameOrUnknown(uncertaintyKinds, row.uncertaintyKind),
    },
    evidence,
  });
}
