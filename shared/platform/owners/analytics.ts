import * as z from 'zod';
import { count, reference, text } from '#shared/contract/reports/primitives.ts';
import { LARGE, reportRead } from '#shared/platform/operation.ts';
import { governed, instant, ownerId, sha256, versioned } from './primitives.ts';

const measures = z.array(z.object({ name: text, value: z.number(), unit: text }));

const scope = z.discriminatedUnion('type', [
  z.object({ type: z.literal('class'), classSourcedId: reference }),
  z.object({ type: z.literal('school_grade'), schoolSourcedId: reference, grade: z.string() }),
]);

/** Analytics: the latest published snapshot of a cohort. A suppressed one may withhold its count and has no measures. */
export const rollup = z.object({
  tenantId: ownerId,
  rollupId: reference,
  ...versioned,
  scope,
  formulaVersion: text,
  asOf: instant,
  populationCount: count.nullable(),
  suppression: z.object({ status: z.string() }),
  measures,
});
export type Rollup = z.infer<typeof rollup>;

/** Analytics: the comparison of a form with others of the same blueprint. */
export const formEquivalence = z.object({
  tenantId: ownerId,
  equivalenceId: reference,
  ...versioned,
  qtiTestId: reference,
  comparisonQtiTestIds: z.array(reference),
  ...governed,
  sampleSizes: z.record(reference, count),
  method: text,
  analysisVersion: text,
  /** `difference`: that of the forms, in the unit of the tolerance. Absent: `method` defines the statistic. */
  statisticKind: z.string().optional(),
  statistic: z.number(),
  confidenceInterval: z.object({ lower: z.number(), upper: z.number() }),
  tolerance: z.number(),
  decision: z.string(),
  evidenceArtifactUrl: z.string().nullable(),
});
export type FormEquivalence = z.infer<typeof formEquivalence>;

/** Immutable bytes: a read of the artifact returns exactly these, at any time, or nothing. */
const artifactPin = z.object({ artifactRef: reference, sha256 });

/** Analytics: what is published about one administration for its improvement. The artifacts themselves are read by their refs. */
export const administrationAnalysis = z.object({
  tenantId: ownerId,
  administrationId: reference,
  ...versioned,
  ...governed,
  /** At most one per metric. */
  metrics: z.array(z.object({ metric: z.string(), status: z.string(), artifact: artifactPin.nullable() })),
  /** One per named source whose external scores Analytics has to compare; null while there is no artifact. */
  comparisons: z.array(z.object({ sourceKey: text, artifact: artifactPin.nullable() })),
});
export type AdministrationAnalysis = z.infer<typeof administrationAnalysis>;

const suppression = z.object({ status: z.string(), rule: text.nullable() });
/** An artifact and its administration. */
const ofAdministration = {
  tenantId: ownerId,
  artifactRef: reference,
  administrationId: reference,
  ...governed,
};

/** Analytics: one metric of one administration. A suppressed one has neither counts nor rows. */
export const metricArtifact = z.object({
  kind: z.literal('metric'),
  ...ofAdministration,
  metric: z.string(),
  formulaVersion: text.nullable(),
  /** The things that the formula counts as population and sample. Absent: `learners`. */
  samplingUnit: z.string().optional(),
  populationCount: count.nullable(),
  sampleCount: count.nullable(),
  suppression,
  analysisWindow: z.object({ start: instant, end: instant }).nullable(),
  /** One per measured item or form. */
  rows: z.array(
    z.object({
      qtiItemId: reference.nullable(),
      qtiFormId: reference.nullable(),
      qtiTestId: reference.nullable(),
      caseGuids: z.array(reference).max(1000),
      measures,
    }),
  ),
});
export type MetricArtifact = z.infer<typeof metricArtifact>;

/** Analytics: predicted results of one administration and actual ones of a named external assessment. */
export const comparisonArtifact = z.object({
  kind: z.literal('comparison'),
  ...ofAdministration,
  sourceKey: text,
  method: text,
  analysisVersion: text,
  populationCount: count,
  suppression,
  predictedPassCount: count.nullable(),
  actualPassCount: count.nullable(),
  agreementCount: count.nullable(),
  /** The form, test and standards of the prediction. */
  qtiFormId: reference.nullable(),
  qtiTestId: reference.nullable(),
  caseGuids: z.array(reference).max(1000),
});
export type ComparisonArtifact = z.infer<typeof comparisonArtifact>;

export const analysisArtifact = z.discriminatedUnion('kind', [metricArtifact, comparisonArtifact]);
export type AnalysisArtifact = z.infer<typeof analysisArtifact>;

export const readClassRollup = reportRead({
  id: 'analytics.read_class_rollup',
  path: '/core/analytics/v1/classes/{classSourcedId}/rollup',
  answer: rollup,
  echo: { 'scope.classSourcedId': 'classSourcedId' },
  rule: 'About exactly that class; its values are passed on as published, none when suppressed.',
});

export const readSchoolGradeRollup = reportRead({
  id: 'analytics.read_school_grade_rollup',
  path: '/core/analytics/v1/schools/{schoolSourcedId}/grades/{grade}/rollup',
  answer: rollup,
  echo: { 'scope.schoolSourcedId': 'schoolSourcedId', 'scope.grade': 'grade' },
  rule: 'About exactly that school and grade; its values are passed on as published, none when suppressed.',
});

export const readFormEquivalence = reportRead({
  id: 'analytics.read_form_equivalence',
  path: '/core/analytics/v1/forms/{qtiTestId}/equivalence',
  answer: formEquivalence,
  rule: 'Method, numbers and decision are passed on as published; the test spec is the form’s own.',
  assumed:
    'The tolerance bounds the absolute value of the statistic only where `statisticKind` is `difference`.',
});

export const readAdministrationAnalysis = reportRead({
  id: 'analytics.read_administration_analysis',
  path: '/core/analytics/v1/administrations/{administrationId}/analysis',
  answer: administrationAnalysis,
  maxAnswerBytes: LARGE,
  rule: 'Which metric and comparison artifacts there are of an administration, each with the SHA-256 of its bytes; of the administration’s own test spec and version.',
});

export const readAnalysisArtifact = reportRead({
  id: 'analytics.read_analysis_artifact',
  path: '/core/analytics/v1/analysis-artifacts/{artifactRef}',
  answer: analysisArtifact,
  maxAnswerBytes: LARGE,
  rule: 'Immutable: the same bytes as long as anybody asks for them. Checked against the pinned SHA-256; its values are shown and compared, never copied or recomputed.',
});
