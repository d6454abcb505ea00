import type { UpstreamService } from '#shared/contract/owners.ts';
import type { FaultKind } from './verdicts.ts';

/** A call without a usable answer. The services map it to their own problems; no member comes from an upstream body. */
export interface UpstreamFault {
  readonly kind: FaultKind;
  readonly service: UpstreamService;
  readonly operation: string;
  /** The HTTP status of the last answer, if there was one. */
  readonly status?: number | undefined;
  /** The owner's own request id, if it sent one in the agreed form. */
  readonly upstreamRequestId?: string | undefined;
  /** How long the owner asks to wait, if it does. */
  readonly retryAfterSeconds?: number | undefined;
  /** Whether the same call may succeed later. */
  readonly transient: boolean;
}

/** Returns the kind of a status that is no success of its row. */
export function faultKindOf(status: number): FaultKind {
  if (status === 401) return 'unauthorized';
  if (status === 403) return 'forbidden';
  if (status === 404 || status === 410) return 'not-found';
  if (status === 409 || status === 412) return 'conflict';
  if ([400, 414, 422, 431].includes(status)) return 'refused-id';
  if (status === 408 || status === 425 || status === 429 || status >= 500) return 'unavailable';
  // The owner promises neither a redirect nor another success.
  return status >= 400 ? 'rejected' : 'malformed';
}

/** The longest wait that the service passes on: one hour. */
const MAX_RETRY_AFTER = 3_600;

/** Returns the member of a problem for how long a caller has to wait, 1-3600 seconds, if the owner asked for it. */
export function waitOf(retryAfterSeconds: number | undefined): { readonly retryAfterSeconds?: number } {
  if (retryAfterSeconds === undefined) return {};
  return { retryAfterSeconds: Math.min(Math.max(retryAfterSeconds, 1), MAX_RETRY_AFTER) };
}
