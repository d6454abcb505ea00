import { listCandidateReports } from '#shared/contract/reports/routes/list-candidate-reports.ts';
import { openKeyRing } from '#shared/lambda/open-key-ring.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createReadLambda } from '#shared/lambda/read-lambda.ts';
import { startFunction } from '#shared/lambda/start-function.ts';
import { reportDependencies } from '../support/dependencies.ts';
import { listCandidateReportsOperation } from './operation.ts';

/** Lists the reports of a candidate: the pipeline around the operation, bound to a runtime. */
export const bind = createReadLambda(listCandidateReports, (runtime) =>
  listCandidateReportsOperation({ ...reportDependencies(runtime), keys: openKeyRing(runtime, ['cursor']) }),
);

export const handler = await startFunction(bind, processRuntime());
