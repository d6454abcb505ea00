import * as z from 'zod';
import { alignmentContribution } from './alignment-report.ts';
import { sourceKey } from './improvement-run.ts';
import { analysisPolicy, targetModule } from './analysis-policy.ts';
import { alignmentFormula, evaluableRows, metricStatus, omission, runMetrics } from './improvement-run.ts';
import { count, instant, reference, sha256, text } from './primitives.ts';
import { receiptLink } from './receipt-link.ts';
import { orderContent } from './order-content.ts';
import { orderStatus } from './revision-order.ts';

/** Immutable bytes of their owner, named by the SHA-256 of exactly the bytes that the owner serves [RP-215]. */
const artifact = z.strictObject({
  service: z.enum(['analytics', 'blueprint']),
  resourceId: reference,
  sha256,
});
export type ReceiptArtifact = z.infer<typeof artifact>;

const subjects = orderContent.pick({
  qtiItemId: true,
  qtiFormId: true,
  qtiTestId: true,
  caseGuids: true,
  sourceKeys: true,
});

/** A breached threshold: which one of the policy, for which subjects, on which evidence, and the order that it triggered. */
const decision = z.strictObject({
  /** Index in the triggers of the policy. */
  trigger: count,
  revisionOrderId: text,
  subjects,
  evidence: z.array(artifact).min(1).max(32),
});

/** A breached threshold that triggered no order, and why. */
const withheld = z.strictObject({
  trigger: count,
  reason: z.enum(['subject_missing', 'unit_mismatch', 'not_judged']),
  subjects: subjects.extend({ caseGuids: z.array(reference) }),
});

const decisions = { decisions: z.array(decision), withheld: z.array(withheld) };

/** Members that a run and each of its sources share. */
const header = {
  /** The rules by which the run judged its evidence. */
  formatVersion: z.union([z.literal(1), z.literal(2), z.literal(3)]),
  tenantId: z.string().min(1),
  improvementRunId: text,
  administrationId: reference,
  contentTestSpecId: reference,
  contentTestSpecVersion: text,
  formulaVersion: z.literal(alignmentFormula),
  analysisPolicy,
};

/**
 * A crosswalk, and a comparison with actual results: null if none was due, `not_analyzed` if Analytics had never analyzed the administration,
 * `missing` if one was due and there was none.
 */
const pins = {
  crosswalk: artifact,
  comparison: z.union([artifact, z.enum(['missing', 'not_analyzed'])]).nullable(),
};

/** SHA-256 of the RFC 8785 form of the bundle without this member. */
const digest = sha256;

/** Proves the alignment of one named source [RP-168, RP-215]. */
const sourceReceipt = z.strictObject({
  object: z.literal('source_receipt'),
  ...header,
  sourceKey,
  sourceAssessment: text,
  sourceVersion: text,
  /** Content’s list of named sources, which judges mappings since format 3. */
  sourceSet: artifact.optional(),
  ...pins,
  numerator: z.number().min(0),
  denominator: z.number().positive(),
  alignmentPercent: z.number().min(0).max(100),
  contributions: z.array(alignmentContribution).min(1).max(10_000),
  limitations: z.array(z.string().min(1).max(500)).max(100),
  ...decisions,
  omissions: z.array(omission.extract(['predicted_actual'])).max(1),
  digest,
});
export type SourceReceipt = z.infer<typeof sourceReceipt>;

/** One of the run's metrics as it was pinned, without its values. */
const runMetric = metricStatus.shape;
const receiptMetric = z.strictObject({
  metric: runMetric.metric,
  status: runMetric.status,
  reasonCode: runMetric.reasonCode,
  artifact: artifact.nullable(),
  /** For an available metric, since format 2: whether each of its rows could be judged. */
  judged: evaluableRows.optional(),
  /** Null for a metric that is not available, and so not evaluated. */
  evaluatedAt: instant.nullable(),
  ...decisions,
});

const receiptSource = z.strictObject({
  sourceKey,
  ...pins,
  comparisonOmitted: z.boolean(),
  evaluatedAt: instant,
  /** The receipt of the source's own bundle. */
  receipt: receiptLink.pick({ mediaType: true, sha256: true }),
});

/** An order with its progress. A run that has its receipt has no order that is still to be delivered [RP-217]. */
const receiptOrder = z.strictObject({
  revisionOrderId: text,
  /** `metric:<metric>` or `source:<sourceKey>`. */
  evidence: z.string().regex(/^(metric|source):./),
  targetModule,
  status: orderStatus.exclude(['pending', 'blocked_upstream']),
  supersedesRevisionOrderId: text.nullable(),
  /** The acknowledgement of the receiver. */
  receipt: z
    .strictObject({ service: targetModule, resourceId: reference, version: text, observedAt: instant })
    .nullable(),
  createdAt: instant,
  updatedAt: instant,
});

/** Proves a run's findings, its requests and their responses [RP-153, RP-215]. */
const runReceipt = z.strictObject({
  object: z.literal('run_receipt'),
  ...header,
  createdAt: instant,
  sourceSet: artifact,
  metrics: z.array(receiptMetric).length(runMetrics.length),
  sources: z.array(receiptSource),
  orders: z.array(receiptOrder),
  omissions: z.array(omission).max(8),
  digest,
});
export type RunReceipt = z.infer<typeof runReceipt>;

/** A receipt bundle of the reports service. It contains no observed value, no credential and no fact about a learner [RP-216]. */
export const receiptBundle = z.discriminatedUnion('object', [sourceReceipt, runReceipt]);
export type ReceiptBundle = z.infer<typeof receiptBundle>;
