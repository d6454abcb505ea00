import type { BankFixture, TenantFixtures } from '#shared/stage/description.ts';
import { type ReportsFile, sourceNamesOf } from './reports-file.ts';
import type { SeedRecords } from './records.ts';
import { defined, type Tenant } from './tenant.ts';
import { localTenant } from './tenants.ts';

/** Returns what `.local/stack.json` names for one tenant. */
export function fixturesOf(tenant: Tenant, records: SeedRecords): TenantFixtures {
  const resultsStudentId = defined(localTenant(tenant.tenantId).students[0]);
  return {
    mastery: { resultsStudentId, banks: bankFixtures(tenant, records) },
    reports: reportsFixtures(tenant, records, resultsStudentId),
  };
}

function bankFixtures({ seed, banks }: Tenant, { policies, calibrations }: SeedRecords): BankFixture[] {
  return seed.banks.map(({ name, directory, bank }, at) => {
    const folder = banks.findIndex((one) => one.directory === directory);
    const { spec, testBankId, operationId, ids } = defined(banks[folder]);
    return {
      name,
      testSpecId: spec.ref.contentTestSpecId,
      testBankId,
      bankOperationId: operationId,
      selectionPolicyId: defined(policies[at]).document.id,
      scaleCalibrationId: defined(calibrations[folder]).document.id,
      items: bank.items.length,
      kcs: bank.kcs.length,
      kcGuids: bank.kcs.map((kc) => ids.kc(kc.name)),
    };
  });
}

function reportsFixtures(
  { file, ids, specOf }: Tenant,
  { analysisPolicy }: SeedRecords,
  resultsStudentId: string,
): TenantFixtures['reports'] {
  const { attempts, candidates, forms, administrations } = file.fixtures;
  const entries = new Map(file.attempts.map((entry) => [entry.name, entry]));
  const isAnalyzed = new Set(administrations);
  const hasRole = new Set(Object.values(attempts));
  const deleted = file.students.filter(({ status }) => status === 'tobedeleted').map(({ name }) => name);
  const students = [
    ...file.attempts.map(({ student }) => student).filter((name) => !deleted.includes(name)),
    ...Object.values(candidates),
  ];
  const classes = casesOf(file.classes.map((entry) => ({ ...entry, id: ids.class(entry.name) })));
  const schools = casesOf(
    file.schools.flatMap(({ name, status, grades }) =>
      grades.map(({ grade, rollup }) => ({
        rollup,
        status,
        id: { schoolSourcedId: ids.school(name), grade },
      })),
    ),
  );
  const first = file.administrations.find(({ name }) => name === administrations[0]);
  return {
    attempts: renamed(attempts, ids.attempt),
    administrationOf: renamed(attempts, (name) =>
      ids.administration(defined(entries.get(name)).administration),
    ),
    candidates: renamed(candidates, ids.student),
    students: [...new Set([...students.map(ids.student), resultsStudentId])],
    classes: classes.shown,
    schools: schools.shown,
    forms: renamed(forms, ids.form),
    administrations: administrations.map(ids.administration),
    sourceKeys: first === undefined ? [] : sourceNamesOf(specOf(first.testSpec).entry).map(ids.sourceKey),
    special: {
      administrations: Object.fromEntries(
        file.administrations
          .filter(({ name }) => !isAnalyzed.has(name))
          .map(({ name }) => [name, ids.administration(name)]),
      ),
      attempts: Object.fromEntries(
        file.attempts.filter(({ name }) => !hasRole.has(name)).map(({ name }) => [name, ids.attempt(name)]),
      ),
      classesWithoutRollup: classes.withoutRollup,
      classesWithheld: classes.withheld,
      classesDeleted: classes.deleted,
      schoolsWithoutRollup: schools.withoutRollup,
      schoolsWithheld: schools.withheld,
      studentsDeleted: deleted.map(ids.student),
    },
    analysisPolicyId: analysisPolicy.document.id,
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

/** Returns which cohorts can be shown, and why the others cannot. */
function casesOf<Id>(cohorts: readonly Cohort<Id>[]) {
  const idsOf = (isSuch: (cohort: Cohort<Id>) => boolean): readonly Id[] =>
    cohorts.filter(isSuch).map(({ id }) => id);
  const shown = (isOpen: boolean) =>
    idsOf(
      ({ status, rollup }) =>
        status === 'active' &&
        rollup?.freshness === 'current' &&
        rollup.populationCount !== null &&
        (rollup.suppression === 'not_suppressed') === isOpen,
    );
  return {
    shown: [...shown(true), ...shown(false)],
    withoutRollup: idsOf(({ status, rollup }) => status === 'active' && rollup === undefined),
    withheld: idsOf(({ status, rollup }) => status === 'active' && rollup?.populationCount === null),
    deleted: idsOf(({ status }) => status === 'tobedeleted'),
  };
}
