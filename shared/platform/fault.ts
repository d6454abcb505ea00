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
  readonly status?: number;
  /** The owner's own request id, if it gave one in the agreed form. */
  readonly upstreamRequestId?: string;
  /** How long the owner asks to wait, if it said so. */
  readonly retryAfterSeconds?: number;
  /** Whether the same call may succeed later without any change. */
  readonly transient: boolean;
}
