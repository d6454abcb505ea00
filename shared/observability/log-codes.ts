export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/**
 * What a field may hold. `word`: printable ASCII, at most 200 characters, and nothing that looks like a token. `words`: at
 * most 100 of them. A list of names: at most 500 flat entries with just those members, each a word, a number, a boolean or null.
 */
export type FieldKind = 'word' | 'words' | 'number' | 'boolean' | readonly string[];

export interface LogCode {
  readonly level: LogLevel;
  /** One sentence for whoever reads the line. */
  readonly meaning: string;
  readonly fields: Readonly<Record<string, FieldKind>>;
  /** Written whatever LOG_LEVEL says. */
  readonly always?: true;
}

/** A redacted trace of upstream calls, and what it stands for. */
const receiptFields = {
  receiptId: 'word',
  profile: 'word',
  hosts: 'words',
  isolationOutcome: 'word',
  isolationDigest: 'word',
  runMode: 'word',
  runtimeVersion: 'word',
  kernelHash: 'word',
  resolvedPoolHash: 'word',
  content: 'word',
  reconciledMembers: 'number',
  absentItems: 'number',
  processingTraces: 'words',
  stopCause: 'word',
  trace: [
    'operation',
    'service',
    'status',
    'outcome',
    'upstreamRequestId',
    'version',
    'responseHash',
    'startedAt',
    'endedAt',
    'attempts',
    'tenant',
    'namedTenant',
    'calls',
  ],
} as const satisfies LogCode['fields'];

const simulationFields = {
  profiles: 'number',
  replications: 'number',
  simulated: 'number',
  administeredItems: 'number',
  durationMs: 'number',
} as const satisfies LogCode['fields'];

/**
 * Every line that a function may write. A field that is not named here is not written: there is no way to log an event, a body, a token,
 * a header, a path value or an upstream payload by accident [MA-007]. `npm run docs` writes docs/log-codes.md from this.
 */
export const logCodes = {
  REQUEST_STARTED: {
    level: 'info',
    meaning: 'A request reached the function.',
    fields: { method: 'word' },
    always: true,
  },
  REQUEST_COMPLETED: {
    level: 'info',
    meaning: 'The answer to a request was handed to the gateway.',
    fields: { status: 'number', durationMs: 'number', problem: 'word' },
    always: true,
  },
  REQUEST_FAILED: {
    level: 'error',
    meaning: 'A defect or an outage of the deployment stopped a request: 500.',
    fields: { error: 'word', causes: 'words', frames: 'words' },
  },
  REQUEST_REFUSED: {
    level: 'info',
    meaning: 'The request does not match the documented shape of its operation.',
    fields: { reasons: 'words' },
  },
  TOKEN_REFUSED: {
    level: 'info',
    meaning: 'The bearer token was refused; the caller is not told why.',
    fields: { reason: 'word' },
  },
  KEY_SET_UNREACHABLE: {
    level: 'warn',
    meaning: 'The issuer’s key set could not be read; known keys serve for at most 24 hours.',
    fields: { error: 'word', knownKeysAgeSeconds: 'number' },
  },
  ENVIRONMENT_INVALID: {
    level: 'error',
    meaning: 'The function cannot start: environment variables are missing or malformed.',
    fields: { variables: 'words' },
  },
  RELEASE_WITHDRAWN: {
    level: 'info',
    meaning: 'The function waits for what is not open any more: 503, or nothing done.',
    fields: { missing: 'words' },
    always: true,
  },
  RELEASE_UNPROVED: {
    level: 'error',
    meaning: 'What is released cannot be read, or nothing proves it: whatever waits for a gate is closed.',
    fields: { reason: 'word', error: 'word' },
  },
  ANSWER_REFUSED: {
    level: 'error',
    meaning: 'The operation composed an answer that breaks its own contract; it was not sent: 500.',
    fields: { reasons: 'words' },
  },
  ANSWER_BROKEN: {
    level: 'error',
    meaning: 'A defect ended a streamed answer before its end; what the client has of it is cut off.',
    fields: { error: 'word', causes: 'words', frames: 'words' },
  },
  ANSWER_ABANDONED: {
    level: 'info',
    meaning:
      'A streamed response was cut off: the client hung up, or read too slowly for the time of the function.',
    fields: { reason: 'word' },
  },
  PROBLEM_UNDECLARED: {
    level: 'error',
    meaning: 'The operation answered a problem that its route does not declare; it was sent all the same.',
    fields: { problem: 'word' },
  },
  OPERATION_BEGUN: {
    level: 'info',
    meaning:
      'The control record of an idempotency key was created, taken over or found settled, and the work runs.',
    fields: { control: 'word', origin: 'word', waitedMs: 'number' },
  },
  OPERATION_SETTLED: {
    level: 'info',
    meaning: 'The work ended: the control record became final, or its lease was released for a retry.',
    fields: { control: 'word', state: 'word', status: 'number' },
  },
  OPERATION_UNSETTLED: {
    level: 'warn',
    meaning:
      'The control record could not be updated after the work; a retry resumes once the lease has ended.',
    fields: { control: 'word', error: 'word' },
  },
  UPSTREAM_CALL: {
    level: 'debug',
    meaning: 'An upstream call was answered.',
    fields: {
      owner: 'word',
      upstreamOperation: 'word',
      status: 'number',
      upstreamRequestId: 'word',
      durationMs: 'number',
      attempts: 'number',
    },
  },
  UPSTREAM_CALL_FAILED: {
    level: 'warn',
    meaning: 'An upstream call gave no usable answer, after its retries.',
    fields: {
      owner: 'word',
      upstreamOperation: 'word',
      status: 'number',
      upstreamRequestId: 'word',
      kind: 'word',
      transient: 'boolean',
    },
  },
  UPSTREAM_FAILED: {
    level: 'warn',
    meaning: 'A request ended because of an owner: what its problem says of it.',
    fields: { owner: 'word', upstreamOperation: 'word', upstreamRequestId: 'word', retryable: 'boolean' },
  },
  RUN_AWAITS_ANCHOR: {
    level: 'warn',
    meaning: 'A stopped run stays finalizing: nothing is published until its anchor can be verified again.',
    fields: { stopReason: 'word' },
  },
  RUN_RECEIPT: {
    level: 'info',
    meaning: 'The redacted trace of a run’s step; its content address is the receiptId of the answer.',
    fields: receiptFields,
    always: true,
  },
  FINALIZATION_REFUSED: {
    level: 'error',
    meaning:
      'Results has refused the result of a finished run, which stays unpublished until the learner’s reference or Results is mended.',
    fields: { upstreamOperation: 'word', upstreamRequestId: 'word' },
  },
  SIMULATION_RECEIPT: {
    level: 'info',
    meaning:
      'The redacted trace of a score-recovery simulation; its content address is the receiptId of the answer.',
    fields: receiptFields,
    always: true,
  },
  POOL_RECEIPT: {
    level: 'warn',
    meaning:
      'The redacted trace of a request whose pool breaks its contract; its content address is the receiptId of the 502.',
    fields: receiptFields,
    always: true,
  },
  SIMULATION_COMPUTED: {
    level: 'info',
    meaning:
      'Every profile of a score-recovery simulation has taken the test, as often as `replications` says.',
    fields: simulationFields,
    always: true,
  },
  SIMULATION_OUT_OF_TIME: {
    level: 'error',
    meaning:
      'A score-recovery simulation could not be finished in the time of its request; nothing was emitted.',
    fields: simulationFields,
  },
  RECEIPT_ABSENT: {
    level: 'error',
    meaning:
      'An unexpired link leads to a receipt bundle that is not in the bucket, or that the function may not read; its holder got a 404.',
    fields: {},
  },
  MESSAGE_REFUSED: {
    level: 'error',
    meaning: 'A message of the queue names no run in the agreed form; it ends among the dead letters.',
    fields: { received: 'number' },
  },
  IMPROVEMENT_RUN_WORKED: {
    level: 'info',
    meaning: 'A worker has taken an improvement run as far as it goes.',
    fields: {
      improvementRunId: 'word',
      received: 'number',
      outcome: 'word',
      evaluated: 'number',
      opened: 'number',
      delivered: 'number',
      blocked: 'number',
      durationMs: 'number',
    },
    always: true,
  },
  IMPROVEMENT_RUN_STALLED: {
    level: 'warn',
    meaning: 'A worker cannot go on with an improvement run just now; the message comes again.',
    fields: {
      improvementRunId: 'word',
      received: 'number',
      reason: 'word',
      owner: 'word',
      evaluated: 'number',
      opened: 'number',
      delivered: 'number',
      blocked: 'number',
      durationMs: 'number',
    },
  },
  IMPROVEMENT_RUN_FAILED: {
    level: 'error',
    meaning: 'An improvement run has ended as `failed`; only a new analysis takes its place.',
    fields: { improvementRunId: 'word', reason: 'word', owner: 'word' },
  },
  IMPROVEMENT_RUNS_SWEPT: {
    level: 'info',
    meaning: 'The sweeper has looked at the improvement runs that have not ended.',
    fields: {
      open: 'number',
      sent: 'number',
      failed: 'number',
      broken: 'number',
      durationMs: 'number',
    },
    always: true,
  },
  BACKGROUND_WORK_BROKEN: {
    level: 'error',
    meaning: 'A defect or an outage of the deployment stopped the work of a background function.',
    fields: { improvementRunId: 'word', error: 'word', causes: 'words', frames: 'words' },
  },
  LOG_CODE_UNKNOWN: {
    level: 'error',
    meaning: 'The code asked for a line that is not registered; nothing else of it was written.',
    fields: {},
  },
} as const satisfies Readonly<Record<string, LogCode>>;

export type LogCodeName = keyof typeof logCodes;
