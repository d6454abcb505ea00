import * as z from 'zod';
import { eligibilityRules, exposureRule, namesTable } from '#shared/contract/mastery/selection-policy.ts';
import { timestamp } from '#shared/contract/mastery/primitives.ts';
import { analysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import { namedBlocks, oneModel, thetaGrid } from '#tools/terminal/study.ts';

/* The files of a seed directory but `reports.json`; docs/seeds.md explains them field by field. They contain names, never a tenant's ids. */

export const slug = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'must be 1 to 64 of a-z, 0-9 and -, not beginning with -');
const name = z.string().min(1).max(128);
const words = z.string().min(1);

/** Returns a refinement of an object that must have exactly one of two members. */
export function exactlyOne<Name extends string>(
  a: Name,
  b: Name,
): [check: (value: Readonly<Partial<Record<Name, unknown>>>) => boolean, message: string] {
  return [
    (value) => (value[a] === undefined) !== (value[b] === undefined),
    `needs exactly one of "${a}" and "${b}"`,
  ];
}

const rules = {
  exposure: exposureRule.refine(
    (rule) => !namesTable(rule),
    'names a table, and a seed has none: choose another method',
  ),
  priorUse: eligibilityRules.shape.priorUse.unwrap(),
  selectionTarget: eligibilityRules.shape.selectionTarget.unwrap(),
};
const {
  unmeasuredCredit,
  settlingCredit,
  minimumGain,
  minimumDecisionGain,
  poolMembership,
  blueprintCoverage,
} = eligibilityRules.shape;

export const seedFile = z.strictObject({
  name: slug,
  title: words,
  banks: z
    .array(
      z.strictObject({
        name: slug,
        /** The folder with the bank's files; several entries may share one and differ in the policy. */
        directory: slug.optional(),
        policy: z
          .string()
          .regex(/^[a-z0-9][a-z0-9-]*\.json$/, 'must be a file name ending in .json')
          .default('policy.json'),
        /** Further policies for the bank, which are not in stack.json: how each differs from the bank's own. A rule that it lacks is `null`. */
        alsoReleased: z
          .array(
            z.strictObject({
              exposure: rules.exposure.nullish(),
              priorUse: rules.priorUse.nullish(),
              selectionTarget: rules.selectionTarget.nullish(),
              unmeasuredCredit: unmeasuredCredit.nullable(),
              settlingCredit: settlingCredit.nullable(),
              minimumDecisionGain: minimumDecisionGain.nullable(),
            }),
          )
          .default([]),
      }),
    )
    .min(1),
  /** By path, the hashes of the files that `npm run seed` wrote (made-here.ts). */
  fromResponses: z
    .record(z.string(), z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal'))
    .optional(),
});

export const bankFile = z.strictObject({
  title: words,
  subject: words,
  grades: z.array(words).min(1),
  framework: words,
  standards: z.array(z.strictObject({ name, statement: words })).min(1),
  kcs: z.array(z.strictObject({ name, label: words })).min(1),
  items: z
    .array(
      z.strictObject({
        name,
        stem: words,
        kcs: z.array(name).min(1).max(12, 'an item may need at most 12 knowledge components'),
        standards: z.array(name).min(1),
        accessibility: z.array(words).default([]),
      }),
    )
    .min(1),
});
export type BankFile = z.output<typeof bankFile>;

const success = z.number().gt(0).lt(1);

export const calibrationFile = z.strictObject({
  theta: thetaGrid,
  kcs: z
    .array(
      z.strictObject({
        kc: name,
        /** The curve; absent where a block states the probabilities. */
        slope: z.number().positive().exactOptional(),
        location: z.number().exactOptional(),
      }),
    )
    .min(1),
  blocks: namedBlocks,
  items: z
    .array(
      z.union(
        [
          z.strictObject({ item: name, guess: success, slip: success }),
          z.strictObject({ item: name, probabilities: z.array(success).min(2) }),
        ],
        oneModel,
      ),
    )
    .min(1),
  scale: z.union(
    [
      z.strictObject({ name, base: z.number(), perTheta: z.number().positive() }),
      z.strictObject({ name, values: z.array(z.number()).min(3) }),
    ],
    'needs "name" and either "base" and a positive "perTheta", or "values"',
  ),
  maximumReportableError: z.number().positive().optional(),
  reliabilityCeiling: z.number().min(0).max(1).optional(),
  anchor: z.strictObject({ source: name, version: name, licenseScope: words }),
  mappingVersion: name,
  numericPrecision: z.int().min(1).max(15),
  validFrom: timestamp,
  validUntil: timestamp,
  recoveryTolerance: z.number().min(0),
  limitations: z.array(words).min(1),
});
export type CalibrationFile = z.output<typeof calibrationFile>;

/** The members of a calibration that is only for local development. */
export const localCalibration = {
  anchor: { source: 'local-anchor-study', version: '2026', licenseScope: 'local development only' },
  mappingVersion: 'mapping-1',
  numericPrecision: 12,
  validFrom: '2026-01-01T00:00:00.000Z',
  validUntil: '2036-01-01T00:00:00.000Z',
  recoveryTolerance: 100,
} satisfies Partial<CalibrationFile>;

/** A knowledge component or a standard, by name. */
const competency = { kc: name.optional(), standard: name.optional() };
const least = z.int().min(0);

export const policyFile = z.strictObject({
  kcCutScore: z.number().min(0).max(1),
  confidenceThreshold: z.number().min(0).max(1),
  precisionTarget: z.number().positive(),
  maxItems: z.int().min(1),
  timeBudgetSeconds: z.int().min(1).nullable(),
  coverageFloors: z
    .array(
      z.strictObject({ ...competency, minimumEvidenceItems: least }).refine(...exactlyOne('kc', 'standard')),
    )
    .default([]),
  eligibilityRules: z
    .strictObject({
      kcScope: z.array(name).min(1).optional(),
      contentConstraints: z
        .array(
          z
            .strictObject({ ...competency, minItems: least.optional(), maxItems: least.optional() })
            .refine(...exactlyOne('kc', 'standard'))
            .refine(
              ({ minItems = 0, maxItems = Infinity }) => minItems <= maxItems,
              'minItems must not be above maxItems',
            ),
        )
        .optional(),
      requiredAccessibility: z.array(words).optional(),
      enemySets: z.array(z.array(name).min(2)).optional(),
      excludedItems: z.array(name).optional(),
      exposure: rules.exposure.optional(),
      priorUse: rules.priorUse.optional(),
      selectionTarget: rules.selectionTarget.optional(),
      unmeasuredCredit,
      settlingCredit,
      minimumGain,
      minimumDecisionGain,
      poolMembership,
      blueprintCoverage,
    })
    .default({}),
});
export type PolicyFile = z.output<typeof policyFile>;

/** `analysis-policy.json`: no name in it needs a tenant's id but its own. */
export const analysisPolicyFile = analysisPolicy
  .pick({ version: true, triggers: true })
  .extend({ name: slug });
export type AnalysisPolicyFile = z.output<typeof analysisPolicyFile>;

export const learnersFile = z.strictObject({
  learners: z.array(
    z.strictObject({ name, answers: z.record(z.string(), z.union([z.literal(0), z.literal(1)])) }),
  ),
});
export type Learner = z.output<typeof learnersFile>['learners'][number];

/** `generator.json`: replaces bank, calibration and learners. */
export const generatorFile = z.strictObject({
  generator: z.literal('standards-by-components/1'),
  /** Another seed, another bank. */
  seed: words,
  title: words,
  subject: words,
  grades: z.array(words).min(1),
  standards: z.int().min(1).max(200),
  kcsPerStandard: z.int().min(1).max(12),
  items: z.int().min(1).max(50_000),
  learners: z.int().min(0).max(10_000),
});
export type GeneratorFile = z.output<typeof generatorFile>;
