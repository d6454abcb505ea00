import { operations } from '#shared/platform/operations.ts';
import type { OwnerRoute } from '../route.ts';
import { serveEdition } from '../serve-edition.ts';
import { cohortKey } from '../world.ts';

/** Analytics: published snapshots of cohorts, and its analyses of forms. */
export const analyticsRoutes: readonly OwnerRoute[] = [
  serveEdition(operations.readClassRollup, ({ tenant, path: { classSourcedId = '' } }) =>
    tenant.rollups.get(cohortKey({ type: 'class', classSourcedId })),
  ),
  serveEdition(operations.readSchoolGradeRollup, ({ tenant, path: { schoolSourcedId = '', grade = '' } }) =>
    tenant.rollups.get(cohortKey({ type: 'school_grade', schoolSourcedId, grade })),
  ),
  serveEdition(operations.readFormEquivalence, ({ tenant, path: { qtiTestId = '' } }) =>
    tenant.formEquivalences.get(qtiTestId),
  ),
];
