export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/**
 * What a field may hold. `word`: printable ASCII, at most 200 characters, and nothing that looks like a token. `words`: at
 * most 100 of them. A list of names: at most 500 flat entries with just those members, each a word, a number, a boolean or null.
 */
export type FieldKind = 'word' | 'words' | 'number' | 'boolean' | readonly string[];

export interface LogCode {
  readonly level: LogLevel;
  /** One sentence for the operator who reads the line. */
  readonly meaning: string;
  readonly fields: Readonly<Record<string, FieldKind>>;
  /** Written at every LOG_LEVEL. */
  readonly always?: true;
  /** The field whose value CloudWatch keeps, under the field's name. */
  readonly metric?: string;
  /** CloudWatch counts these lines, under their code, and raises an alarm on it. */
  readonly alarm?: CodeAlarm;
}

/** The alarm on the lines of a code: there is one as soon as their number in five minutes is above 0. */
interface CodeAlarm {
  readonly title: string;
  /** A sentence. */
  readonly impact: string;
  /** A heading of docs/runbook.md, as its anchor. */
  readonly section: string;
}

/** Where CloudWatch keeps the figures. Those of a code have the one dimension `stage`. */
export const METRIC_NAMESPACE = 'mastery-reports';

/** The lines of level `error` of a published version: what a canary step watches. */
export const ERROR_LINES = {
  name: 'ErrorLines',
  dimensions: ['stage', 'operation', 'function_version'],
} as const;

/** A redacted trace of upstream calls, and what it is the trace of. */
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
    meaning: 'The function returned the response to the gateway.',
    fields: { status: 'number', durationMs: 'number', problem: 'word' },
    always: true,
  },
  VERSION_ACCEPTED: {
    level: 'info',
    meaning: 'A new version responded to the check before its first caller. Its deployment continues.',
    fields: { deployment: 'word' },
  },
  VERSION_REJECTED: {
    level: 'error',
    meaning: 'A new version failed the check before its first caller. The former version stays live.',
    fields: { deployment: 'word', reason: 'word' },
  },
  REQUEST_FAILED: {
    level: 'error',
    meaning: 'A defect or an outage of the deployment stopped a request. The service returned 500.',
    fields: { error: 'word', causes: 'words', frames: 'words' },
  },
  REQUEST_REFUSED: {
    level: 'info',
    meaning: 'The request does not match the schema of its operation. The service returned 400.',
    fields: { reasons: 'words' },
  },
  TOKEN_REFUSED: {
    level: 'info',
    meaning: 'The bearer token was rejected. The response does not give the reason.',
    fields: { reason: 'word' },
  },
  KEY_SET_UNREACHABLE: {
    level: 'warn',
    meaning:
      'The issuer’s key set could not be read. The function uses the keys that it has for at most 24 hours.',
    fields: { error: 'word', knownKeysAgeSeconds: 'number' },
  },
  ENVIRONMENT_INVALID: {
    level: 'error',
    meaning: 'The function cannot start: environment variables are missing or malformed.',
    fields: { variables: 'words' },
  },
  RELEASE_WITHDRAWN: {
    level: 'info',
    meaning:
      'The route’s release gate has been withdrawn. The function returns 503; a background function does nothing.',
    fields: { missing: 'words' },
    always: true,
  },
  RELEASE_UNPROVED: {
    level: 'error',
    meaning:
      'The stage’s release state cannot be read or has no valid proof. Every route that needs a release gate is closed.',
    fields: { reason: 'word', error: 'word' },
  },
  ANSWER_REFUSED: {
    level: 'error',
    meaning:
      'The operation composed a response that violates its own contract. The service returned 500 instead.',
    fields: { reasons: 'words' },
  },
  ANSWER_BROKEN: {
    level: 'error',
    meaning: 'A defect ended a streamed response early. The client received an incomplete response.',
    fields: { error: 'word', causes: 'words', frames: 'words' },
  },
  ANSWER_ABANDONED: {
    level: 'info',
    meaning:
      'A streamed response was cut off: the client disconnected, or read too slowly for the function’s time limit.',
    fields: { reason: 'word' },
  },
  PROBLEM_UNDECLARED: {
    level: 'error',
    meaning: 'The operation returned a problem that its route does not declare. The service sent it anyway.',
    fields: { problem: 'word' },
  },
  OPERATION_BEGUN: {
    level: 'info',
    meaning:
      'The function created the idempotency record of a key, took it over or found it settled, and started the work.',
    fields: { control: 'word', origin: 'word', waitedMs: 'number' },
  },
  OPERATION_SETTLED: {
    level: 'info',
    meaning: 'The work ended: the idempotency record is final, or its lease was released for a retry.',
    fields: { control: 'word', state: 'word', status: 'number' },
  },
  OPERATION_UNSETTLED: {
    level: 'warn',
    meaning:
      'The idempotency record could not be updated after the work. A retry can continue once the lease has expired.',
    fields: { control: 'word', error: 'word' },
  },
  UPSTREAM_CALL: {
    level: 'debug',
    meaning: 'An upstream call returned a response.',
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
    meaning: 'An upstream call did not return a usable response, even after its retries.',
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
    meaning:
      'A request failed because of an owner. The fields are those of the problem that the caller received.',
    fields: { owner: 'word', upstreamOperation: 'word', upstreamRequestId: 'word', retryable: 'boolean' },
  },
  RUN_AWAITS_ANCHOR: {
    level: 'warn',
    meaning:
      'A stopped run remains in `finalizing`. Its result is not published until its anchor can be verified again.',
    fields: { stopReason: 'word' },
  },
  RUN_RECEIPT: {
    level: 'info',
    meaning: 'The redacted trace of a run’s step. The `receiptId` of the response is its content address.',
    fields: receiptFields,
    always: true,
  },
  FINALIZATION_REFUSED: {
    level: 'error',
    meaning:
      'Results rejected the result of a finished run. The result stays unpublished until the learner’s reference or Results is corrected.',
    fields: { upstreamOperation: 'word', upstreamRequestId: 'word' },
  },
  SIMULATION_RECEIPT: {
    level: 'info',
    meaning:
      'The redacted trace of a score-recovery simulation. The `receiptId` of the response is its content address.',
    fields: receiptFields,
    always: true,
  },
  POOL_RECEIPT: {
    level: 'warn',
    meaning:
      'The redacted trace of a request whose pool violates its contract. The `receiptId` of the 502 is its content address.',
    fields: receiptFields,
    always: true,
  },
  SIMULATION_COMPUTED: {
    level: 'info',
    meaning: 'A score-recovery simulation ended: every profile has taken the test `replications` times.',
    fields: simulationFields,
    always: true,
  },
  SIMULATION_OUT_OF_TIME: {
    level: 'error',
    meaning: 'A score-recovery simulation exceeded the time limit of its request. No event was emitted.',
    fields: simulationFields,
  },
  RECEIPT_ABSENT: {
    level: 'error',
    meaning:
      'A valid link refers to a receipt bundle that is not in the bucket or that the function may not read. The caller received 404.',
    fields: {},
    alarm: {
      title: 'A receipt bundle is missing',
      impact: 'A client cannot download a receipt that an improvement run refers to.',
      section: 'receipt-absent',
    },
  },
  MESSAGE_REFUSED: {
    level: 'error',
    meaning:
      'A message of the queue does not identify a run in the expected form. It goes to the dead-letter queue.',
    fields: { received: 'number' },
  },
  IMPROVEMENT_RUN_WORKED: {
    level: 'info',
    meaning: 'A worker processed an improvement run as far as possible.',
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
    meaning: 'A worker cannot continue an improvement run at present. The queue delivers the message again.',
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
    meaning: 'An improvement run ended as `failed`. To get a result, analyze the administration again.',
    fields: { improvementRunId: 'word', reason: 'word', owner: 'word' },
  },
  IMPROVEMENT_RUNS_SWEPT: {
    level: 'info',
    meaning: 'The sweeper checked the improvement runs that have not ended.',
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
    fields: { improvementRunId: 'word', purpose: 'word', error: 'word', causes: 'words', frames: 'words' },
  },
  KEY_CHANGED: {
    level: 'info',
    meaning: 'The schedule created a key of the key ring, or moved it to another state.',
    fields: { purpose: 'word', kid: 'word', state: 'word' },
    always: true,
  },
  KEY_ROTATION_POSTPONED: {
    level: 'warn',
    meaning:
      'The schedule left the keys of a purpose as they are: there is no active key, or someone else changed them at the same time. The next call looks again.',
    fields: { purpose: 'word', reason: 'word' },
  },
  KEYS_CHECKED: {
    level: 'info',
    meaning:
      'The schedule checked the key ring. `activeKeyAgeDays`: for how long the longest-serving of the scheduled purposes’ keys has sealed.',
    fields: { activeKeyAgeDays: 'number', durationMs: 'number' },
    always: true,
    metric: 'activeKeyAgeDays',
  },
  LOG_CODE_UNKNOWN: {
    level: 'error',
    meaning: 'The code tried to log an unregistered code. The rest of the line was not written.',
    fields: {},
  },
} as const satisfies Readonly<Record<string, LogCode>>;

export type LogCodeName = keyof typeof logCodes;
