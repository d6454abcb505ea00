import { isDeepStrictEqual } from 'node:util';
import type * as z from 'zod';
import type { Observed } from '#functions/reports/facts/facts.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { UpstreamFault } from '#shared/platform/fault.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { Platform, UpstreamAnswer, UpstreamCall } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { serviceOf, sourceProblem, unusable, type IdOrigin } from './problems.ts';

/** The members of a receipt in addition to the owner and the time. */
export interface About {
  /** The owner's own id of the source. */
  readonly resourceId: string;
  /** The owner's version, if its answers have one; the default is the ETag. */
  readonly version?: string;
  /** Default: `current`, as every answer of a standard API to this very request is. */
  readonly status?: SourceRef['status'];
}

/** Returns the receipt's members for an answer that has its owner's version, and its freshness if it can be old. */
export function versioned(
  resourceId: string,
  { version, freshness = 'current' }: { readonly version: string; readonly freshness?: SourceRef['status'] },
): About {
  return { resourceId, version, status: freshness };
}

/** Returns whether an answer is about the requested thing: it has each of these members, with this value. */
export function isAbout<Answer extends object, const Asked extends Partial<Answer>>(
  answer: Answer,
  asked: Asked,
): answer is Answer & Asked {
  return Object.entries(asked).every(([name, value]) =>
    isDeepStrictEqual(answer[name as keyof Answer], value),
  );
}

/** An owner's answer with its receipt. */
export interface Answered<T> extends Observed<T> {
  /** The entity tag as the owner sent it, if any. */
  readonly etag: string | undefined;
  /** SHA-256 hex of the answer's bytes. */
  readonly sha256: string;
}

/** The owners as one request reads them: every answer has its own receipt. */
export interface SourceReader {
  read<Operation extends UpstreamOperation>(
    operation: Operation,
    call: UpstreamCall<Operation>,
    about: (value: z.output<Operation['answer']>) => About,
  ): Promise<Result<Answered<z.output<Operation['answer']>>, UpstreamFault>>;
  /** Reads a resource known under an entity tag: the value is `'unchanged'` if the owner still has that version. */
  revalidate<Operation extends UpstreamOperation>(
    operation: Operation,
    call: UpstreamCall<Operation>,
    about: About,
    etag: string,
  ): Promise<Result<Observed<'unchanged'> | Answered<z.output<Operation['answer']>>, UpstreamFault>>;
  /** Returns the receipt of a source that could not be consulted. */
  readonly unavailable: (operation: UpstreamOperation, resourceId: string) => SourceRef;
}

/** Creates the reader over the platform of one request. @param now epoch milliseconds */
export function createSourceReader(
  platform: Pick<Platform, 'call' | 'revalidate'>,
  now: () => number,
): SourceReader {
  const receiptOf = (
    operation: UpstreamOperation,
    { resourceId, version, status = 'current' }: About,
    etag?: string,
  ): SourceRef => ({
    service: serviceOf(operation),
    resourceId,
    observedAt: formatInstant(now()),
    version: version ?? etag ?? null,
    status,
  });
  const observe = <T>(
    operation: UpstreamOperation,
    { value, etag, bodyHash }: UpstreamAnswer<T>,
    about: About,
  ): Answered<T> => ({ value, etag, sha256: bodyHash, receipt: receiptOf(operation, about, etag) });
  return {
    async read(operation, call, about) {
      const answer = await platform.call(operation, call);
      return answer.ok ? ok(observe(operation, answer.value, about(answer.value.value))) : answer;
    },
    async revalidate(operation, call, about, etag) {
      const answer = await platform.revalidate(operation, call, etag);
      if (!answer.ok) return answer;
      return answer.value === 'unchanged'
        ? ok({ value: answer.value, receipt: receiptOf(operation, about, etag) })
        : ok(observe(operation, answer.value, about));
    },
    unavailable: (operation, resourceId) => receiptOf(operation, { resourceId, status: 'unavailable' }),
  };
}

/**
 * Reads one source. Returns a problem that names the owner if there is no answer, or one to another question.
 * @param id the member of the answer that contains the owner's own id of it
 * @param asked the members that the answer must have, in addition to the ids that the platform has compared
 */
export async function readSource<Answer extends Parameters<typeof versioned>[1]>(
  reader: SourceReader,
  operation: UpstreamOperation<z.ZodType<Answer>>,
  origin: IdOrigin,
  id: keyof Answer,
  call: UpstreamCall<UpstreamOperation<z.ZodType<Answer>>>,
  asked: Partial<Answer> = {},
): Promise<Result<Answered<Answer>, Problem>> {
  const answer = await reader.read(operation, call, (value) => versioned(String(value[id]), value));
  if (!answer.ok) return err(sourceProblem(answer.error, origin));
  return isAbout<object, object>(answer.value.value, asked) ? answer : err(unusable(operation));
}
