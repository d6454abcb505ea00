import type { Defect } from '#shared/kernel/defect.ts';
import { checkImprovement } from './check-improvement.ts';
import { competenciesOf } from './file.ts';
import type { AttemptEntry, ReportsFile } from './file.ts';
import { among, defect, repeated } from './findings.ts';
import type { Path } from './findings.ts';

/** What the schema cannot see in a `reports.json`: names that are repeated or name nothing, and facts that do not go together. */
export function checkReports(file: ReportsFile): readonly Defect[] {
  const lists = ['schools', 'classes', 'students', 'frameworks', 'testSpecs', 'administrations', 'attempts'];
  const named = file as unknown as Readonly<Record<string, readonly { readonly name: string }[]>>;
  return [
    ...lists.flatMap((list) =>
      repeated(
        (named[list] ?? []).map(({ name }) => name),
        (at) => [list, at, 'name'],
      ),
    ),
    ...repeated(
      file.testSpecs.flatMap(({ forms }) => forms),
      () => ['testSpecs'],
    ),
    ...checkRoster(file),
    ...checkContent(file),
    ...file.attempts.flatMap((entry, at) => checkAttempt(file, entry, ['attempts', at])),
    ...checkHistories(file),
    ...checkImprovement(file),
    ...checkFixtures(file),
  ];
}

function formsOf(file: ReportsFile): readonly { readonly name: string }[] {
  return file.testSpecs.flatMap(({ forms }) => forms.map((name) => ({ name })));
}

function checkRoster(file: ReportsFile): readonly Defect[] {
  return [
    ...among(file.classes, file.runClass, 'class', 'runClass'),
    ...file.schools.flatMap(({ grades }, at) =>
      repeated(
        grades.map(({ grade }) => grade),
        (grade) => ['schools', at, 'grades', grade, 'grade'],
      ),
    ),
    ...file.administrations.flatMap((entry, at) => [
      ...among(file.testSpecs, entry.testSpec, 'test spec', 'administrations', at, 'testSpec'),
      ...among(file.classes, entry.class, 'class', 'administrations', at, 'class'),
      ...among(file.schools, entry.school, 'school', 'administrations', at, 'school'),
      ...((entry.class === undefined) === (entry.school === undefined)
        ? [defect('names exactly one of "class" and "school"', 'administrations', at)]
        : []),
    ]),
  ];
}

function checkContent(file: ReportsFile): readonly Defect[] {
  return [
    ...file.frameworks.flatMap((framework, at) => [
      ...((framework.standards === undefined) === (framework.generated === undefined)
        ? [defect('holds exactly one of "standards" and "generated"', 'frameworks', at)]
        : []),
      ...repeated(
        competenciesOf(framework).map(({ code }) => code),
        () => ['frameworks', at, 'standards'],
      ),
    ]),
    ...file.testSpecs.flatMap((spec, at) => [
      ...among(file.frameworks, spec.framework, 'framework', 'testSpecs', at, 'framework'),
      ...(spec.criteria !== null && spec.testKind !== 'mastery_gate'
        ? [defect('belongs to a mastery gate', 'testSpecs', at, 'criteria')]
        : []),
      ...repeated(
        spec.crosswalks.map(({ sourceTest, sourceVersion }) => `${sourceTest} ${sourceVersion}`),
        (crosswalk) => ['testSpecs', at, 'crosswalks', crosswalk],
      ),
    ]),
    ...file.equivalences.flatMap((entry, at) => {
      const spec = file.testSpecs.find(({ forms }) => forms.includes(entry.form));
      const compared = [entry.form, ...entry.comparedWith];
      const sized = Object.keys(entry.sampleSizes);
      return [
        ...(spec === undefined ? among([], entry.form, 'form', 'equivalences', at, 'form') : []),
        ...entry.comparedWith.flatMap((form, other) =>
          spec === undefined || spec.forms.includes(form)
            ? []
            : [
                defect(
                  `"${form}" is no form of the same test spec`,
                  'equivalences',
                  at,
                  'comparedWith',
                  other,
                ),
              ],
        ),
        ...(sized.length === compared.length && compared.every((form) => sized.includes(form))
          ? []
          : [defect('must hold one size for each form', 'equivalences', at, 'sampleSizes')]),
      ];
    }),
    ...repeated(
      file.equivalences.map(({ form }) => form),
      (at) => ['equivalences', at, 'form'],
    ),
  ];
}

function checkAttempt(file: ReportsFile, entry: AttemptEntry, path: Path): readonly Defect[] {
  const spec = file.testSpecs.find(({ forms }) => forms.includes(entry.form));
  const administration = file.administrations.find(({ name }) => name === entry.administration);
  const found = [
    ...among(file.students, entry.student, 'student', ...path, 'student'),
    ...among(formsOf(file), entry.form, 'form', ...path, 'form'),
    ...among(file.administrations, entry.administration, 'administration', ...path, 'administration'),
  ];
  if (spec !== undefined && administration !== undefined && administration.testSpec !== spec.name)
    found.push(defect('is of another test spec than the form', ...path, 'administration'));
  const { record } = entry;
  if (!entry.settledAtStart && (record === null || record.generatedMastery !== undefined))
    found.push(defect('waits for a record that is written out here', ...path, 'settledAtStart'));
  if (spec === undefined || record === null) return found;
  const at = [...path, 'record'];
  if (entry.status !== 'scored') found.push(defect('belongs to an attempt that is scored', ...at));
  if ((record.gate !== null) !== (spec.testKind === 'mastery_gate'))
    found.push(defect('goes with a mastery gate, and with nothing else', ...at, 'gate'));
  if ((record.diagnostic !== null) !== (spec.testKind === 'adaptive_diagnostic'))
    found.push(defect('goes with an adaptive diagnostic, and with nothing else', ...at, 'diagnostic'));
  if ((record.mastery === undefined) === (record.generatedMastery === undefined))
    found.push(defect('holds exactly one of "mastery" and "generatedMastery"', ...at));
  if ((record.generatedMastery?.evidencePerRow ?? 0) > entry.items)
    found.push(defect('is more than the attempt has items', ...at, 'generatedMastery', 'evidencePerRow'));
  return [...found, ...checkMastery(file, spec.framework, entry, at)];
}

function checkMastery(
  file: ReportsFile,
  frameworkName: string,
  { items, record }: AttemptEntry,
  path: Path,
): readonly Defect[] {
  const framework = file.frameworks.find(({ name }) => name === frameworkName);
  if (framework === undefined) return [];
  const kinds = new Map(competenciesOf(framework).map(({ code, kind }) => [code, kind]));
  const rows = record?.mastery ?? [];
  return [
    ...(record?.gate?.gaps ?? []).flatMap((code, at) =>
      kinds.has(code)
        ? []
        : [defect(`"${code}" is nothing of the test spec's framework`, ...path, 'gate', 'gaps', at)],
    ),
    ...repeated(
      rows.map(({ standard, kc }) => standard ?? kc ?? ''),
      (at) => [...path, 'mastery', at],
    ),
    ...rows.flatMap((row, at) => {
      const place = [...path, 'mastery', at];
      if ((row.standard === undefined) === (row.kc === undefined))
        return [defect('names exactly one of "kc" and "standard"', ...place)];
      const [code, kind] =
        row.kc === undefined ? [row.standard ?? '', 'standard'] : [row.kc, 'knowledge_component'];
      const unknown =
        kinds.get(code) === kind ? [] : [defect(`"${code}" is none of the test spec's framework`, ...place)];
      const evidence = row.evidence.flatMap(({ item }, which) =>
        item <= items ? [] : [defect('is no item of the attempt', ...place, 'evidence', which, 'item')],
      );
      return [...unknown, ...evidence];
    }),
  ];
}

function checkHistories(file: ReportsFile): readonly Defect[] {
  return file.histories.flatMap((history, at) => [
    ...among(file.students, history.student, 'student', 'histories', at, 'student'),
    ...history.templates.flatMap((name, which) => {
      const place = ['histories', at, 'templates', which];
      const template = file.attempts.find((entry) => entry.name === name);
      if (template?.record?.generatedMastery !== undefined)
        return [defect('is too large to be copied', ...place)];
      if (template?.settledAtStart === false) return [defect('is not settled at the start', ...place)];
      return among(file.attempts, name, 'attempt', ...place);
    }),
  ]);
}

function checkFixtures({ fixtures, ...file }: ReportsFile): readonly Defect[] {
  const forms = file.testSpecs.flatMap((spec) => spec.forms);
  const analysed = file.equivalences.map(({ form }) => ({ name: form }));
  const roles: readonly [
    'attempts' | 'candidates' | 'forms',
    readonly { readonly name: string }[],
    string,
  ][] = [
    ['attempts', file.attempts, 'attempt'],
    ['candidates', file.students, 'student'],
    ['forms', analysed.filter(({ name }) => forms.includes(name)), 'form with an equivalence'],
  ];
  return roles.flatMap(([list, known, what]) =>
    Object.entries(fixtures[list]).flatMap(([role, name]) =>
      among(known, name, what, 'fixtures', list, role),
    ),
  );
}
