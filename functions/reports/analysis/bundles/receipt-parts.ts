import type { Derived } from '#functions/reports/analysis/orders/derive-orders.ts';
import type { AnalysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import { alignmentFormula } from '#shared/contract/reports/improvement-run.ts';
import type { ReceiptArtifact, SourceReceipt } from '#shared/contract/reports/receipt-bundle.ts';
import type { Pin, PinnedSource, RunRecord } from '#shared/improvement/records.ts';

type HeaderMember =
  | 'formatVersion'
  | 'tenantId'
  | 'improvementRunId'
  | 'administrationId'
  | 'contentTestSpecId'
  | 'contentTestSpecVersion'
  | 'formulaVersion'
  | 'analysisPolicy';

/** What every bundle of a run begins with. */
export function headerOf(
  { tenantId, improvementRunId, administrationId, pins }: RunRecord,
  analysisPolicy: AnalysisPolicy,
): Pick<SourceReceipt, HeaderMember> {
  const { contentTestSpecId, contentTestSpecVersion } = pins;
  return {
    formatVersion: 2,
    tenantId,
    improvementRunId,
    administrationId,
    contentTestSpecId,
    contentTestSpecVersion,
    formulaVersion: alignmentFormula,
    analysisPolicy,
  };
}

/** An artifact by its id at its owner and the digest of its bytes. */
export function artifactOf(service: ReceiptArtifact['service'], { ref, sha256 }: Pin): ReceiptArtifact {
  return { service, resourceId: ref, sha256 };
}

/** What a source is aligned and compared by. */
export function pinsOf({
  crosswalk,
  comparison,
}: PinnedSource): Pick<SourceReceipt, 'crosswalk' | 'comparison'> {
  return {
    crosswalk: artifactOf('blueprint', crosswalk),
    comparison:
      comparison === null || comparison === 'missing' ? comparison : artifactOf('analytics', comparison),
  };
}

/** The decisions behind orders, named one by one: what was observed stays out [RP-202, RP-216]. */
export function decisionsOf({ orders, withheld }: Derived): Pick<SourceReceipt, 'decisions' | 'withheld'> {
  return {
    decisions: orders.map(({ trigger, content, evidence }) => ({
      trigger,
      revisionOrderId: content.revisionOrderId,
      subjects: subjectsOf(content),
      evidence: evidence.map(({ service, ...pin }) => artifactOf(service, pin)),
    })),
    withheld: withheld.map(({ trigger, reason, subjects }) => ({
      trigger,
      reason,
      subjects: subjectsOf(subjects),
    })),
  };
}

type Subjects = SourceReceipt['decisions'][number]['subjects'];

function subjectsOf({
  qtiItemId,
  qtiFormId,
  qtiTestId,
  caseGuids,
  sourceKeys,
}: Readonly<Subjects>): Subjects {
  return { qtiItemId, qtiFormId, qtiTestId, caseGuids, sourceKeys };
}
