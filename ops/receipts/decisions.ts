import { decisionsOf } from '#functions/reports/analysis/bundles.ts';
import type { Derived, OrderGrounds } from '#functions/reports/analysis/orders/derive-orders.ts';
import { actions, bindingSubjects } from '#shared/contract/reports/analysis-policy.ts';
import type {
  ReceiptArtifact,
  ReceiptBundle,
  SourceReceipt,
} from '#shared/contract/reports/receipt-bundle.ts';
import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { documentChecksum } from '#shared/records/checksum.ts';
import { differs, repeated, type Check } from './check.ts';

/** Decisions as a bundle lists them. */
export type Decisions = Pick<SourceReceipt, 'decisions' | 'withheld'>;

/** Returns the rules by which the run judged its evidence. */
export function rulesOf({ formatVersion }: ReceiptBundle): OrderGrounds['rules'] {
  return formatVersion === 3 ? '3' : '2';
}

/** Returns the grounds on which the orders of a bundle were derived. */
export function groundsOf(receipt: ReceiptBundle): OrderGrounds {
  const { tenantId, administrationId, contentTestSpecId, contentTestSpecVersion } = receipt;
  return {
    tenantId,
    administrationId,
    contentTestSpecId,
    contentTestSpecVersion,
    policy: receipt.analysisPolicy,
    rules: rulesOf(receipt),
  };
}

export function checkPolicy({ analysisPolicy }: ReceiptBundle): Check {
  return {
    name: 'policy',
    holds: `${analysisPolicy.id} ${analysisPolicy.version}, ${analysisPolicy.triggers.length} triggers; it matches its checksum`,
    failures: differs('its checksum', analysisPolicy.checksum, documentChecksum(analysisPolicy)),
    remedy: 'Download the bundle again: the thresholds of a different policy prove nothing.',
  };
}

/**
 * Returns why listed decisions cannot be decisions of their policy for any observations.
 * @param evidenceFor the evidence for a trigger on that metric; undefined if such a trigger does not belong here
 */
export function decisionDefects(
  { analysisPolicy }: ReceiptBundle,
  { decisions, withheld }: Decisions,
  evidenceFor: (metric: string) => ReceiptArtifact | undefined,
): readonly string[] {
  const failures: string[] = [];
  const triggerOf = (index: number) => {
    const trigger = analysisPolicy.triggers[index];
    if (trigger !== undefined && evidenceFor(trigger.metric) !== undefined) return trigger;
    failures.push(`the policy has no trigger ${index} for this evidence`);
    return undefined;
  };
  for (const id of repeated(decisions.map(({ revisionOrderId }) => revisionOrderId)))
    failures.push(`order ${id} is decided twice`);
  if (repeated(withheld.map((row) => canonicalJson(row))).length > 0)
    failures.push('a withheld decision is listed twice');
  for (const { trigger: index, revisionOrderId, subjects, evidence } of decisions) {
    const trigger = triggerOf(index);
    if (trigger === undefined) continue;
    const needed = new Set([...bindingSubjects(trigger), ...actions[trigger.requestedAction].subjects]);
    for (const subject of needed) {
      if ((subjects[subject]?.length ?? 0) === 0)
        failures.push(`order ${revisionOrderId} does not name the ${subject} that its trigger requires`);
    }
    if (canonicalJson(evidence) !== canonicalJson([evidenceFor(trigger.metric)]))
      failures.push(`order ${revisionOrderId} is based on evidence of a different metric`);
  }
  for (const { trigger } of withheld) triggerOf(trigger);
  return failures;
}

/** Returns how listed decisions differ from those of the evidence: every breached threshold must be listed, and no other. */
export function compareDecisions(listed: Decisions, derived: Derived): readonly string[] {
  const found = decisionsOf(derived);
  const failures: string[] = [];
  const given = new Map(found.decisions.map((decision) => [decision.revisionOrderId, decision]));
  for (const decision of listed.decisions) {
    const { revisionOrderId } = decision;
    const same = given.get(revisionOrderId);
    if (same === undefined)
      failures.push(`order ${revisionOrderId} is listed, but no evidence breaches its threshold`);
    else if (canonicalJson(decision) !== canonicalJson(same))
      failures.push(`order ${revisionOrderId} is listed with a different trigger, subject or evidence`);
    given.delete(revisionOrderId);
  }
  for (const { revisionOrderId, trigger } of given.values())
    failures.push(
      `the threshold of trigger ${trigger} is breached, but its order ${revisionOrderId} is not listed`,
    );
  const said = new Set(listed.withheld.map((row) => canonicalJson(row)));
  const meant = new Set(found.withheld.map((row) => canonicalJson(row)));
  const unfounded = [...said].filter((row) => !meant.has(row)).length;
  const unlisted = [...meant].filter((row) => !said.has(row)).length;
  if (unfounded > 0)
    failures.push(`${unfounded} withheld decisions are listed that do not follow from the evidence`);
  if (unlisted > 0) failures.push(`${unlisted} decisions were withheld but are not listed`);
  return failures;
}
