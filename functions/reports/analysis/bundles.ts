import type { AnalysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import { alignmentFormula, type RunMetric } from '#shared/contract/reports/improvement-run.ts';
import type {
  ReceiptArtifact,
  ReceiptBundle,
  RunReceipt,
  SourceReceipt,
} from '#shared/contract/reports/receipt-bundle.ts';
import type { Bundle } from '#shared/improvement/receipts.ts';
import { isCompared } from '#shared/improvement/records.ts';
import type {
  OrderRecord,
  PinnedRef,
  PinnedSource,
  RunProgress,
  RunRecord,
} from '#shared/improvement/records.ts';
import { canonicalJson, hashCanonical, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import type { AlignmentCrosswalk } from '#shared/platform/owners/content.ts';
import type { EvaluatedSource } from './evaluate-source.ts';
import { omissionsOf } from './omissions.ts';
import type { Derived } from './orders/derive-orders.ts';

/** A named source of a run, evaluated. */
export interface SourceFacts extends EvaluatedSource {
  readonly run: RunRecord;
  /** The policy that the run is pinned to. */
  readonly policy: AnalysisPolicy;
  readonly source: PinnedSource;
  readonly crosswalk: Pick<AlignmentCrosswalk, 'sourceAssessment' | 'sourceVersion'>;
}

/**
 * Returns the receipt of one source: its alignment in full and the basis of its decisions, but no counts of the comparison [RP-168, RP-215, RP-216].
 * It derives from what is pinned and contains no time.
 */
export function sourceBundle(facts: SourceFacts): Bundle {
  const { run, policy, source, crosswalk, alignment, limitations, comparisonOmitted, derived } = facts;
  return sealBundle<SourceReceipt>({
    object: 'source_receipt',
    ...headerOf(run, policy),
    sourceKey: source.sourceKey,
    sourceAssessment: crosswalk.sourceAssessment,
    sourceVersion: crosswalk.sourceVersion,
    ...(run.pins.rules === '3' ? { sourceSet: artifactOf('blueprint', run.pins.sourceSet) } : {}),
    ...pinsOf(source),
    ...alignment,
    contributions: [...alignment.contributions],
    limitations: [...alignment.limitations, ...limitations],
    ...decisionsOf(derived),
    omissions: comparisonOmitted ? ['predicted_actual'] : [],
  });
}

/** A run whose evidence is all evaluated and whose orders have all reached their receivers. */
export interface RunFacts {
  readonly progress: RunProgress;
  /** The policy that the run is pinned to. */
  readonly policy: AnalysisPolicy;
  /** The decisions on each available metric. */
  readonly metrics: ReadonlyMap<RunMetric, Derived>;
}

/**
 * Returns the receipt of a complete run: its basis, its decisions, its orders and their receivers' responses [RP-153, RP-215, RP-216]. Its only times
 * are those of the run's records. Returns undefined if it would be larger than a bundle may be. Throws for a run that is not complete [RP-217].
 */
export function runBundle({ progress, policy, metrics }: RunFacts): Bundle | undefined {
  const { run, evidence, orders } = progress;
  const records = new Map(evidence.map((record) => [record.key, record]));
  const content: Omit<RunReceipt, 'digest'> = {
    object: 'run_receipt',
    ...headerOf(run, policy),
    createdAt: formatInstant(run.createdAt),
    sourceSet: artifactOf('blueprint', run.pins.sourceSet),
    metrics: run.pins.metrics.map(({ metric, status, reasonCode, artifact, judged }) => {
      const isAvailable = status === 'available';
      const record = isAvailable ? recorded(records.get(`metric:${metric}`)) : undefined;
      return {
        metric,
        status,
        reasonCode,
        artifact: artifact === null ? null : artifactOf('analytics', artifact),
        ...(judged === undefined ? {} : { judged }),
        evaluatedAt: record === undefined ? null : formatInstant(record.evaluatedAt),
        ...decisionsOf(isAvailable ? recorded(metrics.get(metric)) : { orders: [], withheld: [] }),
      };
    }),
    sources: run.pins.sources.map((source) => {
      const { evaluatedAt, comparisonOmitted, receipt } = recorded(records.get(`source:${source.sourceKey}`));
      const { mediaType, sha256 } = recorded(receipt);
      return {
        sourceKey: source.sourceKey,
        ...pinsOf(source),
        comparisonOmitted: comparisonOmitted ?? false,
        evaluatedAt: formatInstant(evaluatedAt),
        receipt: { mediaType, sha256 },
      };
    }),
    orders: orders.map(lifecycleOf),
    omissions: [...omissionsOf(progress)],
  };
  return fitsBundle(content) ? sealBundle<RunReceipt>(content) : undefined;
}

function recorded<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('runBundle: an evidence is not evaluated');
  return value;
}

function lifecycleOf(order: OrderRecord): RunReceipt['orders'][number] {
  const { revisionOrderId, evidence, targetModule, status, supersedesRevisionOrderId, ack } = order;
  if (status === 'pending' || status === 'blocked_upstream')
    throw new TypeError('runBundle: an order is not delivered');
  return {
    revisionOrderId,
    evidence,
    targetModule,
    status,
    supersedesRevisionOrderId,
    receipt: ack && {
      service: targetModule,
      resourceId: ack.receiptId,
      version: ack.version,
      observedAt: formatInstant(ack.observedAt),
    },
    createdAt: formatInstant(order.createdAt),
    updatedAt: formatInstant(order.updatedAt),
  };
}

/** Returns the members that every bundle of a run begins with. */
function headerOf(
  { tenantId, improvementRunId, administrationId, pins }: RunRecord,
  analysisPolicy: AnalysisPolicy,
) {
  const { contentTestSpecId, contentTestSpecVersion } = pins;
  return {
    formatVersion: pins.rules === '3' ? 3 : 2,
    tenantId,
    improvementRunId,
    administrationId,
    contentTestSpecId,
    contentTestSpecVersion,
    formulaVersion: alignmentFormula,
    analysisPolicy,
  } as const;
}

/** Returns an artifact by its id at its owner and the digest of its bytes. */
function artifactOf(service: ReceiptArtifact['service'], { ref, sha256 }: PinnedRef): ReceiptArtifact {
  return { service, resourceId: ref, sha256 };
}

/** Returns the pins of the artifacts by which a source is aligned and compared. */
function pinsOf({ crosswalk, comparison }: PinnedSource): Pick<SourceReceipt, 'crosswalk' | 'comparison'> {
  return {
    crosswalk: artifactOf('blueprint', crosswalk),
    comparison: isCompared(comparison) ? artifactOf('analytics', comparison) : comparison,
  };
}

/** Returns the decisions behind orders, one by one, without the observed values [RP-202, RP-216]. */
export function decisionsOf({ orders, withheld }: Derived): Pick<SourceReceipt, 'decisions' | 'withheld'> {
  return {
    decisions: orders.map(({ trigger, content, evidence }) => {
      const { revisionOrderId, qtiItemId, qtiFormId, qtiTestId, caseGuids, sourceKeys } = content;
      return {
        trigger,
        revisionOrderId,
        subjects: { qtiItemId, qtiFormId, qtiTestId, caseGuids, sourceKeys },
        evidence: [artifactOf(evidence.service, evidence)],
      };
    }),
    withheld: [...withheld],
  };
}

/** Gives a bundle its digest, its canonical bytes (RFC 8785, UTF-8), and the address that these determine [RP-211]. */
function sealBundle<Receipt extends ReceiptBundle>(content: Omit<Receipt, 'digest'>): Bundle {
  const bytes = new TextEncoder().encode(canonicalJson({ ...content, digest: hashCanonical(content) }));
  return { bytes, sha256: sha256Hex(bytes), mediaType: 'application/json' };
}

/**
 * The limit of a receipt bundle, and of the decisions on one evidence. It keeps a worker with four metrics and a source below a third of a gigabyte,
 * and the text of a bundle far below the longest possible string (512 MB).
 */
const MAX_BUNDLE_BYTES = 64 * 1024 * 1024;

/** Returns whether the content of a bundle takes at most `MAX_BUNDLE_BYTES` of UTF-8. It serializes only one element at a time. */
export function fitsBundle(content: object): boolean {
  let left = MAX_BUNDLE_BYTES;
  for (const element of Object.values<unknown>(content as Record<string, unknown>).flat()) {
    left -= Buffer.byteLength(JSON.stringify(element)) + 1;
    if (left < 0) return false;
  }
  return true;
}
