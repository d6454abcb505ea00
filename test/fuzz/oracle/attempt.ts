/** A second composer, from the text of the specification and nothing of the product: what the owners' facts may tell a reader. */
import { BigNumber } from 'bignumber.js';
import type { Facts } from '../subjects.ts';

/** Members of an answer, or `refused`. `undecided`: the text has two rules and no order; a pass is never projected then. */
export type Expected = 'refused' | 'undecided' | Readonly<Record<string, unknown>>;

export const once = (keys: readonly unknown[]): boolean =>
  new Set(keys.map((key) => JSON.stringify(key))).size === keys.length;
const known = (value: string, ...names: readonly string[]) => (names.includes(value) ? value : 'unknown');
const decimal = (value: number) => new BigNumber(String(value));
const apart = (a: number, b: number) => decimal(a).minus(decimal(b)).abs();
/** Whether two numbers are one at the coarser precision of the two, of which whole digits count. */
const agree = (a: number, b: number) =>
  apart(a, b).lte(new BigNumber(0.5).shiftedBy(-Math.min(decimal(a).dp() ?? 0, decimal(b).dp() ?? 0)));
export const isOld = (...facts: readonly { freshness: string }[]): boolean =>
  facts.some((fact) => fact.freshness !== 'current');
const differ = (a: unknown, b: unknown) => (a ?? null) !== null && (b ?? null) !== null && a !== b;

const margins: Readonly<Record<string, number>> = {
  policy_margin: 1,
  interval_half_width: 1,
  standard_error: 4,
};

/** The decision that a gate shows: null for another kind, undefined where nobody names its criteria. */
function gateOf({ readSettledRecord: { gate }, readReportCriteria: { testKind, criteria } }: Facts) {
  if (testKind !== 'mastery_gate') return null;
  const criteriaVersion = gate?.criteriaVersion ?? criteria?.criteriaVersion;
  const required = gate?.required ?? criteria?.required ?? undefined;
  if (criteriaVersion === undefined || required === undefined) return undefined;
  const { achieved = null, gapCaseGuids = [], coverageEvidenceId = null } = gate ?? {};
  const facts = [gate?.criteriaVersion, gate?.required, achieved, coverageEvidenceId, criteria?.required];
  const isWhole = facts.every((fact) => (fact ?? null) !== null);
  const status = isWhole ? known(gate!.status, 'pass', 'fail', 'indeterminate') : 'indeterminate';
  return { status, criteriaVersion, achieved, required, gapCaseGuids, coverageEvidenceId };
}

/** Whether the owners do not speak of one settled attempt, in versions that name each other. */
function isNone(asked: string, facts: Facts): boolean {
  const { readAttemptEvidence: qti, readSettledRecord: results, readReportCriteria: content } = facts;
  const [{ user }, { gate }, { criteria }] = [facts.readUser, results, content];
  if (qti.attemptId !== asked || results.attemptId !== asked || user.status !== 'active') return true;
  if (qti.candidateSourcedId !== user.sourcedId || results.candidateSourcedId !== user.sourcedId) return true;
  if (qti.resultRecordId !== results.resultRecordId || qti.status !== 'scored' || !results.settled)
    return true;
  const [spec, version] = [qti.contentTestSpecId, qti.contentTestSpecVersion];
  if (spec !== results.contentTestSpecId || spec !== content.testSpecId) return true;
  const guid = facts.readPackage?.CFDocument.identifier ?? content.caseFrameworkGuid;
  if (guid !== content.caseFrameworkGuid) return true;
  if (isOld(qti, results, content)) return false;
  if (version !== results.contentTestSpecVersion || version !== content.version) return true;
  if (results.version !== qti.resultRecordVersion) return true;
  if (content.testKind !== 'mastery_gate') return false;
  if (differ(gate?.required, criteria?.required)) return true;
  return differ(gate?.criteriaVersion, criteria?.criteriaVersion);
}

/** Whether a fact that a report must show is missing, old or out of its bounds, and whether two cannot be true at once. */
function faultsOf(facts: Facts): { lacks: boolean; contradicts: boolean } {
  const { readAttemptEvidence: qti, readSettledRecord: results, readReportCriteria: content } = facts;
  const [{ score, mastery }, gate] = [results, gateOf(facts)];
  const guids = facts.readPackage?.CFItems.map(({ identifier }) => identifier) ?? [];
  const diagnostic = content.testKind === 'adaptive_diagnostic' ? results.diagnostic : undefined;
  const { status, achieved, required = 0, gapCaseGuids: listed = [] } = gate ?? {};
  const { identifier: root, lastChangeDateTime: changed = '' } = facts.readPackage?.CFDocument ?? {};
  const { value = 0, minimum, maximum, unit, scaleVersion } = score ?? {};
  let lacks = isOld(qti, results, content) || score === null || gate === undefined || diagnostic === null;
  lacks ||= root === undefined || Date.parse(changed) < Date.parse(content.caseFrameworkChangedAt);
  lacks ||= (unit === 'mastery_scale' && scaleVersion === null) || value < (minimum ?? value);
  lacks ||= value > (maximum ?? value) || !once(qti.outcomes.map((o) => [o.qtiItemId, o.qtiOutcomeId]));
  lacks ||= diagnostic !== undefined && qti.administeredItemCount < 1;
  lacks ||= !listed.every((gap) => guids.includes(gap));
  let contradicts = results.testKind !== content.testKind || !once(listed);
  const measured = unit === 'mastery_scale' ? diagnostic : null;
  if (measured) contradicts ||= scaleVersion !== measured.scaleVersion || !agree(value, measured.scaleScore);
  const isReached = (achieved ?? 0) >= required;
  contradicts ||= status === 'pass' && (listed.length > 0 || !(isReached || agree(achieved!, required)));
  contradicts ||= status === 'fail' && isReached && listed.length === 0;
  contradicts ||= !once(mastery.map((row) => [row.kind, row.caseGuid]));
  contradicts ||= new Set(qti.outcomes.map((o) => o.qtiItemId)).size > qti.administeredItemCount;
  const governed = status === 'pass' || status === 'fail' ? content.criteria?.governedCaseGuids : [];
  const links = (facts.readPackage?.CFAssociations ?? [])
    .filter((link) => link.associationType === 'isChildOf')
    .filter((link) => link.destinationNodeURI.identifier !== root);
  for (const { state, caseGuid, parentCaseGuid: parent, evidence, estimate, threshold, ...row } of mastery) {
    const outcomes = new Set(qti.outcomes.map((o) => `${o.qtiItemId} ${o.qtiOutcomeId}`));
    lacks ||= estimate === null || threshold === null || evidence.length === 0 || evidence.length > 500;
    lacks ||= !guids.includes(caseGuid) || !guids.includes(parent ?? caseGuid);
    lacks ||= !evidence.every((o) => outcomes.has(`${o.qtiItemId} ${o.qtiOutcomeId}`));
    contradicts ||= !once(evidence.map((o) => [o.qtiItemId, o.qtiOutcomeId, o.resultComponentId]));
    const parents = links
      .filter((link) => link.originNodeURI.identifier === caseGuid)
      .map((link) => link.destinationNodeURI.identifier);
    contradicts ||= parent === null ? parents.length > 0 : !parents.includes(parent);
    const isListed = listed.includes(caseGuid);
    const isGap = mastery.some((other) => other.caseGuid === caseGuid && other.state === 'gap');
    contradicts ||= isListed && state === 'mastered' && !isGap;
    contradicts ||= !isListed && state === 'gap' && governed?.includes(caseGuid) !== false;
    const above = (estimate ?? 0) - (threshold ?? 0);
    const isOff = (state === 'mastered' && above < 0) || (state === 'gap' && above > 0);
    const margin = decimal(row.uncertainty).times(margins[row.uncertaintyKind] ?? Infinity);
    contradicts ||= isOff && apart(estimate ?? 0, threshold ?? 0).gt(margin);
    let up = mastery.filter((other) => other.caseGuid === parent);
    for (const _ of mastery)
      up = mastery.filter((other) => up.some((one) => one.parentCaseGuid === other.caseGuid));
    contradicts ||= up.length > 0;
  }
  return { lacks, contradicts };
}

/** What the report of an attempt tells: its other members are owners' own. */
export function reportOf(asked: string, facts: Facts): Expected {
  const { lacks, contradicts } = faultsOf(facts);
  if (isNone(asked, facts) || lacks || contradicts) return 'refused';
  const { score, diagnostic, mastery: settled } = facts.readSettledRecord;
  const mastery = settled.map((row) => ({ ...row, confidence: row.confidence ?? null }));
  const [testKind, gate] = [facts.readReportCriteria.testKind, gateOf(facts) ?? null];
  const status = gate === null || ['pass', 'fail'].includes(gate.status) ? 'scored' : gate.status;
  const shown = { testKind, status, gate, score, mastery };
  return testKind === 'adaptive_diagnostic' ? { ...shown, diagnostic } : shown;
}

/** What is decided on each crosswalk of an attempt. */
export function readinessOf(asked: string, facts: Facts): Expected {
  const { readAttemptEvidence: qti, readSettledRecord: results, readReadinessCrosswalks: set } = facts;
  const isOther = set.testSpecVersion !== results.contentTestSpecVersion && !isOld(results, set);
  const entries = set.entries.filter((entry) => (entry.coverageFraction ?? null) !== null);
  if (isNone(asked, facts) || isOther || set.testSpecId !== results.contentTestSpecId) return 'refused';
  const areOnce = once(set.entries.map((entry) => [entry.sourceTest, entry.sourceVersion]));
  const areSlotsOnce = entries.every((entry) => once(entry.qualifyingBlueprintSlotIds));
  if (!areOnce || !areSlotsOnce || entries.length === 0) return 'refused';
  const { lacks, contradicts } = faultsOf(facts);
  if (contradicts) return lacks ? 'undecided' : 'refused';
  const { status, achieved = 0, required = 0 } = gateOf(facts) ?? {};
  const states = results.mastery.map(({ state }) => state);
  const isReached = (achieved ?? 0) >= required;
  const isPassed =
    status === 'pass' && isReached && !lacks && states.includes('mastered') && !states.includes('gap');
  const decide = (entry: (typeof entries)[number]): string => {
    if (status === 'fail' && !isOld(qti, results)) return 'not_ready';
    const isProven = entry.coverageFraction === 1 && entry.dokDominance === 'satisfied' && !isOld(set, entry);
    const isNamed = entry.qualifyingBlueprintSlotIds.length > 0;
    return isPassed && isProven && isNamed ? 'projected_pass' : 'indeterminate';
  };
  return { entries: entries.map((entry) => ({ decision: decide(entry), sourceTest: entry.sourceTest })) };
}
