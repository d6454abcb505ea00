import { openKeyRing } from '#shared/stores/open-key-ring.ts';
import { listCandidateReports } from '#shared/contract/reports/routes.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { createReadLambda } from '#shared/http/read-lambda.ts';
import { reportDependencies } from '../report-dependencies.ts';
import { listCandidateReportsOperation } from './operation.ts';

/** Lists the reports of a candidate: the pipeline around the operation, with the real dependencies. */
export const handler = createReadLambda(listCandidateReports, () => {
  const { STAGE, SETTINGS_TABLE } = readEnvironment(['STAGE', 'SETTINGS_TABLE']);
  const keys = openKeyRing(STAGE, SETTINGS_TABLE, ['cursor'], Date.now);
  return listCandidateReportsOperation({ ...reportDependencies(), keys });
});
