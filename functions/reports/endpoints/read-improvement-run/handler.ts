import { readImprovementRun } from '#shared/contract/reports/routes.ts';
import { createReadLambda } from '#shared/http/read-lambda.ts';
import { improvementDependencies, linkDependencies } from '../improvement-dependencies.ts';
import { readImprovementRunOperation } from './operation.ts';

/** Reads an improvement run: the pipeline around the operation, with the real dependencies. */
export const handler = createReadLambda(readImprovementRun, () =>
  readImprovementRunOperation({ ...improvementDependencies(), ...linkDependencies() }),
);
