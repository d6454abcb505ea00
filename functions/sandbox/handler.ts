import { bufferedFunction } from '#shared/http/lambda-function.ts';
import { processSurroundings } from '#shared/http/surroundings.ts';
import { createSandbox } from './operation.ts';

export const handler = bufferedFunction(createSandbox(processSurroundings()));
