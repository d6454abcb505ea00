/** Adds a call of an owner to the trace of the invocation in progress. Times are epoch milliseconds. */
export type SendSegment = (call: {
  /** The owner. */
  readonly name: string;
  readonly operation: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly failed: boolean;
}) => void;
