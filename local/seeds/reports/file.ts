import * as z from 'zod';
import { requestableTestKind } from '#shared/contract/reports/attempt-report.ts';
import { grade } from '#shared/contract/reports/cohort-report.ts';
import { count, instant, proportion, text } from '#shared/contract/reports/primitives.ts';
import { stopReason } from '#shared/contract/stop-reason.ts';
import { freshness } from '#shared/platform/owners/primitives.ts';
import { alignment, analysis, receivers } from './improvement-entries.ts';
import { code, name } from './names.ts';

/** `reports.json`: what reports are composed of, by names; docs/seeds.md explains it member by member. */

/** Stands behind the id that is made of the name: ids are opaque, and may hold what a path must escape. */
const idSuffix = z
  .string()
  .max(64)
  .regex(/^[^\s,]*$/u, 'must hold neither white space nor a comma')
  .default('');
const rosterStatus = z.enum(['active', 'tobedeleted']).default('active');
const settledFreshness = freshness.default('current');

/** A published snapshot of a cohort. */
const rollup = z.strictObject({
  formulaVersion: text,
  asOf: instant,
  /** Null: withheld. */
  populationCount: count.nullable(),
  suppression: z.enum(['not_suppressed', 'suppressed', 'unknown']).default('not_suppressed'),
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

const framework = z.strictObject({
  name,
  title: z.string().min(1),
  changedAt: instant,
  /** Either written out, each standard with its knowledge components … */
  standards: z
    .array(
      z.strictObject({
        code,
        statement: z.string().min(1),
        kcs: z.array(z.strictObject({ code, statement: z.string().min(1) })).default([]),
      }),
    )
    .min(1)
    .optional(),
  /** … or so many of each, with the codes `S1`, `S1.K1`, … */
  generated: z
    .strictObject({
      standards: z.int().min(1).max(1_000),
      kcsPerStandard: z.int().min(0).max(1_000),
    })
    .optional(),
});

const criteria = z.strictObject({ version: text, required: z.number().nullable() });

const crosswalk = z.strictObject({
  sourceTest: text,
  sourceVersion: text,
  crosswalkVersion: text,
  /** Null: there is no coverage evidence. */
  coverageFraction: proportion.nullable(),
  dokDominance: z.enum(['satisfied', 'not_satisfied', 'indeterminate']),
  slots: z.array(name).default([]),
  freshness: settledFreshness,
  limitations: z.array(z.string().min(1).max(500)).default([]),
});

const testSpec = z.strictObject({
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
});

const equivalence = z.strictObject({
  form: name,
  comparedWith: z.array(name).min(1),
  coverageMatch: z.boolean(),
  dokMatch: z.boolean(),
  /** One for the form and each that it is compared with. */
  sampleSizes: z.record(name, count),
  method: text,
  analysisVersion: text,
  statistic: z.number(),
  confidenceInterval: z.strictObject({ lower: z.number(), upper: z.number() }),
  tolerance: z.number(),
  decision: z.enum(['equivalent', 'not_equivalent', 'insufficient_evidence']),
  /** Whether Analytics shows an artifact of its analysis. */
  evidenceArtifact: z.boolean(),
  freshness: settledFreshness,
});

const administration = z.strictObject({
  name,
  testSpec: name,
  class: name.optional(),
  school: name.optional(),
  status: z.string().min(1).default('scored'),
  /** What Analytics publishes, one after the other: the first one at the start. */
  analyses: z.array(analysis).default([]),
  receivers,
});

const competency = {
  standard: code.optional(),
  kc: code.optional(),
};

const masteryRow = z.strictObject({
  ...competency,
  state: z.enum(['mastered', 'not_yet', 'gap', 'insufficient_evidence']),
  estimate: z.number().nullable(),
  threshold: z.number().nullable(),
  uncertainty: z.number().min(0),
  uncertaintyKind: z.enum(['standard_error', 'interval_half_width', 'policy_margin']),
  /** The administered items that it rests on, by their number from 1, and what each contributes. */
  evidence: z.array(
    z.strictObject({
      item: z.int().min(1),
      contribution: z.number(),
      /** Whether Results exposes a component id for it. */
      component: z.boolean().default(true),
    }),
  ),
});

const record = z.strictObject({
  modifiedAt: instant,
  freshness: settledFreshness,
  score: z.strictObject({
    value: z.number(),
    minimum: z.number().nullable(),
    maximum: z.number().nullable(),
    unit: z.enum(['points', 'percent', 'mastery_scale']),
    scale: name.nullable().default(null),
  }),
  gate: z
    .strictObject({
      status: z.enum(['pass', 'fail', 'indeterminate']),
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
});

const attempt = z.strictObject({
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
});

const history = z.strictObject({
  student: name,
  /** How many attempts; each is a copy of one of the templates, by turns. */
  attempts: z.int().min(1).max(10_000),
  templates: z.array(name).min(1),
  since: instant,
});

const roles = <Role extends string>(...names: readonly Role[]) =>
  // SAFETY: an entry for every role.
  z.strictObject(Object.fromEntries(names.map((role) => [role, name])) as Record<Role, typeof name>);

/** What `stack.json` offers to call the routes with: the name of an attempt, student or form for every role. */
const fixtures = z.strictObject({
  attempts: roles(
    'gatePass',
    'gateFail',
    'gateIndeterminate',
    'diagnostic',
    'formative',
    'unscored',
    'unsettled',
    'stale',
    'large',
  ),
  candidates: roles('withHistory', 'empty'),
  forms: roles('equivalent', 'notEquivalent', 'insufficient'),
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
export type FrameworkEntry = ReportsFile['frameworks'][number];
export type AttemptEntry = ReportsFile['attempts'][number];
export type RecordEntry = NonNullable<AttemptEntry['record']>;
export type HistoryEntry = ReportsFile['histories'][number];

/** One standard or knowledge component of a framework. */
export interface Competency {
  readonly code: string;
  readonly statement: string;
  readonly kind: 'standard' | 'knowledge_component';
  /** The code of its standard. */
  readonly parent: string | undefined;
}

/** Every standard, each followed by its components. */
export function competenciesOf({ standards, generated }: FrameworkEntry): readonly Competency[] {
  const written = standards ?? generate(generated);
  return written.flatMap((standard): Competency[] => [
    { code: standard.code, statement: standard.statement, kind: 'standard', parent: undefined },
    ...standard.kcs.map((kc): Competency => ({
      ...kc,
      kind: 'knowledge_component',
      parent: standard.code,
    })),
  ]);
}

function generate(settings: FrameworkEntry['generated']): NonNullable<FrameworkEntry['standards']> {
  const { standards = 0, kcsPerStandard = 0 } = settings ?? {};
  return Array.from({ length: standards }, (_, at) => ({
    code: `S${at + 1}`,
    statement: `Standard ${at + 1}`,
    kcs: Array.from({ length: kcsPerStandard }, (__, kc) => ({
      code: `S${at + 1}.K${kc + 1}`,
      statement: `Knowledge component ${kc + 1} of standard ${at + 1}`,
    })),
  }));
}
