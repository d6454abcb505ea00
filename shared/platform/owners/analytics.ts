import * as z from 'zod';
import { count, reference, text } from '#shared/contract/reports/primitives.ts';
import { freshness, instant, ownerId, version } from './primitives.ts';

const scope = z.discriminatedUnion('type', [
  z.object({ type: z.literal('class'), classSourcedId: reference }),
  z.object({ type: z.literal('school_grade'), schoolSourcedId: reference, grade: z.string() }),
]);

/** Analytics: the latest published snapshot of a cohort. A suppressed one may withhold its count and never shows measures. */
export const rollup = z.object({
  tenantId: ownerId,
  rollupId: reference,
  version,
  freshness,
  scope,
  formulaVersion: text,
  asOf: instant,
  populationCount: count.nullable(),
  suppression: z.object({ status: z.string() }),
  measures: z.array(z.object({ name: text, value: z.number(), unit: text })),
});
export type Rollup = z.infer<typeof rollup>;

/** Analytics: its analysis of a form beside others of the same blueprint. */
export const formEquivalence = z.object({
  tenantId: ownerId,
  equivalenceId: reference,
  version,
  freshness,
  qtiTestId: reference,
  comparisonQtiTestIds: z.array(reference),
  contentTestSpecId: reference,
  contentTestSpecVersion: version,
  sampleSizes: z.record(reference, count),
  method: text,
  analysisVersion: text,
  statistic: z.number(),
  confidenceInterval: z.object({ lower: z.number(), upper: z.number() }),
  tolerance: z.number(),
  decision: z.string(),
  evidenceArtifactUrl: z.string().nullable(),
});
export type FormEquivalence = z.infer<typeof formEquivalence>;
