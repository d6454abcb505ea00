import * as z from 'zod';
import { actions, requestedAction } from '#shared/contract/reports/analysis-policy.ts';
import {
  gateDecision,
  masteryRow as reportedRow,
  requestableTestKind,
  score,
} from '#shared/contract/reports/attempt-report.ts';
import { grade } from '#shared/contract/reports/cohort-report.ts';
import { equivalenceReport } from '#shared/contract/reports/equivalence-report.ts';
import { metricStatus, runMetrics } from '#shared/contract/reports/improvement-run.ts';
import { count, instant, proportion, text } from '#shared/contract/reports/primitives.ts';
import { readinessEntry } from '#shared/contract/reports/readiness-report.ts';
import { stopReason } from '#shared/contract/stop-reason.ts';
import { freshness } from '#shared/platform/owners/primitives.ts';
import { tenantFixtures } from '#shared/stage/description.ts';
import { exactlyOne, slug as name } from './bank-files.ts';

/** `reports.json`: what reports are composed of, by names; docs/seeds.md explains it member by member. */

/** A code of a standard or knowledge component. */
const code = z.string().min(1).max(64);
const words = z.string().min(1);
/** Is appended to the id that is made of the name: ids are opaque, and may contain what a path must escape. */
const idSuffix = z
  .string()
  .max(64)
  .regex(/^[^\s,]*$/u, 'must contain neither white space nor a comma')
  .default('');
const rosterStatus = z.enum(['active', 'tobedeleted']).default('active');
const settledFreshness = freshness.default('current');
/** Whether an owner still returns what is about the version before the test spec's. */
const ofPreviousVersion = z.boolean().default(false);
const items = z.int().min(1).max(10_000);

/** A published snapshot of a cohort. */
const rollup = z.strictObject({
  formulaVersion: text,
  asOf: instant,
  /** Null: withheld. */
  populationCount: count.nullable(),
  suppression: metricStatus.shape.suppressionStatus.default('not_suppressed'),
  freshness: settledFreshness,
  measures: z.array(z.strictObject({ name: text, value: z.number(), unit: text })).default([]),
});

const school = z.strictObject({
  name,
  status: rosterStatus,
  grades: z.array(z.strictObject({ grade, rollup: rollup.optional() })).default([]),
});

const classOf = z.strictObject({ name, status: rosterStatus, rollup: rollup.optional() });

const student = z.strictObject({ name, idSuffix, status: rosterStatus });

const dok = z.int().min(1).max(4);

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
              status: text.default('current'),
            }),
          )
          .default([]),
      }),
    )
    .min(1)
    .max(10_000),
});

/** The external assessments that a blueprint names: written out, or so many, `source-1` and so on, with so many requirements each. */
const alignment = z
  .strictObject({
    sources: z.array(alignmentSource).optional(),
    generated: z.strictObject({ sources: z.int().min(1).max(1_000), requirements: items }).optional(),
    /** To what mappings lead though the blueprint does not have it. */
    lacks: z
      .strictObject({ slots: z.array(name).default([]), codes: z.array(code).default([]) })
      .prefault({}),
  })
  .refine(...exactlyOne('sources', 'generated'));

const suppression = z
  .strictObject({
    status: metricStatus.shape.suppressionStatus,
    rule: text.nullable().default(null),
  })
  .prefault({ status: 'not_suppressed' });

const metricArtifact = z.strictObject({
  formulaVersion: text.nullable(),
  samplingUnit: text.optional(),
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
        item: items.optional(),
        codes: z.array(code).default([]),
        measures: z.record(z.string(), z.number()),
      }),
    )
    .default([]),
  /** Instead of `rows`: one for each of so many items of the test spec's first form. */
  generatedRows: items.optional(),
});

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

/** What Analytics has published on an administration. */
const analysis = z.strictObject({
  freshness: settledFreshness,
  ofPreviousVersion,
  metrics: z.array(
    z.strictObject({
      metric: z.enum(runMetrics),
      status: metricStatus.shape.status.default('available'),
      artifact: metricArtifact.nullable(),
    }),
  ),
  /** The sources whose external scores it is to compare; null: it has not. */
  comparisons: z.array(z.strictObject({ source: name, artifact: comparisonArtifact.nullable() })).default([]),
});

/** A module that takes the revision orders on an administration, and the actions that it permanently refuses. */
const receiver = (module: 'bank' | 'blueprint') =>
  z
    .strictObject({
      status: z.enum(['available', 'missing']).default('available'),
      refuses: z
        .array(
          requestedAction.refine(
            (action) => actions[action].targetModule === module,
            `is not an action of ${module}`,
          ),
        )
        .default([]),
    })
    .prefault({});

/** Standards with their knowledge components: written out, or so many of each, with the codes `S1`, `S1.K1`, … */
const framework = z
  .strictObject({
    name,
    title: words,
    changedAt: instant,
    standards: z
      .array(
        z.strictObject({
          code,
          statement: words,
          kcs: z.array(z.strictObject({ code, statement: words })).default([]),
        }),
      )
      .min(1)
      .optional(),
    /** Pairs of codes: the first is taught before the second. */
    precedes: z.array(z.tuple([code, code])).default([]),
    generated: z
      .strictObject({ standards: z.int().min(1).max(1_000), kcsPerStandard: z.int().min(0).max(1_000) })
      .optional(),
  })
  .refine(...exactlyOne('standards', 'generated'));

const criteria = z.strictObject({ version: text, required: z.number().nullable() });

const crosswalk = z.strictObject({
  sourceTest: text,
  sourceVersion: text,
  crosswalkVersion: text,
  /** Null: there is no coverage evidence. */
  coverageFraction: proportion.nullable(),
  dokDominance: readinessEntry.shape.dokDominance,
  slots: z.array(name).default([]),
  freshness: settledFreshness,
  limitations: z.array(z.string().min(1).max(500)).default([]),
});

const testSpec = z
  .strictObject({
    name,
    testKind: requestableTestKind,
    framework: name,
    criteria: criteria.nullable().default(null),
    qualifyingCoverage: z.boolean().default(false),
    /** The norms of the external scale to which the blueprint has a crosswalk. */
    externalNorms: text.nullable().default(null),
    freshness: settledFreshness,
    forms: z.array(name).min(1),
    crosswalks: z.array(crosswalk).default([]),
    /** Absent: Content has no list of sources. */
    alignment: alignment.optional(),
  })
  .refine(({ criteria, testKind }) => criteria === null || testKind === 'mastery_gate', {
    path: ['criteria'],
    message: 'belongs to a mastery gate',
  });

const equivalence = z
  .strictObject({
    form: name,
    comparedWith: z.array(name).min(1),
    coverageMatch: z.boolean(),
    dokMatch: z.boolean(),
    /** One for the form and each that it is compared with. */
    sampleSizes: z.record(name, count),
    method: text,
    analysisVersion: text,
    /** Whether the statistic is a difference of the forms, in the unit of the tolerance. */
    statisticKind: z.literal('difference').optional(),
    statistic: z.number(),
    confidenceInterval: z.strictObject({ lower: z.number(), upper: z.number() }),
    tolerance: z.number(),
    decision: equivalenceReport.shape.decision.exclude(['unknown']),
    /** Whether Analytics shows an artifact of its analysis. */
    evidenceArtifact: z.boolean(),
    freshness: settledFreshness,
  })
  .refine(
    ({ form, comparedWith, sampleSizes }) =>
      [form, ...comparedWith].sort().join() === Object.keys(sampleSizes).sort().join(),
    { path: ['sampleSizes'], message: 'must have one size for each form' },
  );

const administration = z
  .strictObject({
    name,
    testSpec: name,
    class: name.optional(),
    school: name.optional(),
    status: words.default('scored'),
    /** What Analytics publishes, one after the other: the first one at the start. */
    analyses: z.array(analysis).default([]),
    receivers: z.strictObject({ bank: receiver('bank'), blueprint: receiver('blueprint') }).prefault({}),
  })
  .refine(...exactlyOne('class', 'school'));

const masteryRow = z
  .strictObject({
    standard: code.optional(),
    kc: code.optional(),
    state: reportedRow.shape.state.exclude(['unknown']),
    estimate: z.number().nullable(),
    threshold: z.number().nullable(),
    uncertainty: z.number().min(0),
    uncertaintyKind: reportedRow.shape.uncertaintyKind.exclude(['unknown']),
    /** The administered items that it rests on, by their number from 1, and what each contributes. */
    evidence: z.array(
      z.strictObject({
        item: z.int().min(1),
        contribution: z.number(),
        /** Whether Results exposes a component id for it. */
        component: z.boolean().default(true),
      }),
    ),
  })
  .refine(...exactlyOne('standard', 'kc'));

const record = z
  .strictObject({
    modifiedAt: instant,
    freshness: settledFreshness,
    score: z.strictObject({
      value: z.number(),
      minimum: z.number().nullable(),
      maximum: z.number().nullable(),
      unit: score.shape.unit.exclude(['unknown']),
      scale: name.nullable().default(null),
    }),
    gate: z
      .strictObject({
        status: gateDecision.shape.status.exclude(['unknown']),
        achieved: z.number().nullable(),
        /** Results' own; default: the test spec's. */
        criteria: criteria.optional(),
        coverageEvidence: z.boolean(),
        gaps: z.array(code).default([]),
      })
      .nullable()
      .default(null),
    diagnostic: z
      .strictObject({
        scaleScore: z.number(),
        scale: name,
        calibration: name,
        standardError: z.number().min(0),
        stoppingReason: stopReason,
      })
      .nullable()
      .default(null),
    policy: z.strictObject({ name, version: text }),
    mastery: z.array(masteryRow).optional(),
    /** Instead of `mastery`: a row for every standard and component of the framework, each with so much evidence. */
    generatedMastery: z.strictObject({ evidencePerRow: z.int().min(1).max(500) }).optional(),
    /** Whether Caliper holds the event that published the record. */
    published: z.boolean().default(false),
  })
  .refine(...exactlyOne('mastery', 'generatedMastery'));

const attempt = z
  .strictObject({
    name,
    idSuffix,
    student: name,
    form: name,
    administration: name,
    /** Whether QTI has a session of its own for it. */
    session: z.boolean().default(true),
    status: z.enum(['scored', 'submitted']),
    submittedAt: instant,
    /** How many items were administered; QTI scores one a second after the submission. */
    items: z.int().min(0).max(10_000),
    record: record.nullable(),
    /** Whether Results holds the record from the start; else it settles it once it is handed the attempt's components. */
    settledAtStart: z.boolean().default(true),
  })
  .refine(({ status, record }) => record === null || status === 'scored', {
    path: ['record'],
    message: 'belongs to an attempt that is scored',
  })
  .refine(({ items, record }) => (record?.generatedMastery?.evidencePerRow ?? 0) <= items, {
    path: ['record', 'generatedMastery', 'evidencePerRow'],
    message: 'is more than the attempt has items',
  })
  .refine(({ settledAtStart, record }) => settledAtStart || record?.mastery !== undefined, {
    path: ['settledAtStart'],
    message: 'waits for a record that is written out here',
  });

const history = z.strictObject({
  student: name,
  /** How many attempts; each is a copy of one of the templates, by turns. */
  attempts: z.int().min(1).max(10_000),
  templates: z.array(name).min(1),
  since: instant,
});

const roles = tenantFixtures.shape.reports.shape;

/** What `stack.json` offers to call the routes with: the name of an attempt, student or form for every role. */
const fixtures = z.strictObject({
  attempts: z.record(roles.attempts.keyof(), name),
  candidates: z.record(roles.candidates.keyof(), name),
  forms: z.record(roles.forms.keyof(), name),
  /** Those that can be analyzed, the ones to begin with first. */
  administrations: z.array(name).default([]),
});

export const reportsFile = z.strictObject({
  schools: z.array(school),
  classes: z.array(classOf),
  students: z.array(student),
  /** The class to which learner runs of the mastery engine are administered. */
  runClass: name.nullable().default(null),
  frameworks: z.array(framework),
  testSpecs: z.array(testSpec),
  equivalences: z.array(equivalence),
  administrations: z.array(administration),
  attempts: z.array(attempt),
  histories: z.array(history),
  fixtures,
});
export type ReportsFile = z.output<typeof reportsFile>;
export type SpecEntry = ReportsFile['testSpecs'][number];
export type AdministrationEntry = ReportsFile['administrations'][number];
export type AnalysisEntry = AdministrationEntry['analyses'][number];
export type AttemptEntry = ReportsFile['attempts'][number];
export type RecordEntry = NonNullable<AttemptEntry['record']>;
export type Requirements = z.output<typeof alignmentSource>['requirements'];

/** One standard or knowledge component of a framework. */
export interface Competency {
  readonly code: string;
  readonly statement: string;
  readonly kind: 'standard' | 'knowledge_component';
  /** The code of its standard. */
  readonly parent: string | undefined;
}

export function competenciesOf({
  standards,
  generated,
}: ReportsFile['frameworks'][number]): readonly Competency[] {
  const written = standards ?? generatedStandards(generated);
  return written.flatMap(({ kcs, ...standard }): Competency[] => [
    { ...standard, kind: 'standard', parent: undefined },
    ...kcs.map((kc): Competency => ({ ...kc, kind: 'knowledge_component', parent: standard.code })),
  ]);
}

function generatedStandards({ standards, kcsPerStandard } = { standards: 0, kcsPerStandard: 0 }) {
  return Array.from({ length: standards }, (_, at) => ({
    code: `S${at + 1}`,
    statement: `Standard ${at + 1}`,
    kcs: Array.from({ length: kcsPerStandard }, (__, kc) => ({
      code: `S${at + 1}.K${kc + 1}`,
      statement: `Knowledge component ${kc + 1} of standard ${at + 1}`,
    })),
  }));
}

/** Returns the names of all sources of a test spec, in Content's order. */
export function sourceNamesOf({ alignment }: Pick<SpecEntry, 'alignment'>): readonly string[] {
  const { sources, generated } = alignment ?? {};
  return (
    sources?.map(({ key }) => key) ??
    Array.from({ length: generated?.sources ?? 0 }, (_, at) => `source-${at + 1}`)
  );
}
