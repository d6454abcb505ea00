import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { ok } from '#shared/kernel/result.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { Platform, UpstreamCall } from '#shared/platform/platform.ts';
import { serviceOf } from './problems.ts';
import type { About, Answered, Consulted, SourceReader } from './reader.ts';

export interface SourceReaderOptions {
  readonly platform: Platform;
  /** What stands in a receipt for a time in epoch milliseconds, a new text for each. */
  readonly stamp: (observedAt: number) => string;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * Reads the owners over the platform of one request. A receipt is of the answer that its facts came from: who reads the same thing again
 * has to take its new receipt along.
 */
export function createSourceReader({ platform, stamp, now }: SourceReaderOptions): SourceReader {
  const consulted = new Map<string, Consulted>();

  function observe<T>(
    operation: UpstreamOperation,
    call: UpstreamCall<UpstreamOperation>,
    value: T,
    { etag, sha256 }: Pick<Answered<T>, 'etag' | 'sha256'>,
    { resourceId, version = etag, status = 'current' }: About,
  ): Answered<T> {
    const text = stamp(now());
    consulted.set(canonicalJson([operation.id, call.path ?? {}, call.query ?? {}]), {
      operation,
      call,
      etag,
      stamp: text,
    });
    return {
      value,
      etag,
      sha256,
      receipt: {
        service: serviceOf(operation),
        resourceId,
        observedAt: text,
        version: version ?? null,
        status,
      } satisfies SourceRef,
    };
  }

  return {
    async read(operation, call, about) {
      const answer = await platform.call(operation, call);
      if (!answer.ok) return answer;
      const { value, etag, bodyHash } = answer.value;
      return ok(observe(operation, call, value, { etag, sha256: bodyHash }, about(value)));
    },
    async revalidate(operation, call, about, known) {
      const answer = await platform.revalidate(operation, call, known);
      if (!answer.ok) return answer;
      const { value, etag, bodyHash } =
        answer.value === 'unchanged'
          ? { value: answer.value, etag: known, bodyHash: undefined }
          : answer.value;
      return ok(observe(operation, call, value, { etag, sha256: bodyHash }, about(value)));
    },
    unavailable: (operation, resourceId) => ({
      service: serviceOf(operation),
      resourceId,
      observedAt: stamp(now()),
      version: null,
      status: 'unavailable',
    }),
    consulted: () => [...consulted.values()],
  };
}
