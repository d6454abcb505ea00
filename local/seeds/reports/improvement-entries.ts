import * as z from 'zod';
import { requestedAction } from '#shared/contract/reports/analysis-policy.ts';
import { runMetrics } from '#shared/contract/reports/improvement-run.ts';
import { count, instant, text } from '#shared/contract/reports/primitives.ts';
import { freshness } from '#shared/platform/owners/primitives.ts';
import { code, name } from './names.ts';

/* The members of `reports.json` that improvement runs rest on. */

const dok = z.int().min(1).max(4);
/** Whether an owner still answers about the version before the test spec's. */
const ofPreviousVersion = z.boolean().default(false);

const alignmentSource = z.strictObject({
  key: name,
  assessment: text,
  version: text,
  ofPreviousVersion,
  requirements: z
    .array(
      z.strictObject({
        id: z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 of A-Z, a-z, 0-9, and . _ -'),
        weight: z.number().positive(),
        dok,
        /** Candidates: none is no mapping, several are none that is unambiguous. */
        mappings: z
          .array(
            z.strictObject({
              code,
              slot: name.nullable(),
              dok: dok.nullable(),
              status: z.enum(['current', 'stale']).default('current'),
            }),
          )
          .default([]),
      }),
    )
    .min(1)
    .max(10_000),
});

/** The external assessments that a blueprint names. */
export const alignment = z.strictObject({
  /** Either written out … */
  sources: z.array(alignmentSource).optional(),
  /** … or so many, `source-1` and so on, with so many requirements each. */
  generated: z
    .strictObject({ sources: z.int().min(1).max(1_000), requirements: z.int().min(1).max(10_000) })
    .optional(),
});
export type AlignmentEntry = z.output<typeof alignment>;
export type AlignmentSourceEntry = z.output<typeof alignmentSource>;

const suppression = z
  .strictObject({
    status: z.enum(['not_suppressed', 'suppressed', 'unknown']),
    rule: text.nullable().default(null),
  })
  .default({ status: 'not_suppressed', rule: null });

const metricArtifact = z.strictObject({
  formulaVersion: text.nullable(),
  populationCount: count.nullable().default(null),
  sampleCount: count.nullable().default(null),
  suppression,
  window: z.strictObject({ start: instant, end: instant }).nullable().default(null),
  /** One for each item, or form, that was measured: its measures by their names, in their units. */
  rows: z
    .array(
      z.strictObject({
        form: name,
        /** By its number from 1; a form as a whole has none. */
        item: z.int().min(1).max(10_000).optional(),
        codes: z.array(code).default([]),
        measures: z.record(z.string(), z.number()),
      }),
    )
    .default([]),
  /** Instead of `rows`: one for each of so many items of the test spec's first form. */
  generatedRows: z.int().min(1).max(10_000).optional(),
});
export type MetricArtifactEntry = z.output<typeof metricArtifact>;

const comparisonArtifact = z.strictObject({
  method: text,
  analysisVersion: text,
  populationCount: count,
  suppression,
  predictedPassCount: count.nullable().default(null),
  actualPassCount: count.nullable().default(null),
  agreementCount: count.nullable().default(null),
  form: name.optional(),
  codes: z.array(code).default([]),
});
export type ComparisonArtifactEntry = z.output<typeof comparisonArtifact>;

/** What Analytics has published on an administration. */
export const analysis = z.strictObject({
  freshness: freshness.default('current'),
  ofPreviousVersion,
  metrics: z.array(
    z.strictObject({
      metric: z.enum(runMetrics),
      status: z.enum(['available', 'unavailable', 'suppressed', 'stale', 'unknown']).default('available'),
      artifact: metricArtifact.nullable(),
    }),
  ),
  /** The sources whose external scores it is to compare; null: it has not. */
  comparisons: z.array(z.strictObject({ source: name, artifact: comparisonArtifact.nullable() })).default([]),
});
export type AnalysisEntry = z.output<typeof analysis>;

const receiver = z
  .strictObject({
    status: z.enum(['available', 'missing']).default('available'),
    /** Orders for one of these are refused for good. */
    refuses: z.array(requestedAction).default([]),
  })
  .default({ status: 'available', refuses: [] });

/** What takes the revision orders on an administration. */
export const receivers = z.strictObject({ bank: receiver, blueprint: receiver }).default({
  bank: { status: 'available', refuses: [] },
  blueprint: { status: 'available', refuses: [] },
});

/** The names of all sources of a test spec, in Content's order. */
export function sourceNamesOf(entry: AlignmentEntry | undefined): readonly string[] {
  const { sources, generated } = entry ?? {};
  if (sources !== undefined) return sources.map(({ key }) => key);
  return Array.from({ length: generated?.sources ?? 0 }, (_, at) => `source-${at + 1}`);
}
