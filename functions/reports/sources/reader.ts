import type * as z from 'zod';
import type { Observed } from '#functions/reports/facts/facts.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { UpstreamFault } from '#shared/platform/fault.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { UpstreamCall } from '#shared/platform/platform.ts';

/** What a receipt says of an answer that the answer's address does not. */
export interface About {
  /** The owner's own id of what was read. */
  readonly resourceId: string;
  /** The owner's version, where its answers carry one; else the ETag stands for it. */
  readonly version?: string;
  /** Default: `current`, as every answer of a standard API to this very request is. */
  readonly status?: SourceRef['status'];
}

/** One source that a composition has read, with what a later request needs to confirm it. */
export interface Consulted {
  readonly operation: UpstreamOperation;
  readonly call: UpstreamCall<UpstreamOperation>;
  /** As the owner sent it; undefined when it sent none. */
  readonly etag: string | undefined;
  /** Stands in the receipt for the time of the observation, until the answer is written. */
  readonly stamp: string;
}

/** What an owner has answered, under the entity tag that it sent, if any. */
export interface Answered<T> extends Observed<T> {
  readonly etag: string | undefined;
  /** SHA-256 hex of the answer's bytes; undefined when the owner has only confirmed a version that was known before. */
  readonly sha256: string | undefined;
}

/** The owners as one request reads them: every answer comes with its receipt, and is remembered for the response cache. */
export interface SourceReader {
  read<Operation extends UpstreamOperation>(
    operation: Operation,
    call: UpstreamCall<Operation>,
    about: (value: z.output<Operation['answer']>) => About,
  ): Promise<Result<Answered<z.output<Operation['answer']>>, UpstreamFault>>;
  /** As `read`, of what an earlier request knows under an entity tag: `'unchanged'` when the owner still holds that version. */
  revalidate<Operation extends UpstreamOperation>(
    operation: Operation,
    call: UpstreamCall<Operation>,
    about: (value: 'unchanged' | z.output<Operation['answer']>) => About,
    etag: string,
  ): Promise<Result<Answered<'unchanged' | z.output<Operation['answer']>>, UpstreamFault>>;
  /** The receipt of a source that could not be consulted just now. */
  readonly unavailable: (operation: UpstreamOperation, resourceId: string) => SourceRef;
  /** Every answer so far, a repeated read in the place of the first one. */
  readonly consulted: () => readonly Consulted[];
}
