import * as z from 'zod';
import { compareInstants } from '#shared/kernel/instant.ts';
import { areUnique, composed, count, instant, reference, text, uniqueListOf } from './primitives.ts';
import { receiptLink } from './receipt-link.ts';
import { sources } from './source-ref.ts';

/** The alignment formula of runs and alignment reports [RP-147]. */
export const alignmentFormula = 'alignment-v1';

/** Neither `.` nor `..`, without a lookahead: not every language of clients has one. */
const SOURCE_KEY = /^(?:\.{0,2}[A-Za-z0-9_~-]|\.{3})[A-Za-z0-9._~-]*$/;

/** Key of a named source: unique in its run, and part of a path without encoding [RP-167]. */
export const sourceKey = z
  .string()
  .refine(
    (text) => text.length <= 255 && SOURCE_KEY.test(text),
    'must be 1 to 255 of A-Z, a-z, 0-9, and . _ ~ -, and neither . nor ..',
  )
  .meta({ maxLength: 255, pattern: SOURCE_KEY.source });

/** The metrics that every run names, available or not [RP-157]. */
export const runMetrics = [
  'item_difficulty',
  'item_discrimination',
  'distractor_distribution',
  'form_summary',
] as const;
export type RunMetric = (typeof runMetrics)[number];

/** Sources that a run lacks and lists as missing [RP-152]. */
export const omission = z.enum([...runMetrics, 'predicted_actual']);
export type Omission = z.infer<typeof omission>;

/** How many rows of an available metric its triggers can evaluate. */
export const evaluableRows = z.enum(['all', 'some']);

const suppressionStatus = z.enum(['not_suppressed', 'suppressed', 'unknown']);

/** One metric of Analytics for the run [RP-157..RP-165]; the artifact itself stays with its owner. */
export const metricStatus = z
  .strictObject({
    metric: z.enum(runMetrics),
    status: z.enum(['available', 'unavailable', 'suppressed', 'stale', 'unknown']),
    artifactRef: reference.nullable(),
    populationCount: count.nullable(),
    sampleCount: count.nullable(),
    suppressionStatus,
    suppressionRule: text.nullable(),
    analysisWindow: z.strictObject({ start: instant.nullable(), end: instant.nullable() }),
    formulaVersion: text.nullable(),
    reasonCode: z
      .enum([
        'owner_artifact_missing',
        'owner_field_missing',
        'suppressed',
        'stale',
        'receiver_unavailable',
        'unknown',
      ])
      .nullable(),
  })
  .check(
    z.refine(
      ({ status, artifactRef }) =>
        status === 'unavailable'
          ? artifactRef === null
          : artifactRef !== null || (status !== 'available' && status !== 'suppressed'),
      'an available or suppressed metric names its artifact, an unavailable one none [RP-160]',
    ),
    z.refine(({ status, populationCount, sampleCount }) => {
      if (status === 'available') return populationCount !== null && sampleCount !== null;
      return (
        (status !== 'unavailable' && status !== 'suppressed') ||
        (populationCount === null && sampleCount === null)
      );
    }, 'an available metric has its counts, an unavailable or suppressed one has none [RP-161]'),
    z.refine(
      ({ status, suppressionStatus, suppressionRule }) =>
        (suppressionStatus === 'suppressed') === (suppressionRule !== null) &&
        (status === 'suppressed') === (suppressionStatus === 'suppressed'),
      'a suppressed metric, and no other, has its rule [RP-162]',
    ),
    z.refine(
      ({ status, analysisWindow: { start, end } }) =>
        start === null || end === null
          ? start === end && status !== 'available'
          : compareInstants(start, end) <= 0,
      'an available metric has a window that does not end before it starts [RP-163]',
    ),
    z.refine(
      ({ status, formulaVersion }) =>
        formulaVersion !== null || (status !== 'available' && status !== 'suppressed'),
      'an available or suppressed metric has its formula [RP-164]',
    ),
    z.refine(
      ({ status, reasonCode }) => (status === 'available') === (reasonCode === null),
      'a metric that is not available has its reason [RP-165]',
    ),
  );
export type MetricStatus = z.infer<typeof metricStatus>;

/** Every status of a run; `unknown` is any status of a later version. */
export const runStatus = z.enum([
  'queued',
  'analyzing',
  'completed',
  'completed_with_omissions',
  'blocked_upstream',
  'failed',
  'unknown',
]);

/** Whether a run with a status continues, or how it has ended. */
export const runPhases: Readonly<Record<z.infer<typeof runStatus>, 'open' | 'complete' | 'failed'>> = {
  queued: 'open',
  analyzing: 'open',
  completed: 'complete',
  completed_with_omissions: 'complete',
  blocked_upstream: 'open',
  failed: 'failed',
  unknown: 'open',
};

/** One analysis of a scored administration [RP-141..RP-156]. */
export const improvementRun = z
  .strictObject({
    object: z.literal('improvement_run'),
    improvementRunId: text,
    administrationId: reference,
    contentTestSpecId: reference,
    contentTestSpecVersion: text,
    status: runStatus,
    analysisPolicyId: text,
    analysisPolicyVersion: text,
    formulaVersion: text,
    metricStatuses: z
      .array(metricStatus)
      .length(runMetrics.length)
      .refine((rows) => areUnique(rows.map(({ metric }) => metric)), 'every metric has one row'),
    namedSourceCount: count,
    sourceKeys: z.array(sourceKey).refine(areUnique, 'every source has a key of its own [RP-167]').meta({
      uniqueItems: true,
    }),
    alignmentRecordCount: count,
    revisionOrderCount: count,
    blockedOrderCount: count,
    omissions: uniqueListOf(omission).max(8),
    receipt: receiptLink.nullable(),
    createdAt: instant,
    completedAt: instant.nullable(),
    sources,
    ...composed,
  })
  .check(
    z.refine(
      ({ status, namedSourceCount, alignmentRecordCount, blockedOrderCount }) =>
        alignmentRecordCount <= namedSourceCount &&
        (runPhases[status] !== 'complete' ||
          (alignmentRecordCount === namedSourceCount && blockedOrderCount === 0)),
      'a complete run has an alignment record of every named source and no undelivered order [RP-150, RP-217]',
    ),
    z.refine(
      ({ namedSourceCount, sourceKeys }) => sourceKeys.length === namedSourceCount,
      'every named source has its key [RP-149]',
    ),
    z.refine(
      ({ revisionOrderCount, blockedOrderCount }) => blockedOrderCount <= revisionOrderCount,
      'blocked orders are among the orders [RP-151]',
    ),
    z.refine(
      ({ status, receipt }) =>
        runPhases[status] === 'complete'
          ? receipt !== null
          : runPhases[status] === 'failed' || receipt === null,
      'a complete run has its receipt, one that goes on has none [RP-153, RP-154]',
    ),
    z.refine(
      ({ status, createdAt, completedAt }) =>
        (runPhases[status] !== 'open') === (completedAt !== null) &&
        (completedAt === null || compareInstants(createdAt, completedAt) <= 0),
      'exactly a terminal run has ended, and not before it began [RP-155]',
    ),
    z.refine(
      ({ metricStatuses, omissions }) =>
        metricStatuses.every(({ metric, status }) => status === 'available' || omissions.includes(metric)),
      'what is not available is an omission too [RP-166]',
    ),
    z.refine(
      ({ status, omissions }) =>
        runPhases[status] !== 'complete' || (status === 'completed') === (omissions.length === 0),
      'the status of a run with omissions shows them [RP-221]',
    ),
    z.refine(
      ({ receipt, observedAt }) => receipt === null || compareInstants(receipt.expiresAt, observedAt) > 0,
      'a link has not expired when it is given [RP-213]',
    ),
  );
export type ImprovementRun = z.infer<typeof improvementRun>;
