import { dynamo, kms } from '#shared/aws/clients.ts';
import { createDataKeyOpener } from '#shared/aws/kms.ts';
import { createKeySettings } from '#shared/aws/settings-table.ts';
import { listCandidateReports } from '#shared/contract/reports/routes.ts';
import { readEnvironment } from '#shared/http/environment.ts';
import { createReadLambda } from '#shared/http/read-lambda.ts';
import { createKeyRing } from '#shared/keys/create-key-ring.ts';
import { reportDependencies } from '../report-dependencies.ts';
import { listCandidateReportsOperation } from './operation.ts';

/** Lists the reports of a candidate: the pipeline around the operation, with the real dependencies. */
export const handler = createReadLambda(listCandidateReports, () => {
  const { STAGE, SETTINGS_TABLE } = readEnvironment(['STAGE', 'SETTINGS_TABLE']);
  const keys = createKeyRing({
    settings: createKeySettings(dynamo(), SETTINGS_TABLE),
    kms: createDataKeyOpener(kms()),
    stage: STAGE,
    purposes: ['cursor'],
    clock: Date.now,
  });
  return listCandidateReportsOperation({ ...reportDependencies(), keys });
});
