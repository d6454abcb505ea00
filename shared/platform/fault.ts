import type { UpstreamService } from './operation.ts';

/**
 * Why an upstream call gave no usable answer. The services map it to their own problems; nothing in it comes from an upstream body.
 * `not-found`: the owner answered 404. `conflict`: 409 or 412. `rejected`: any other final 4xx. `unavailable`: no answer, 408, 425,
 * 429, 5xx, a cut or late answer. `malformed`: an answer that is not what the owner promises. `wrong-tenant`: a well-formed answer about another tenant.
 */
export interface UpstreamFault {
  readonly kind: 'unavailable' | 'not-found' | 'conflict' | 'rejected' | 'malformed' | 'wrong-tenant';
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

/**
 * Refusals by which an owner says of an id that there is nothing under it: gone, or no id of its kind at all. A 403 is not among them: it
 * refuses our credential or permission, and says nothing of the id. An owner answers 404 for an id of another tenant.
 */
const HIDING: ReadonlySet<number | undefined> = new Set([400, 410, 414, 422, 431]);

/** Whether the owner shows nothing under the id of the call: it is absent there, or not to be told from an absent one. */
export function hidesId({ kind, status }: UpstreamFault): boolean {
  return kind === 'not-found' || (kind === 'rejected' && HIDING.has(status));
}

/** Whether the owner says that it holds nothing under the id of the call. */
export function isGone({ kind, status }: UpstreamFault): boolean {
  return kind === 'not-found' || status === 410;
}

/** We pass an owner's wish to wait on, but none beyond an hour. */
const MAX_RETRY_AFTER = 3_600;

/** How long a caller is to wait where the owner asked for it, 1-3600 seconds: a member for a problem. */
export function waitOf({ retryAfterSeconds }: UpstreamFault): { readonly retryAfterSeconds?: number } {
  if (retryAfterSeconds === undefined) return {};
  return { retryAfterSeconds: Math.min(Math.max(retryAfterSeconds, 1), MAX_RETRY_AFTER) };
}
