import * as operations from '#shared/platform/operations.ts';
import type { OwnerRoute } from '../route.ts';
import { serveEdition, serveImmutable } from '../serve-edition.ts';
import { cohortKey } from '../tenant-state.ts';

/** Analytics: published snapshots of cohorts, its analyses of forms, and those of administrations with their artifacts. */
export const analyticsRoutes: readonly OwnerRoute[] = [
  serveEdition(
    operations.readClassRollup,
    ['/scope/classSourcedId'],
    ({ tenant, path: { classSourcedId = '' } }) =>
      tenant.rollups.get(cohortKey({ type: 'class', classSourcedId })),
  ),
  serveEdition(
    operations.readSchoolGradeRollup,
    ['/scope/schoolSourcedId'],
    ({ tenant, path: { schoolSourcedId = '', grade = '' } }) =>
      tenant.rollups.get(cohortKey({ type: 'school_grade', schoolSourcedId, grade })),
  ),
  serveEdition(
    operations.readFormEquivalence,
    ['/qtiTestId', '/contentTestSpecId'],
    ({ tenant, path: { qtiTestId = '' } }) => tenant.formEquivalences.get(qtiTestId),
  ),
  serveEdition(
    operations.readAdministrationAnalysis,
    ['/administrationId', '/contentTestSpecId'],
    ({ tenant, path: { administrationId = '' } }) => tenant.analyses.get(administrationId),
  ),
  serveImmutable(
    operations.readAnalysisArtifact,
    ['/artifactRef', '/administrationId'],
    ({ tenant, path: { artifactRef = '' } }) => tenant.analysisArtifacts.get(artifactRef),
    (artifact, suffix) =>
      artifact.kind === 'metric'
        ? { ...artifact, formulaVersion: `${artifact.formulaVersion ?? ''}${suffix}` }
        : { ...artifact, analysisVersion: `${artifact.analysisVersion}${suffix}` },
  ),
];
