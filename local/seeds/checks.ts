import { metrics } from '#shared/contract/reports/analysis-policy.ts';
import { pointer, type Defect } from '#shared/kernel/defect.ts';
import { checkTable } from '#tools/terminal/study.ts';
import type { BankFile, CalibrationFile, Learner, PolicyFile } from './bank-files.ts';
import { competenciesOf, sourceNamesOf, type AnalysisEntry, type ReportsFile } from './reports-file.ts';

/* What the schemas of a seed's files cannot see: names that repeat or name nothing, and facts that contradict each other. */

/**
 * Collects the defects of one file. A place is a pattern: `items.*.kcs.*` is every component of every item. What is absent or null there is
 * right. Values are distinct as a whole, or by the members that are named.
 */
function checksOf(file: unknown) {
  const defects: Defect[] = [];
  const add = (message: string, ...path: readonly PropertyKey[]): void => {
    defects.push({ pointer: pointer(...path), message });
  };
  const distinct = (what: string, places: readonly string[], ...members: readonly string[]): void => {
    const seen = new Set<string>();
    for (const [value, path] of places.flatMap((place) => valuesAt(file, place))) {
      const parts = members.map((member) => (value as Readonly<Record<string, unknown>>)[member]);
      const name = (members.length === 0 ? [value] : parts).join(' ');
      if (seen.has(name)) add(`duplicate ${what} "${name}"`, ...path);
      seen.add(name);
    }
  };
  const known = (what: string, names: Iterable<string>, ...places: readonly string[]): void => {
    const all = new Set(names);
    for (const [value, path] of places.flatMap((place) => valuesAt(file, place)))
      if (!all.has(String(value))) add(`"${String(value)}" is not ${what}`, ...path);
  };
  return { defects, add, distinct, known };
}

/** Returns the values at a place, each with its path. */
function valuesAt(file: unknown, place: string): readonly (readonly [unknown, readonly PropertyKey[]])[] {
  let found: (readonly [unknown, readonly PropertyKey[]])[] = [[file, []]];
  for (const step of place.split('.')) {
    found = found.flatMap(([value, path]) => {
      const members = Object(value ?? {}) as Readonly<Record<string, unknown>>;
      const keys = step === '*' ? Object.keys(members) : [step];
      return keys.map((key) => [members[key], [...path, key]] as const);
    });
  }
  return found.filter(([value]) => value !== undefined && value !== null);
}

function namesOf(entries: readonly { readonly name: string }[]): readonly string[] {
  return entries.map(({ name }) => name);
}

const KC = 'a knowledge component of bank.json';
const STANDARD = 'a standard of bank.json';
const ITEM = 'an item of bank.json';

export function checkBank(bank: BankFile): readonly Defect[] {
  const { defects, distinct, known } = checksOf(bank);
  distinct('standard', ['standards.*.name']);
  distinct('knowledge component', ['kcs.*.name']);
  distinct('item', ['items.*.name']);
  for (const at of bank.items.keys()) {
    distinct('knowledge component', [`items.${at}.kcs.*`]);
    distinct('standard', [`items.${at}.standards.*`]);
  }
  known(KC, namesOf(bank.kcs), 'items.*.kcs.*');
  known(STANDARD, namesOf(bank.standards), 'items.*.standards.*');
  return defects;
}

/** Returns whether the calibration has exactly the bank's items and components, with tables of the right length and a rising scale. */
export function checkCalibration(calibration: CalibrationFile, bank: BankFile): readonly Defect[] {
  const { defects, add, distinct, known } = checksOf(calibration);
  const { theta, scale, validFrom, validUntil } = calibration;
  distinct('knowledge component', ['kcs.*.kc']);
  distinct('item', ['items.*.item']);
  known(KC, namesOf(bank.kcs), 'kcs.*.kc');
  known(ITEM, namesOf(bank.items), 'items.*.item');
  const kcs = new Set(calibration.kcs.map(({ kc }) => kc));
  for (const { name } of bank.kcs)
    if (!kcs.has(name)) add(`knowledge component "${name}" of bank.json is missing`, 'kcs');
  const items = new Set(calibration.items.map(({ item }) => item));
  for (const { name } of bank.items)
    if (!items.has(name)) add(`item "${name}" of bank.json is missing`, 'items');
  const sizes = new Map(bank.items.map((item) => [item.name, item.kcs.length]));
  for (const [at, item] of calibration.items.entries()) {
    const size = sizes.get(item.item);
    if ('guess' in item && item.guess >= 1 - item.slip)
      add('guess must be below 1 - slip', 'items', at, 'guess');
    if ('probabilities' in item && size !== undefined)
      defects.push(...checkTable(item.probabilities, size, ['items', at, 'probabilities']));
  }
  if (calibration.blocks !== undefined) {
    known(KC, namesOf(bank.kcs), 'blocks.*.kcs.*');
    for (const [at, block] of calibration.blocks.entries()) {
      const { length } = block.kcs;
      if (block.form === 'saturated' && block.weights.length !== 2 ** length)
        add(`${length} knowledge components need ${2 ** length} numbers`, 'blocks', at, 'weights');
      if (block.form === 'hierarchy' && block.prerequisites.length !== length)
        add(`${length} knowledge components need as many lists`, 'blocks', at, 'prerequisites');
    }
  }
  const stated = new Set(
    calibration.blocks?.flatMap(({ form, kcs: own }) => (form === 'saturated' ? own : [])),
  );
  for (const [at, { kc, slope, location }] of calibration.kcs.entries())
    if (!stated.has(kc) && (slope === undefined || location === undefined))
      add('needs "slope" and "location"', 'kcs', at);
  if (theta.min >= theta.max) add('must be below max', 'theta', 'min');
  const values = 'values' in scale ? scale.values : undefined;
  if (values !== undefined && values.length !== theta.nodes)
    add(`found ${values.length} numbers; ${theta.nodes} theta nodes need as many`, 'scale', 'values');
  const flat = values?.findIndex((value, at) => value <= (values[at - 1] ?? -Infinity)) ?? -1;
  if (flat > 0) add('must be above the value before it', 'scale', 'values', flat);
  if (Date.parse(validUntil) <= Date.parse(validFrom)) add('must be later than validFrom', 'validUntil');
  return defects;
}

export function checkPolicy(policy: PolicyFile, bank: BankFile): readonly Defect[] {
  const { defects, distinct, known } = checksOf(policy);
  const rules = 'eligibilityRules';
  for (const list of ['coverageFloors', `${rules}.contentConstraints`]) {
    distinct('knowledge component', [`${list}.*.kc`]);
    distinct('standard', [`${list}.*.standard`]);
    known(KC, namesOf(bank.kcs), `${list}.*.kc`);
    known(STANDARD, namesOf(bank.standards), `${list}.*.standard`);
  }
  distinct('knowledge component', [`${rules}.kcScope.*`]);
  known(KC, namesOf(bank.kcs), `${rules}.kcScope.*`);
  distinct('item', [`${rules}.excludedItems.*`]);
  for (const at of policy.eligibilityRules.enemySets?.keys() ?? [])
    distinct('item', [`${rules}.enemySets.${at}.*`]);
  known(ITEM, namesOf(bank.items), `${rules}.excludedItems.*`, `${rules}.enemySets.*.*`);
  return defects;
}

export function checkLearners(learners: readonly Learner[], bank: BankFile): readonly Defect[] {
  const { defects, add, distinct } = checksOf({ learners });
  distinct('learner', ['learners.*.name']);
  const items = new Set(namesOf(bank.items));
  for (const [at, { answers }] of learners.entries())
    for (const item of Object.keys(answers))
      if (!items.has(item)) add(`"${item}" is not ${ITEM}`, 'learners', at, 'answers', item);
  return defects;
}

export function checkReports(file: ReportsFile): readonly Defect[] {
  const checks = checksOf(file);
  const { distinct, known } = checks;
  const own = (what: string): string => `${what} of this file`;
  for (const list of [
    'schools',
    'classes',
    'students',
    'frameworks',
    'testSpecs',
    'administrations',
    'attempts',
  ])
    distinct('name', [`${list}.*.name`]);
  const forms = file.testSpecs.flatMap((spec) => spec.forms);
  distinct('form', ['testSpecs.*.forms.*']);
  distinct('form', ['equivalences.*.form']);
  distinct('administration', ['fixtures.administrations.*']);
  known(own('a class'), namesOf(file.classes), 'runClass', 'administrations.*.class');
  known(own('a school'), namesOf(file.schools), 'administrations.*.school');
  const students = ['attempts.*.student', 'histories.*.student', 'fixtures.candidates.*'];
  known(own('a student'), namesOf(file.students), ...students);
  known(own('a framework'), namesOf(file.frameworks), 'testSpecs.*.framework');
  known(own('a test spec'), namesOf(file.testSpecs), 'administrations.*.testSpec');
  known(own('a form'), forms, 'attempts.*.form', 'equivalences.*.form');
  known(own('an administration'), namesOf(file.administrations), 'attempts.*.administration');
  known(own('an attempt'), namesOf(file.attempts), 'fixtures.attempts.*');
  const copied = file.attempts.filter(
    ({ record, settledAtStart }) => record?.generatedMastery === undefined && settledAtStart,
  );
  known('an attempt that a history can copy', namesOf(copied), 'histories.*.templates.*');
  const analyzed = file.equivalences.map(({ form }) => form).filter((form) => forms.includes(form));
  known('a form with an equivalence', analyzed, 'fixtures.forms.*');
  const aligned = new Set(namesOf(file.testSpecs.filter(({ alignment }) => alignment !== undefined)));
  const able = file.administrations.filter(
    ({ status, analyses, testSpec }) => status === 'scored' && analyses.length > 0 && aligned.has(testSpec),
  );
  known('an administration that can be analyzed', namesOf(able), 'fixtures.administrations.*');
  for (const at of file.schools.keys()) distinct('grade', [`schools.${at}.grades.*.grade`]);
  for (const at of file.frameworks.keys()) {
    const standards = `frameworks.${at}.standards.*`;
    distinct('code', [`${standards}.code`, `${standards}.kcs.*.code`]);
    const codes = file.frameworks.slice(at, at + 1).flatMap(competenciesOf);
    known(
      'a competency of the framework',
      codes.map((one) => one.code),
      `frameworks.${at}.precedes.*.*`,
    );
  }
  for (const at of file.testSpecs.keys()) checkSpec(file, at, checks);
  for (const at of file.equivalences.keys()) {
    const { form } = file.equivalences[at] ?? {};
    const spec = file.testSpecs.find((one) => one.forms.includes(form ?? ''));
    known('a form of the same test spec', spec?.forms ?? forms, `equivalences.${at}.comparedWith.*`);
  }
  for (const at of file.administrations.keys()) checkAnalyses(file, at, checks);
  for (const at of file.attempts.keys()) checkAttempt(file, at, checks);
  return checks.defects;
}

type Checks = ReturnType<typeof checksOf>;

/** Returns the codes of a test spec's framework; undefined where it has none, which is a defect of its own. */
function codesOf({ frameworks }: ReportsFile, spec: ReportsFile['testSpecs'][number] | undefined) {
  const framework = frameworks.find(({ name }) => name === spec?.framework);
  if (framework === undefined) return undefined;
  const competencies = competenciesOf(framework);
  const of = (...kinds: readonly string[]): readonly string[] =>
    competencies.filter(({ kind }) => kinds.includes(kind)).map(({ code }) => code);
  return {
    standards: of('standard'),
    kcs: of('knowledge_component'),
    all: of('standard', 'knowledge_component'),
  };
}

const COMPETENCY = 'a competency of the test spec’s framework';

function checkSpec(file: ReportsFile, at: number, { distinct, known }: Checks): void {
  const spec = file.testSpecs[at];
  distinct('publication', [`testSpecs.${at}.crosswalks.*`], 'sourceTest', 'sourceVersion');
  const sources = `testSpecs.${at}.alignment.sources`;
  distinct('source', [`${sources}.*.key`]);
  for (const source of spec?.alignment?.sources?.keys() ?? [])
    distinct('requirement', [`${sources}.${source}.requirements.*.id`]);
  const codes = codesOf(file, spec);
  if (codes === undefined) return;
  const lacked = `testSpecs.${at}.alignment.lacks.codes.*`;
  known(COMPETENCY, codes.all, `${sources}.*.requirements.*.mappings.*.code`, lacked);
}

function checkAnalyses(file: ReportsFile, at: number, checks: Checks): void {
  const { distinct, known } = checks;
  const spec = file.testSpecs.find(({ name }) => name === file.administrations[at]?.testSpec);
  const codes = codesOf(file, spec);
  if (spec === undefined || codes === undefined) return;
  const rows = `administrations.${at}.analyses.*.metrics.*.artifact.rows.*`;
  const comparison = `administrations.${at}.analyses.*.comparisons.*`;
  known('a source of the test spec', sourceNamesOf(spec), `${comparison}.source`);
  known('a form of the test spec', spec.forms, `${rows}.form`, `${comparison}.artifact.form`);
  known(COMPETENCY, codes.all, `${rows}.codes.*`, `${comparison}.artifact.codes.*`);
  for (const [which, analysis] of file.administrations[at]?.analyses.entries() ?? []) {
    distinct('metric', [`administrations.${at}.analyses.${which}.metrics.*.metric`]);
    distinct('source', [`administrations.${at}.analyses.${which}.comparisons.*.source`]);
    for (const [metric, entry] of analysis.metrics.entries())
      checkMetric(entry, ['administrations', at, 'analyses', which, 'metrics', metric, 'artifact'], checks);
  }
}

function checkMetric(
  { metric, artifact }: AnalysisEntry['metrics'][number],
  path: readonly PropertyKey[],
  { add }: Checks,
): void {
  const isOfForms = metric === 'form_summary';
  const rows = artifact?.rows ?? [];
  if (artifact?.generatedRows !== undefined && (isOfForms || rows.length > 0))
    add('replaces the rows of items', ...path, 'generatedRows');
  const measures = new Map(metrics[metric].measures.map((measure) => [measure.name, measure]));
  for (const [at, row] of rows.entries()) {
    if ((row.item === undefined) !== isOfForms)
      add('is required for items, and not allowed for forms', ...path, 'rows', at, 'item');
    for (const [name, value] of Object.entries(row.measures)) {
      const measure = measures.get(name);
      if (measure === undefined) add(`is not a measure of ${metric}`, ...path, 'rows', at, 'measures', name);
      else if (value < measure.least || value > measure.greatest)
        add(`must be ${measure.least} to ${measure.greatest}`, ...path, 'rows', at, 'measures', name);
    }
  }
}

function checkAttempt(file: ReportsFile, at: number, { add, distinct, known }: Checks): void {
  const entry = file.attempts[at];
  const spec = file.testSpecs.find(({ forms }) => forms.includes(entry?.form ?? ''));
  if (entry === undefined || spec === undefined) return;
  const administration = file.administrations.find(({ name }) => name === entry.administration);
  if (administration !== undefined && administration.testSpec !== spec.name)
    add('is of another test spec than the form', 'attempts', at, 'administration');
  const { record } = entry;
  if (record === null) return;
  if ((record.gate !== null) !== (spec.testKind === 'mastery_gate'))
    add('belongs to a mastery gate, and to nothing else', 'attempts', at, 'record', 'gate');
  if ((record.diagnostic !== null) !== (spec.testKind === 'adaptive_diagnostic'))
    add('belongs to an adaptive diagnostic, and to nothing else', 'attempts', at, 'record', 'diagnostic');
  const rows = `attempts.${at}.record.mastery.*`;
  distinct('competency', [`${rows}.standard`, `${rows}.kc`]);
  const codes = codesOf(file, spec);
  if (codes !== undefined) {
    known(COMPETENCY, codes.all, `attempts.${at}.record.gate.gaps.*`);
    known('a standard of the test spec’s framework', codes.standards, `${rows}.standard`);
    known('a knowledge component of the test spec’s framework', codes.kcs, `${rows}.kc`);
  }
  const numbers = Array.from({ length: entry.items }, (_, item) => String(item + 1));
  known('an item of the attempt', numbers, `${rows}.evidence.*.item`);
}
