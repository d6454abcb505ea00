import type * as z from 'zod';
import { err } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { UpstreamCall } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { sourceProblem, unusable } from './problems.ts';
import type { IdOrigin } from './problems.ts';
import type { About, Answered, SourceReader } from './reader.ts';

/** What a read expects of its answer. */
export interface Expectation<T> {
  readonly origin: IdOrigin;
  /** Whether the answer is about what was asked, as far as it says so. */
  readonly isAsked: (value: T) => boolean;
  readonly about: (value: T) => About;
}

/** Reads one source: whatever is no answer to what was asked is the problem that names its owner. */
export async function readSource<Operation extends UpstreamOperation>(
  reader: SourceReader,
  operation: Operation,
  call: UpstreamCall<Operation>,
  { origin, isAsked, about }: Expectation<z.output<Operation['answer']>>,
): Promise<Result<Answered<z.output<Operation['answer']>>, Problem>> {
  const answer = await reader.read(operation, call, about);
  if (!answer.ok) return err(sourceProblem(answer.error, origin));
  return isAsked(answer.value.value) ? answer : err(unusable(operation));
}
