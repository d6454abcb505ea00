import type { UpstreamService } from './operation.ts';
import type { FaultKind } from './verdicts.ts';

/** A call without a usable answer. The services map it to their own problems; nothing in it comes from an upstream body. */
export interface UpstreamFault {
  readonly kind: FaultKind;
  readonly service: UpstreamService;
  readonly operation: string;
  /** HTTP status of the last answer, if there was one. */
  readonly status?: number | undefined;
  /** The owner's own request id, if it gave one in the agreed form. */
  readonly upstreamRequestId?: string | undefined;
  /** How long the owner asks to wait, if it said so. */
  readonly retryAfterSeconds?: number | undefined;
  /** Whether the same call may succeed later without any change. */
  readonly transient: boolean;
}

/** The kind of a status that is no success of its row. */
export function faultKindOf(status: number): FaultKind {
  if (status === 401) return 'unauthorized';
  if (status === 403) return 'forbidden';
  if (status === 404 || status === 410) return 'not-found';
  if (status === 409 || status === 412) return 'conflict';
  if ([400, 414, 422, 431].includes(status)) return 'refused-id';
  if (status === 408 || status === 425 || status === 429 || status >= 500) return 'unavailable';
  // A redirect, or a success that the row does not know, is not what the owner promises.
  return status >= 400 ? 'rejected' : 'malformed';
}

/** We pass an owner's wish to wait on, but none beyond an hour. */
const MAX_RETRY_AFTER = 3_600;

/** How long a caller is to wait where the owner asked for it, 1-3600 seconds: a member for a problem. */
export function waitOf(retryAfterSeconds: number | undefined): { readonly retryAfterSeconds?: number } {
  if (retryAfterSeconds === undefined) return {};
  return { retryAfterSeconds: Math.min(Math.max(retryAfterSeconds, 1), MAX_RETRY_AFTER) };
}
