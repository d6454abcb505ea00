import type { ReportsFile } from './file.ts';
import { sourceNamesOf } from './improvement-entries.ts';
import type { ReportIds } from './tenant-file.ts';

type Roles = ReportsFile['fixtures'];
type SchoolGrade = { readonly schoolSourcedId: string; readonly grade: string };

/** Ids to call the routes of the reports service with. */
export type ReportsFixtures = {
  readonly attempts: Readonly<Record<keyof Roles['attempts'], string>>;
  /** The administration of each of these, which a report shows and materializing it asks for. */
  readonly administrationOf: Readonly<Record<keyof Roles['attempts'], string>>;
  readonly candidates: Readonly<Record<keyof Roles['candidates'], string>>;
  /** Every active candidate of an attempt, special ones included, the two candidates, and the learner of the mastery engine's runs. */
  readonly students: readonly string[];
  /** Those with a rollup that can be shown, the ones that are not suppressed first. */
  readonly classes: readonly string[];
  readonly schools: readonly SchoolGrade[];
  readonly forms: Readonly<Record<keyof Roles['forms'], string>>;
  /** Those that can be analyzed. */
  readonly administrations: readonly string[];
  /** The named sources of the first one's run, in Content's order. */
  readonly sourceKeys: readonly string[];
  /** What answers otherwise, and attempts that have no role above. */
  readonly special: {
    /** All others, by the names of `reports.json`. */
    readonly administrations: Readonly<Record<string, string>>;
    /** By the names of `reports.json`. */
    readonly attempts: Readonly<Record<string, string>>;
    readonly classesWithoutRollup: readonly string[];
    /** Whose rollup withholds its count. */
    readonly classesWithheld: readonly string[];
    readonly classesDeleted: readonly string[];
    readonly schoolsWithoutRollup: readonly SchoolGrade[];
    readonly schoolsWithheld: readonly SchoolGrade[];
    readonly studentsDeleted: readonly string[];
  };
};

export function reportsFixtures(
  file: ReportsFile,
  ids: ReportIds,
  resultsStudentId: string,
): ReportsFixtures {
  const { attempts, candidates, forms } = file.fixtures;
  const inRoles = file.attempts.filter(({ name }) => Object.values(attempts).includes(name));
  const classes = file.classes.map((entry) => ({ ...entry, id: ids.class(entry.name) }));
  const schools = file.schools.flatMap((school) =>
    school.grades.map(({ grade, rollup }) => ({
      rollup,
      status: school.status,
      id: { schoolSourcedId: ids.school(school.name), grade },
    })),
  );
  const deleted = file.students.filter(({ status }) => status === 'tobedeleted').map(({ name }) => name);
  const students = [
    ...file.attempts.map(({ student }) => student).filter((name) => !deleted.includes(name)),
    ...Object.values(candidates),
  ];
  const classCases = casesOf(classes);
  const [first] = file.fixtures.administrations;
  const specOfFirst = file.administrations.find(({ name }) => name === first)?.testSpec;
  const analyzed = file.testSpecs.find(({ name }) => name === specOfFirst);
  const schoolCases = casesOf(schools);
  return {
    attempts: renamed(attempts, ids.attempt),
    administrationOf: renamed(attempts, (name) =>
      ids.administration(file.attempts.find((entry) => entry.name === name)?.administration ?? ''),
    ),
    candidates: renamed(candidates, ids.student),
    students: [...new Set([...students.map(ids.student), resultsStudentId])],
    classes: classCases.shown,
    schools: schoolCases.shown,
    forms: renamed(forms, ids.form),
    administrations: file.fixtures.administrations.map(ids.administration),
    sourceKeys: sourceNamesOf(analyzed?.alignment).map(ids.sourceKey),
    special: {
      administrations: Object.fromEntries(
        file.administrations
          .filter(({ name }) => !file.fixtures.administrations.includes(name))
          .map(({ name }) => [name, ids.administration(name)]),
      ),
      attempts: Object.fromEntries(
        file.attempts
          .filter((entry) => !inRoles.includes(entry))
          .map(({ name }) => [name, ids.attempt(name)]),
      ),
      classesWithoutRollup: classCases.withoutRollup,
      classesWithheld: classCases.withheld,
      classesDeleted: classCases.deleted,
      schoolsWithoutRollup: schoolCases.withoutRollup,
      schoolsWithheld: schoolCases.withheld,
      studentsDeleted: deleted.map(ids.student),
    },
  };
}

function renamed<Role extends string>(
  roles: Readonly<Record<Role, string>>,
  idOf: (name: string) => string,
): Record<Role, string> {
  // SAFETY: the same members with other values.
  return Object.fromEntries(
    Object.entries<string>(roles).map(([role, name]) => [role, idOf(name)]),
  ) as Record<Role, string>;
}

interface Cohort<Id> {
  readonly id: Id;
  readonly status: 'active' | 'tobedeleted';
  readonly rollup?: ReportsFile['classes'][number]['rollup'];
}

/** Which cohorts can be shown, and why the others cannot. */
function casesOf<Id>(cohorts: readonly Cohort<Id>[]) {
  const idsOf = (some: readonly Cohort<Id>[]): readonly Id[] => some.map(({ id }) => id);
  const active = cohorts.filter(({ status }) => status === 'active');
  const shown = active.filter(
    ({ rollup }) => rollup?.freshness === 'current' && rollup.populationCount !== null,
  );
  const isOpen = ({ rollup }: Cohort<Id>): boolean => rollup?.suppression === 'not_suppressed';
  return {
    shown: idsOf([...shown.filter(isOpen), ...shown.filter((cohort) => !isOpen(cohort))]),
    withoutRollup: idsOf(active.filter(({ rollup }) => rollup === undefined)),
    withheld: idsOf(active.filter(({ rollup }) => rollup?.populationCount === null)),
    deleted: idsOf(cohorts.filter(({ status }) => status === 'tobedeleted')),
  };
}
