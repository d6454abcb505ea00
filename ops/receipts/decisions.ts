import { decisionsOf } from '#functions/reports/analysis/bundles/receipt-parts.ts';
import type { Derived, OrderGrounds } from '#functions/reports/analysis/orders/derive-orders.ts';
import { actions, bindingSubjects } from '#shared/contract/reports/analysis-policy.ts';
import type {
  ReceiptArtifact,
  ReceiptBundle,
  SourceReceipt,
} from '#shared/contract/reports/receipt-bundle.ts';
import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { documentChecksum } from '#shared/records/checksum.ts';
import type { Check } from './check.ts';
import { differs, repeated } from './check.ts';

/** Decisions as a bundle lists them. */
export type Decisions = Pick<SourceReceipt, 'decisions' | 'withheld'>;

/** What the orders of a bundle were derived under. */
export function groundsOf(receipt: ReceiptBundle): OrderGrounds {
  const { tenantId, administrationId, contentTestSpecId, contentTestSpecVersion } = receipt;
  return {
    tenantId,
    administrationId,
    contentTestSpecId,
    contentTestSpecVersion,
    policy: receipt.analysisPolicy,
    rules: receipt.formatVersion,
  };
}

/** The policy is the one that its checksum names. */
export function checkPolicy({ analysisPolicy }: ReceiptBundle): Check {
  return {
    name: 'policy',
    holds: `${analysisPolicy.id} ${analysisPolicy.version}, ${analysisPolicy.triggers.length} triggers, as its checksum says`,
    failures: differs('its checksum', analysisPolicy.checksum, documentChecksum(analysisPolicy)),
    remedy: 'Fetch the bundle again; thresholds of another policy prove nothing.',
  };
}

/**
 * What keeps listed decisions from being decisions of their policy at all, whatever was observed.
 * @param evidenceFor what a trigger on that metric may rest on here; undefined where it has no place
 */
export function decisionDefects(
  { analysisPolicy, formatVersion }: ReceiptBundle,
  { decisions, withheld }: Decisions,
  evidenceFor: (metric: string) => ReceiptArtifact | undefined,
): readonly string[] {
  const failures: string[] = [];
  const triggerOf = (index: number) => {
    const trigger = analysisPolicy.triggers[index];
    if (trigger !== undefined && evidenceFor(trigger.metric) !== undefined) return trigger;
    failures.push(`trigger ${index} is none of the policy's for this evidence`);
    return undefined;
  };
  for (const id of repeated(decisions.map(({ revisionOrderId }) => revisionOrderId)))
    failures.push(`order ${id} is decided twice`);
  for (const { trigger: index, revisionOrderId, subjects, evidence } of decisions) {
    const trigger = triggerOf(index);
    if (trigger === undefined) continue;
    const required = formatVersion === 1 ? trigger.requiredSubjects : bindingSubjects(trigger);
    const needed = new Set([...required, ...actions[trigger.requestedAction].subjects]);
    for (const subject of needed) {
      if ((subjects[subject]?.length ?? 0) === 0)
        failures.push(`order ${revisionOrderId} does not name the ${subject} that its trigger requires`);
    }
    if (canonicalJson(evidence) !== canonicalJson([evidenceFor(trigger.metric)]))
      failures.push(`order ${revisionOrderId} rests on other evidence than its metric's`);
  }
  for (const { trigger } of withheld) triggerOf(trigger);
  return failures;
}

/** How listed decisions differ from what the evidence gives: nothing that has tripped may be missing, nothing listed untripped. */
export function compareDecisions(listed: Decisions, derived: Derived): readonly string[] {
  const found = decisionsOf(derived);
  const failures: string[] = [];
  const given = new Map(found.decisions.map((decision) => [decision.revisionOrderId, decision]));
  for (const decision of listed.decisions) {
    const { revisionOrderId } = decision;
    const same = given.get(revisionOrderId);
    if (same === undefined)
      failures.push(`order ${revisionOrderId} is listed, and nothing in the evidence trips it`);
    else if (canonicalJson(decision) !== canonicalJson(same))
      failures.push(`order ${revisionOrderId} is listed with another trigger, subject or evidence`);
    given.delete(revisionOrderId);
  }
  for (const { revisionOrderId, trigger } of given.values())
    failures.push(`trigger ${trigger} has tripped, and its order ${revisionOrderId} is not listed`);
  const said = new Set(listed.withheld.map((row) => canonicalJson(row)));
  const meant = new Set(found.withheld.map((row) => canonicalJson(row)));
  const unfounded = [...said].filter((row) => !meant.has(row)).length;
  const unlisted = [...meant].filter((row) => !said.has(row)).length;
  if (unfounded > 0)
    failures.push(`${unfounded} withheld decisions are listed that the evidence does not give`);
  if (unlisted > 0) failures.push(`${unlisted} decisions were withheld and are not listed`);
  return failures;
}
