import type * as z from 'zod';
import type { Provable } from '#shared/contract/gates.ts';
import type { Route } from '#shared/contract/route.ts';
import type { Control } from '#shared/idempotency/control-record.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Log } from '#shared/observability/logger.ts';
import type { Problem } from '#shared/problems/problem.ts';

/** The caller, from verified claims only. */
export interface Principal {
  readonly tenantId: string;
  readonly sub: string;
  readonly role: string;
  readonly scopes: readonly string[];
  /** Resource claims of the reports service; an absent claim permits no access. */
  readonly studentIds: readonly string[];
  readonly classSourcedIds: readonly string[];
  readonly schoolSourcedIds: readonly string[];
  readonly administrationIds: readonly string[];
}

/** What the pipeline hands to an endpoint: everything is checked, nothing is raw. */
export interface OperationRequest<R extends Route = Route> {
  /** Made by the server, never by the caller: in every response and every log line. */
  readonly requestId: string;
  /** The caller's W3C trace id if it sent one, else a new one. Only in responses, never in a log line. */
  readonly traceId: string;
  /** Base of the `type` URIs of problems inside a response. */
  readonly problemsUrl: string;
  readonly principal: Principal;
  readonly path: z.output<R['request']['path']>;
  readonly query: z.output<R['request']['query']>;
  readonly body: R['request']['body'] extends z.ZodType ? z.output<R['request']['body']> : undefined;
  readonly ifMatch: string | undefined;
  /** What the release proves at this request; nothing on a route without gates. */
  readonly proved: ReadonlySet<Provable>;
  /** Epoch milliseconds at which the request arrived. */
  readonly receivedAt: number;
  /** Epoch milliseconds by which the response must be composed: the Lambda's remaining time less 1.5 s. */
  readonly deadline: number;
  /** One structured line; `code` is a row of the log-code registry, fields are named one by one. */
  readonly log: Log;
  /**
   * Begins the work: writes (or finds) the idempotency record, then runs `work`. A repeated request with the same hash waits within its own deadline
   * for the one in flight and then composes the response again. `work` must derive the names of what it writes upstream only from `control` or from
   * the content: then two runs of it, in sequence or concurrently, leave the same as one. Call it once per request, only on routes with an
   * Idempotency-Key.
   */
  readonly idempotent: <T>(
    work: (control: Control) => Promise<Result<T, Problem>>,
  ) => Promise<Result<T, Problem>>;
}

export interface OperationAnswer<R extends Route = Route> {
  /** Checked by the pipeline. */
  readonly body: z.input<R['success']['schema']>;
  readonly headers?: Readonly<Partial<Record<R['success']['headers'][number], string>>>;
}

/** An endpoint: a function of a checked request. Dependencies are bound by the file that exports the Lambda. */
export type Operation<R extends Route = Route> = (
  request: OperationRequest<R>,
) => Promise<Result<OperationAnswer<R>, Problem>>;
