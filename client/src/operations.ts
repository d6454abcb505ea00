/** A value of a response that a later version adds to the listed ones. Treat it as unknown; do not fail. */
// `string & {}` keeps the listed values in an editor's suggestions; plain `string` would absorb them.
export type OtherValue = string & {};

/** How an operation is sent. */
export interface Operation {
  readonly method: 'GET' | 'POST';
  /** Template below the base URL; `{name}` is one segment. */
  readonly path: string;
  /** The scope that the token needs; absent if the operation checks no token. */
  readonly scope?: string;
  /** Names of the query parameters. */
  readonly query: readonly string[];
  /** Whether the members of the input that are not parameters form a JSON body. */
  readonly hasBody: boolean;
  /** Whether every success has an `ETag`. */
  readonly hasEtag: boolean;
  /** Whether it takes an `Idempotency-Key`. */
  readonly idempotencyKey: boolean;
  /** Name of the method that iterates over its rows, for lists. */
  readonly iterate?: string;
}

export type OperationTable = Readonly<Record<string, Operation>>;

/** The options of one call. */
export interface RequestOptions {
  /** Ends the call, its retries and its waiting. The promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The key of a write, 1-255 visible ASCII characters. Default: a random UUID. To repeat the write after a restart, store your own key before the
   * call.
   */
  readonly idempotencyKey?: string | undefined;
  /** A token only for this call, instead of the client's. */
  readonly token?: string | undefined;
  /** W3C trace context of the caller. */
  readonly traceparent?: string | undefined;
  /** The most retries of the request. Default: the client's. */
  readonly maxRetries?: number | undefined;
  /** Milliseconds that one try may take. Default: the client's. */
  readonly timeout?: number | undefined;
}

/** A successful response. */
export interface Reply<Data, Etag extends string | undefined = string | undefined> {
  readonly data: Data;
  readonly status: number;
  readonly headers: Headers;
  /** Strong entity tag, if the operation has one: `advanceAdaptiveRun` takes it as `ifMatch`. */
  readonly etag: Etag;
  /** The server's id of the request, for support. */
  readonly requestId: string | undefined;
  /** Seconds to wait before the next request about the same resource, if the service asks for it. */
  readonly retryAfter: number | undefined;
  /** Whether an earlier request with the same key had already succeeded. */
  readonly replayed: boolean;
  /** The key of the request. */
  readonly idempotencyKey: string | undefined;
}

/** Sends one operation. Path, query and body members are members of the one input object. */
export type Method<Input, Data, Etag extends string | undefined> = (
  input: Input,
  options?: RequestOptions,
) => Promise<Reply<Data, Etag>>;

/** Iterates over the rows of a list, page after page. */
export type Iterate<Input, Row> = (
  input: Input,
  options?: RequestOptions,
) => AsyncGenerator<Row, void, undefined>;
