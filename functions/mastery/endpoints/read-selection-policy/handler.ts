import { readSelectionPolicy } from '#shared/contract/mastery/routes.ts';
import { createReadLambda } from '#shared/http/read-lambda.ts';
import { recordDependencies } from '../record-dependencies.ts';
import { readSelectionPolicyOperation } from './operation.ts';

/** Reads a selection policy: the pipeline around the operation, with the real dependencies. */
export const handler = createReadLambda(readSelectionPolicy, () =>
  readSelectionPolicyOperation(recordDependencies()),
);
