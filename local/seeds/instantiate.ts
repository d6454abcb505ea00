import type { TenantSeed } from '#local/platform/tenant-state.ts';
import type { TenantFixtures } from '#shared/stage/description.ts';
import { attemptsOf } from './attempts.ts';
import { fixturesOf } from './fixtures.ts';
import { analyticsEntities } from './owners/analytics.ts';
import { bankEntities } from './owners/bank.ts';
import { caliperEntities } from './owners/caliper.ts';
import { caseEntities } from './owners/case.ts';
import { contentEntities } from './owners/content.ts';
import { qtiEntities } from './owners/qti.ts';
import { resultsEntities } from './owners/results.ts';
import { rosterEntities } from './owners/rosters.ts';
import { recordsOf, type SeedRecords } from './records.ts';
import type { Seed } from './seed.ts';
import { openTenant } from './tenant.ts';
import { localTenant } from './tenants.ts';

/** One tenant's share of a seed. */
export interface SeededTenant extends SeedRecords {
  readonly tenantId: string;
  /** What the platform's owners hold. */
  readonly platform: TenantSeed;
  readonly fixtures: TenantFixtures;
  /** Item names of the seed by artifact version id, to look up a learner's answer to an offered item. */
  readonly itemNames: Readonly<Record<string, string>>;
}

/**
 * Gives a seed the ids of one tenant, and each owner its entities. The same seed and tenant give the same result; no id of one tenant
 * occurs in another. Ids of immutable versions follow from the content too: an edited file is another version, never the old one with
 * other content.
 */
export function instantiateSeed(seed: Seed, tenantId: string): SeededTenant {
  const tenant = openTenant(seed, tenantId);
  const { file, ids, banks } = tenant;
  const records = recordsOf(tenant);
  const attempts = attemptsOf(tenant);
  const { blueprints, bankMembers, ...content } = contentEntities(tenant);
  const { artifacts, ...qti } = qtiEntities(tenant, attempts);
  const { caseItems, ...framework } = caseEntities(tenant);
  const results = resultsEntities(tenant, attempts);
  const caliper = caliperEntities(tenant, attempts);
  const analytics = analyticsEntities(tenant);
  const { credentials, students } = localTenant(tenantId);
  return {
    tenantId,
    ...records,
    platform: {
      tenantId,
      credentials,
      students: [...students, ...file.students.map(({ name }) => ids.student(name))],
      blueprints,
      bankMembers,
      artifacts,
      caseItems,
      ...bankEntities(tenant),
      reports: {
        ...rosterEntities(tenant),
        ...content,
        ...qti,
        ...framework,
        ...results,
        ...analytics,
        generated: {
          ...content.generated,
          ...qti.generated,
          ...framework.generated,
          ...results.generated,
          ...caliper.generated,
          ...analytics.generated,
        },
        engine: {
          classSourcedId: file.runClass === null ? null : ids.class(file.runClass),
          policies: new Map(records.policies.map(({ document }) => [document.id, document])),
        },
      },
    },
    fixtures: fixturesOf(tenant, records),
    itemNames: Object.fromEntries(
      banks.flatMap(({ members }) =>
        members.map(({ item, member }) => [member.artifactVersionId, item.name]),
      ),
    ),
  };
}
