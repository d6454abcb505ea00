import * as z from 'zod';
import type { Filters } from './filters.ts';
import type { FinerReceipt, Gate } from './gates.ts';
import type { Grant } from './grants.ts';
import type { ProblemKey } from './problems.ts';

/** Every service with an API of its own. */
export const serviceNames = ['mastery', 'reports'] as const;
export type ServiceName = (typeof serviceNames)[number];
export type Scope = 'mastery:run' | 'mastery:read' | 'mastery:simulate' | 'reports:read' | 'reports:write';

/** How a success body leaves its function: as one text, or in pieces. */
export type Transfer = 'buffered' | 'stream';

/**
 * One route, declared once. Stacks, pipeline, local gateway, OpenAPI and the test matrix read this row.
 * @see docs/architecture.md for who reads what.
 */
export interface Route<
  Path extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  Success extends z.ZodType = z.ZodType,
  Query extends z.ZodObject = z.ZodObject,
  Filtered extends Filters = Filters,
> {
  readonly service: ServiceName;
  readonly operationId: string;
  readonly method: 'GET' | 'POST';
  /** Template below the service's base URL, `/v1/…`; `{name}` is one segment. */
  readonly path: `/v1/${string}`;
  readonly summary: string;
  readonly description: string;
  readonly scope: Scope;
  /** All of these must be open; empty for the mastery engine. */
  readonly gates: readonly Gate[];
  /** Receipts beyond those of the gates that the route waits for. */
  readonly receipts?: readonly FinerReceipt[];
  /** The Lambda entry, a path from the project's root. */
  readonly handler: `functions/${string}/handler.ts`;
  readonly request: {
    /** Decoded path parameters. */
    readonly path: Path;
    /** Every known query parameter; any other is rejected. */
    readonly query: Query;
    /** Which query parameters select the rows of a list. Made together with `query` by `filteredQuery`. */
    readonly filters: Filtered;
    /** Undefined: the route takes no body. */
    readonly body: Body;
    readonly maxBodyBytes: number;
    /** A limit of a body that has a problem of its own, which precedes any other defect of the body. */
    readonly limit?: {
      /** Key of the problem registry. */
      readonly problem: '413 simulation-limit-exceeded';
      /** @param body the JSON value as it was sent */
      readonly exceededBy: (body: unknown) => boolean;
    };
    readonly idempotencyKey: boolean;
    readonly ifMatch: boolean;
  };
  readonly success: {
    readonly status: 200 | 201;
    readonly schema: Success;
    /** `stream`: a body that can outgrow the 6 MB of a Lambda answer. It is written in pieces, and compressed for callers that accept it. */
    readonly transfer: Transfer;
    /** Response headers in addition to those that every response has. */
    readonly headers: readonly (
      | 'ETag'
      | 'Retry-After'
      | 'Deprecation'
      | 'Sunset'
      | 'Link'
      | 'Idempotent-Replayed'
    )[];
    readonly example: z.input<Success>;
  };
  readonly requestExample?: Body extends z.ZodType ? z.input<Body> : never;
  /** Keys of the problem registry that this route may return, in addition to those that every route may. */
  readonly problems: readonly ProblemKey[];
  /**
   * The most upstream calls that one request makes, not counting one per in-scope knowledge component, and the most of them that wait for one
   * another. This chain, at 400 ms per call, has to fit into the function's time.
   */
  readonly budget: { readonly calls: number; readonly depth: number };
  /** Learners wait for its responses: a stage's canary step applies to it. */
  readonly learnersWait?: true;
  readonly lambda: {
    readonly memoryMb: number;
    readonly timeoutSeconds: number;
    readonly grants: readonly Grant[];
    /** The impact of a failure of this function, as its alarm states it. */
    readonly impact: string;
  };
}

/** A row as it is written, without the values that nearly all rows have. */
type Stated<R extends Route> = Omit<
  R,
  'gates' | 'handler' | 'request' | 'success' | 'problems' | 'lambda'
> & {
  /** Default: none. */
  readonly gates?: R['gates'];
  /** Default: neither parameter nor body; a body of 256 KiB; a key with every POST; no precondition. */
  readonly request: Partial<R['request']>;
  /** Default: the handler in the operation's folder among the endpoints of its service. */
  readonly handler?: R['handler'];
  /** Default: a buffered 200 without further headers. */
  readonly success: Pick<R['success'], 'schema' | 'example'> & Partial<R['success']>;
  /** Default: the time for which the gateway waits, 29 seconds. */
  readonly lambda: Omit<R['lambda'], 'timeoutSeconds'> & Partial<R['lambda']>;
};

const noParameters = z.strictObject({});

/** Completes a row, keeps its exact schema types, and checks that its problems are of its own service. */
export function defineRoute<
  Service extends ServiceName,
  Success extends z.ZodType,
  Path extends z.ZodObject = typeof noParameters,
  Body extends z.ZodType | undefined = undefined,
  Query extends z.ZodObject = typeof noParameters,
  Filtered extends Filters = Filters,
  const Template extends Route['path'] = Route['path'],
>(
  row: Stated<Route<Path, Body, Success, Query, Filtered>> & {
    readonly service: Service;
    readonly path: Template;
    /** Default: none. */
    readonly problems?: readonly ProblemKey<Service>[];
  },
): Route<Path, Body, Success, Query, Filtered> & { readonly path: Template } {
  const folder = row.operationId.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const request = {
    path: noParameters,
    query: noParameters,
    filters: {},
    body: undefined,
    maxBodyBytes: row.request.body === undefined ? 0 : 256 * 1024,
    idempotencyKey: row.method === 'POST',
    ifMatch: false,
    ...row.request,
  };
  return {
    gates: [],
    problems: [],
    handler: `functions/${row.service}/endpoints/${folder}/handler.ts`,
    ...row,
    // SAFETY: a member that the row leaves out has the type of its default.
    request: request as Route<Path, Body, Success, Query, Filtered>['request'],
    success: { status: 200, transfer: 'buffered', headers: [], ...row.success },
    lambda: { timeoutSeconds: 29, ...row.lambda },
  };
}
