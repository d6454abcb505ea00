import * as z from 'zod';
import { timestamp } from '#shared/contract/mastery/primitives.ts';
import { analysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import { pointer } from '#shared/kernel/defect.ts';
import { checkTable, oneModel, thetaGrid } from '#tools/terminal/study.ts';
import type { ReportsFile } from './reports/file.ts';

/** The files of a seed directory; docs/seeds.md explains them field by field. Names stand where a tenant's ids will stand. */

const slug = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'must be 1 to 64 of a-z, 0-9 and -, not beginning with -');
const name = z.string().min(1).max(128);

const priorUse = z.enum(['allow', 'avoid', 'exclude']);
const exposure = z.discriminatedUnion('method', [
  z.strictObject({ method: z.literal('randomesque'), size: z.int().min(1) }),
  z.strictObject({ method: z.literal('progressive') }),
]);
const selectionTarget = z.enum(['latent_state', 'unsettled_components']);

/** How an earlier policy of a bank differs from today's; a rule that it did not have is `null`. */
const earlierRules = z.strictObject({
  exposure: exposure.nullable().optional(),
  priorUse: priorUse.nullable().optional(),
  selectionTarget: selectionTarget.nullable().optional(),
});
const policyName = z.string().regex(/^[a-z0-9][a-z0-9-]*\.json$/, 'must be a file name ending in .json');

/** `seed.json` */
export const seedFile = z.strictObject({
  name: slug,
  title: z.string().min(1),
  banks: z
    .array(
      z.strictObject({
        name: slug,
        /** The folder with the bank's files; several entries may share one and differ in the policy. */
        directory: slug.optional(),
        policy: policyName.default('policy.json'),
        /** Further policies for the bank, which are not in stack.json: those of earlier versions stay released. */
        alsoReleased: z.array(earlierRules).default([]),
      }),
    )
    .min(1),
  /** By path, the hashes of the files that `npm run seed` wrote (made-here.ts). */
  fromResponses: z
    .record(z.string(), z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal'))
    .optional(),
});

/** `bank.json` */
export const bankFile = z.strictObject({
  title: z.string().min(1),
  subject: z.string().min(1),
  grades: z.array(z.string().min(1)).min(1),
  framework: z.string().min(1),
  standards: z.array(z.strictObject({ name, statement: z.string().min(1) })).min(1),
  kcs: z.array(z.strictObject({ name, label: z.string().min(1) })).min(1),
  items: z
    .array(
      z.strictObject({
        name,
        stem: z.string().min(1),
        kcs: z.array(name).min(1).max(12, 'an item may need at most 12 knowledge components'),
        standards: z.array(name).min(1),
        accessibility: z.array(z.string().min(1)).default([]),
      }),
    )
    .min(1),
});
export type BankFile = z.output<typeof bankFile>;

const success = z.number().gt(0).lt(1);

/** `calibration.json` */
export const calibrationFile = z.strictObject({
  theta: thetaGrid,
  kcs: z.array(z.strictObject({ kc: name, slope: z.number().positive(), location: z.number() })).min(1),
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
  anchor: z.strictObject({ source: name, version: name, licenseScope: z.string().min(1) }),
  mappingVersion: name,
  numericPrecision: z.int().min(1).max(15),
  validFrom: timestamp,
  validUntil: timestamp,
  recoveryTolerance: z.number().min(0),
  limitations: z.array(z.string().min(1)).min(1),
});
export type CalibrationFile = z.output<typeof calibrationFile>;

/** A knowledge component or a standard, by name. */
const competency = { kc: name.optional(), standard: name.optional() };
const oneCompetency = 'needs exactly one of "kc" and "standard"';
function namesOne(value: {
  readonly kc?: string | undefined;
  readonly standard?: string | undefined;
}): boolean {
  return (value.kc === undefined) !== (value.standard === undefined);
}

/** `policy.json` */
export const policyFile = z.strictObject({
  kcCutScore: z.number().min(0).max(1),
  confidenceThreshold: z.number().min(0).max(1),
  precisionTarget: z.number().positive(),
  maxItems: z.int().min(1),
  timeBudgetSeconds: z.int().min(1).nullable(),
  coverageFloors: z
    .array(
      z.strictObject({ ...competency, minimumEvidenceItems: z.int().min(0) }).refine(namesOne, oneCompetency),
    )
    .default([]),
  eligibilityRules: z
    .strictObject({
      kcScope: z.array(name).min(1).optional(),
      contentConstraints: z
        .array(
          z
            .strictObject({
              ...competency,
              minItems: z.int().min(0).optional(),
              maxItems: z.int().min(0).optional(),
            })
            .refine(namesOne, oneCompetency),
        )
        .optional(),
      requiredAccessibility: z.array(z.string().min(1)).optional(),
      enemySets: z.array(z.array(name).min(2)).optional(),
      excludedItems: z.array(name).optional(),
      exposure: exposure.optional(),
      priorUse: priorUse.optional(),
      selectionTarget: selectionTarget.optional(),
      minimumGain: z.number().positive().optional(),
      poolMembership: z.literal('manifest').optional(),
      blueprintCoverage: z.enum(['slots', 'none']).optional(),
    })
    .default({}),
});
export type PolicyFile = z.output<typeof policyFile>;

/** `analysis-policy.json`: no name in it needs a tenant's id but its own. */
export const analysisPolicyFile = analysisPolicy
  .pick({ version: true, triggers: true })
  .extend({ name: slug });
export type AnalysisPolicyFile = z.output<typeof analysisPolicyFile>;

const answer = z.union([z.literal(0), z.literal(1)]);

/** `learners.json` */
export const learnersFile = z.strictObject({
  learners: z.array(z.strictObject({ name, answers: z.record(z.string(), answer) })),
});
export type Learner = z.output<typeof learnersFile>['learners'][number];

/** `generator.json`: replaces bank, calibration and learners. */
export const generatorFile = z.strictObject({
  generator: z.literal('standards-by-components/1'),
  /** Another seed, another bank. */
  seed: z.string().min(1),
  title: z.string().min(1),
  subject: z.string().min(1),
  grades: z.array(z.string().min(1)).min(1),
  standards: z.int().min(1).max(200),
  kcsPerStandard: z.int().min(1).max(12),
  items: z.int().min(1).max(50_000),
  learners: z.int().min(0).max(10_000),
});
export type GeneratorFile = z.output<typeof generatorFile>;

/** The contents of one folder of a seed. */
export interface BankContent {
  readonly bank: BankFile;
  readonly calibration: CalibrationFile;
  readonly learners: readonly Learner[];
}

/** One bank to test with: its content, which another entry may share, and its own policy. */
export interface SeedBank extends BankContent {
  readonly name: string;
  readonly directory: string;
  readonly policy: PolicyFile;
  readonly alsoReleased: readonly PolicyFile[];
}

/** A loaded and checked seed. */
export interface Seed {
  readonly name: string;
  readonly title: string;
  readonly banks: readonly SeedBank[];
  readonly reports: ReportsFile;
  readonly analysisPolicy: AnalysisPolicyFile;
}

/** One thing wrong with a seed: the file below the seed directory, a JSON Pointer into it, and what is wrong there. */
export interface SeedDefect {
  readonly file: string;
  readonly pointer: string;
  readonly message: string;
}

/** The first defects, one per line, and how many more there are. */
export function renderDefects(defects: readonly SeedDefect[]): string {
  const shown = defects.slice(0, 20).map((defect) => {
    const place = defect.pointer === '' ? defect.file : `${defect.file}#${defect.pointer}`;
    return `${place}: ${defect.message}`;
  });
  if (defects.length > shown.length) shown.push(`… and ${defects.length - shown.length} more`);
  return shown.join('\n');
}

type Finding = Omit<SeedDefect, 'file'>;

function finding(message: string, ...path: readonly PropertyKey[]): Finding {
  return { pointer: pointer(...path), message };
}

/** Names that are not among the known ones, and repetitions. */
function checkNames(
  names: readonly string[],
  known: ReadonlySet<string> | undefined,
  what: string,
  pathOf: (at: number) => readonly PropertyKey[],
): readonly Finding[] {
  const seen = new Set<string>();
  return names.flatMap((item, at) => {
    if (seen.has(item)) return [finding(`duplicate ${what} "${item}"`, ...pathOf(at))];
    seen.add(item);
    return known?.has(item) === false
      ? [finding(`unknown ${what} "${item}": not in bank.json`, ...pathOf(at))]
      : [];
  });
}

/** What the schema cannot see in a bank: repeated and unknown names. */
export function checkBank(bank: BankFile): readonly Finding[] {
  const kcs = new Set(bank.kcs.map((kc) => kc.name));
  const standards = new Set(bank.standards.map((standard) => standard.name));
  return [
    ...checkNames(
      bank.standards.map((standard) => standard.name),
      undefined,
      'standard',
      (at) => ['standards', at, 'name'],
    ),
    ...checkNames(
      bank.kcs.map((kc) => kc.name),
      undefined,
      'knowledge component',
      (at) => ['kcs', at, 'name'],
    ),
    ...checkNames(
      bank.items.map((item) => item.name),
      undefined,
      'item',
      (at) => ['items', at, 'name'],
    ),
    ...bank.items.flatMap((item, at) => [
      ...checkNames(item.kcs, kcs, 'knowledge component', (kc) => ['items', at, 'kcs', kc]),
      ...checkNames(item.standards, standards, 'standard', (standard) => [
        'items',
        at,
        'standards',
        standard,
      ]),
    ]),
  ];
}

/** Whether the calibration has exactly the bank's items and components, with tables of the right length and a rising scale. */
export function checkCalibration(calibration: CalibrationFile, bank: BankFile): readonly Finding[] {
  const kcs = calibration.kcs.map((kc) => kc.kc);
  const items = calibration.items.map((item) => item.item);
  const sizes = new Map(bank.items.map((item) => [item.name, item.kcs.length]));
  const { theta, scale } = calibration;
  const findings = [
    ...checkNames(kcs, new Set(bank.kcs.map((kc) => kc.name)), 'knowledge component', (at) => [
      'kcs',
      at,
      'kc',
    ]),
    ...checkNames(items, new Set(sizes.keys()), 'item', (at) => ['items', at, 'item']),
    ...bank.kcs
      .filter((kc) => !kcs.includes(kc.name))
      .map((kc) => finding(`knowledge component "${kc.name}" of bank.json is missing`, 'kcs')),
    ...missingItems(bank, new Set(items)),
    ...calibration.items.flatMap((item, at) => {
      if (!('probabilities' in item)) {
        return item.guess < 1 - item.slip
          ? []
          : [finding('guess must be below 1 - slip', 'items', at, 'guess')];
      }
      const size = sizes.get(item.item);
      return size === undefined ? [] : checkTable(item.probabilities, size, ['items', at, 'probabilities']);
    }),
  ];
  if (theta.min >= theta.max) findings.push(finding('must be below max', 'theta', 'min'));
  if ('values' in scale) {
    if (scale.values.length !== theta.nodes) {
      findings.push(
        finding(
          `found ${scale.values.length} numbers; ${theta.nodes} theta nodes need as many`,
          'scale',
          'values',
        ),
      );
    }
    const flat = scale.values.findIndex((value, at) => at > 0 && value <= (scale.values[at - 1] ?? value));
    if (flat > 0) findings.push(finding('must be above the value before it', 'scale', 'values', flat));
  }
  if (Date.parse(calibration.validUntil) <= Date.parse(calibration.validFrom)) {
    findings.push(finding('must be later than validFrom', 'validUntil'));
  }
  return findings;
}

function missingItems(bank: BankFile, calibrated: ReadonlySet<string>): readonly Finding[] {
  return bank.items
    .filter((item) => !calibrated.has(item.name))
    .map((item) => finding(`item "${item.name}" of bank.json is missing`, 'items'));
}

/** Whether every name in the policy is one of the bank's. */
export function checkPolicy(policy: PolicyFile, bank: BankFile): readonly Finding[] {
  const kcs = new Set(bank.kcs.map((kc) => kc.name));
  const standards = new Set(bank.standards.map((standard) => standard.name));
  const items = new Set(bank.items.map((item) => item.name));
  const rules = policy.eligibilityRules;
  const competencies = (
    entries: readonly { readonly kc?: string | undefined; readonly standard?: string | undefined }[],
    ...path: readonly PropertyKey[]
  ): readonly Finding[] => [
    ...checkNames(
      entries.flatMap((entry) => entry.kc ?? []),
      kcs,
      'knowledge component',
      () => path,
    ),
    ...checkNames(
      entries.flatMap((entry) => entry.standard ?? []),
      standards,
      'standard',
      () => path,
    ),
  ];
  return [
    ...competencies(policy.coverageFloors, 'coverageFloors'),
    ...competencies(rules.contentConstraints ?? [], 'eligibilityRules', 'contentConstraints'),
    ...checkNames(rules.kcScope ?? [], kcs, 'knowledge component', (at) => [
      'eligibilityRules',
      'kcScope',
      at,
    ]),
    ...checkNames(rules.excludedItems ?? [], items, 'item', (at) => [
      'eligibilityRules',
      'excludedItems',
      at,
    ]),
    ...(rules.enemySets ?? []).flatMap((set, at) =>
      checkNames(set, items, 'item', (member) => ['eligibilityRules', 'enemySets', at, member]),
    ),
    ...(rules.contentConstraints ?? []).flatMap((constraint, at) =>
      (constraint.minItems ?? 0) > (constraint.maxItems ?? Infinity)
        ? [finding('minItems must not be above maxItems', 'eligibilityRules', 'contentConstraints', at)]
        : [],
    ),
  ];
}

/** Whether learners are distinct and answer items of the bank. */
export function checkLearners(learners: readonly Learner[], bank: BankFile): readonly Finding[] {
  const items = new Set(bank.items.map((item) => item.name));
  return [
    ...checkNames(
      learners.map((learner) => learner.name),
      undefined,
      'learner',
      (at) => ['learners', at, 'name'],
    ),
    ...learners.flatMap((learner, at) =>
      checkNames(Object.keys(learner.answers), items, 'item', () => ['learners', at, 'answers']),
    ),
  ];
}
