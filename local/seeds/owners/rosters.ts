import type { ReportsSeed } from '#local/platform/tenant-state.ts';
import type { Tenant } from '../tenant.ts';
import { localTenant } from '../tenants.ts';

/** OneRoster's people, classes and schools, the sittings of Administration, and the modules that take revision orders on them. */
export function rosterEntities({
  tenantId,
  file,
  ids,
  specOf,
  version,
}: Tenant): Pick<ReportsSeed, 'users' | 'classes' | 'schools' | 'administrations' | 'receivers'> {
  const receivers = (module: 'bank' | 'blueprint') =>
    file.administrations.map((entry) => ({
      administrationId: ids.administration(entry.name),
      ...entry.receivers[module],
    }));
  return {
    users: [
      ...localTenant(tenantId).students.map((sourcedId) => ({
        user: { sourcedId, status: 'active' as const },
      })),
      ...file.students.map(({ name, status }) => ({ user: { sourcedId: ids.student(name), status } })),
    ],
    classes: file.classes.map(({ name, status }) => ({ class: { sourcedId: ids.class(name), status } })),
    schools: file.schools.map(({ name, status }) => ({ org: { sourcedId: ids.school(name), status } })),
    administrations: file.administrations.map((entry) => ({
      tenantId,
      administrationId: ids.administration(entry.name),
      version: version('administration', entry),
      freshness: 'current',
      status: entry.status,
      ...specOf(entry.testSpec).ref,
      classSourcedId: entry.class === undefined ? null : ids.class(entry.class),
      schoolSourcedId: entry.school === undefined ? null : ids.school(entry.school),
    })),
    receivers: { bank: receivers('bank'), blueprint: receivers('blueprint') },
  };
}
