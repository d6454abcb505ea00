export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/**
 * What a field may contain. `word`: printable ASCII, at most 200 characters, not similar to a token. `words`: at most 100 of them. A list of names:
 * at most 500 flat entries with only those members, each a word, a number, a boolean or null.
 */
export type FieldKind = 'word' | 'words' | 'number' | 'boolean' | readonly string[];

/**
 * Whose part made a line necessary. `release`: this version of the software. `account`: AWS or a setting of the stage. `owner`: a service of the platform
 * did not answer usably. `data`: what an owner holds on one subject. `caller`: the request.
 */
export type Blame = 'release' | 'account' | 'owner' | 'data' | 'caller';

export interface LogCode {
  readonly level: LogLevel;
  /** One sentence for the operator who reads the line. */
  readonly meaning: string;
  readonly fields: Readonly<Record<string, FieldKind>>;
  /** Written at every LOG_LEVEL. */
  readonly always?: true;
  /** CloudWatch counts the lines of a code that blames someone, under the code: `shared/observability/watches.ts` has the alarm on them. */
  readonly blames?: Blame;
  /** What else CloudWatch takes from a line. */
  readonly figures?: readonly Figure[];
}

/** A row whose lines CloudWatch counts. */
export type CountedRow = LogCode & { readonly blames: Blame };

/** A metric that CloudWatch takes from a line (embedded metric format). Each combination of the values of its dimensions is a paid series. */
export interface Figure {
  readonly name: string;
  readonly unit: 'Count' | 'Milliseconds' | 'None';
  /** The field with its value. Absent: 1 for each line. */
  readonly value?: string;
  /** `stage`, and members or fields of the line. */
  readonly dimensions: readonly string[];
  /** A field that is true on the lines that count. Absent: every line that has the value and the dimensions. */
  readonly when?: string;
}

/** Where CloudWatch stores the figures. */
export const METRIC_NAMESPACE = 'mastery-reports';

/** The lines of a published version that blame the release, which a canary step watches. */
export const RELEASE_FAULTS = {
  name: 'ReleaseFaults',
  unit: 'Count',
  dimensions: ['stage', 'operation', 'function_version'],
} as const satisfies Figure;

/** The figures of a response; every alarm on the share of failures divides two of them. */
export const requestFigures = {
  requests: { name: 'Requests', unit: 'Count', dimensions: ['stage', 'operation'] },
  failures: { name: 'Failures', unit: 'Count', value: 'failures', dimensions: ['stage', 'operation'] },
  latency: { name: 'Latency', unit: 'Milliseconds', value: 'durationMs', dimensions: ['stage', 'operation'] },
  upstreamTime: {
    name: 'UpstreamTime',
    unit: 'Milliseconds',
    value: 'upstreamMs',
    dimensions: ['stage', 'operation'],
  },
  problems: {
    name: 'Problems',
    unit: 'Count',
    dimensions: ['stage', 'operation', 'problem'],
    when: 'failed',
  },
  learnerRequests: {
    name: 'LearnerRequests',
    unit: 'Count',
    dimensions: ['stage', 'service'],
    when: 'learnersWait',
  },
  learnerFailures: {
    name: 'LearnerFailures',
    unit: 'Count',
    value: 'failures',
    dimensions: ['stage', 'service'],
    when: 'learnersWait',
  },
} as const satisfies Readonly<Record<string, Figure>>;

/** The lines that blame an owner by name. */
export const ownerFailures = {
  name: 'OwnerFailures',
  unit: 'Count',
  dimensions: ['stage', 'owner'],
} as const satisfies Figure;

const daysLeft = (name: string, value: string): Figure => ({
  ...{ name, value, unit: 'None', dimensions: ['stage'] },
});

/** What the watcher finds, and for how many days that is valid which ends first. */
export const stageFigures = {
  findings: { name: 'StageFindings', unit: 'Count', dimensions: ['stage', 'check'], when: 'rings' },
  manifest: daysLeft('ManifestDaysLeft', 'manifestDaysLeft'),
  credential: daysLeft('CredentialDaysLeft', 'credentialDaysLeft'),
  certificate: daysLeft('CertificateDaysLeft', 'certificateDaysLeft'),
} as const satisfies Readonly<Record<string, Figure>>;
/** What each step of the canary leaves: `sandbox`, `credential` or `run`. */
export const canaryFigures = {
  success: { name: 'CanarySuccess', unit: 'Count', value: 'success', dimensions: ['stage', 'step'] },
  latency: {
    name: 'CanaryLatency',
    unit: 'Milliseconds',
    value: 'durationMs',
    dimensions: ['stage', 'step'],
  },
} as const satisfies Readonly<Record<string, Figure>>;
const canaryStep = { step: 'word', success: 'number', durationMs: 'number' } as const;

/** A redacted trace of upstream calls, and what it traces. */
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

/** A thrown value, as `describeError` describes it. */
const thrown = { error: 'word', causes: 'words', frames: 'words' } as const;

const upstreamCall = {
  owner: 'word',
  upstreamOperation: 'word',
  status: 'number',
  upstreamRequestId: 'word',
} as const;

const callTime = { durationMs: 'number', attempts: 'number' } as const;

/** What a worker has done for a run. */
const runProgress = {
  evaluated: 'number',
  opened: 'number',
  delivered: 'number',
  blocked: 'number',
  durationMs: 'number',
} as const;

type More = Partial<Omit<LogCode, 'blames'>>;

function rowsAt(level: LogLevel, common: More = {}) {
  return (meaning: string, fields: LogCode['fields'] = {}, more: More = {}): LogCode => ({
    level,
    meaning,
    fields,
    ...common,
    ...more,
  });
}

function countedRowsAt(level: LogLevel, common: More = {}) {
  const row = rowsAt(level, common);
  return (blames: Blame, meaning: string, fields: LogCode['fields'] = {}, more: More = {}): CountedRow => ({
    ...row(meaning, fields, more),
    blames,
  });
}
const debug = rowsAt('debug');
const info = rowsAt('info');
/** Lines of this level that no LOG_LEVEL omits. */
const always = rowsAt('info', { always: true });
const counted = countedRowsAt('info', { always: true });
const warn = countedRowsAt('warn');
const error = countedRowsAt('error');

/**
 * Every line that a function may write. It writes no field that is not named here, so that it cannot log an event, a body, a token, a header, a path
 * value or an upstream payload by accident [MA-007]. `npm run docs` writes docs/log-codes.md from this.
 */
export const logCodes = {
  REQUEST_STARTED: always('A request reached the function.', { method: 'word' }),
  REQUEST_COMPLETED: always(
    'The function returned the response to the gateway.',
    {
      status: 'number',
      durationMs: 'number',
      problem: 'word',
      // 1, and `failed` true, if the release, the account or an owner is to blame: 5xx and 424.
      failures: 'number',
      failed: 'boolean',
      learnersWait: 'boolean',
      tenantHash: 'word',
      // Calls to owners, and the sum of their times, which may overlap.
      upstreamCalls: 'number',
      upstreamMs: 'number',
      owners: 'words',
    },
    { figures: Object.values(requestFigures) },
  ),
  VERSION_ACCEPTED: info(
    'A new version passed the check before its first caller. Its deployment continues.',
    { deployment: 'word' },
  ),
  VERSION_REJECTED: error(
    'release',
    'A new version failed the check before its first caller. The former version stays live.',
    { deployment: 'word', reason: 'word' },
  ),
  VERSION_UNPROVED: warn(
    'account',
    'The check could not prove that a new version works: what it needs was throttled or unreachable for ten minutes, or there is nothing to try it with. Its deployment continues.',
    { deployment: 'word', reason: 'word' },
  ),
  REQUEST_FAILED: error('release', 'A defect stopped a request. The service returned 500.', thrown),
  STORE_UNAVAILABLE: error(
    'account',
    'A store of the deployment gave no usable response in time. The reports service returned 503, the mastery engine 424.',
    thrown,
  ),
  REQUEST_REFUSED: info('The request does not match the schema of its operation. The service returned 400.', {
    reasons: 'words',
  }),
  TOKEN_REFUSED: info('The bearer token was rejected. The response does not give the reason.', {
    reason: 'word',
  }),
  TENANT_RATE_LIMITED: warn(
    'caller',
    'A tenant has used up its requests of these ten seconds. The service returns 429 until they end; a container writes the line once for each share.',
    { tenantHash: 'word' },
  ),
  REQUEST_UNCOUNTED: warn(
    'account',
    'A request could not be counted against the bound of its tenant. The service admitted it. After three in a row a container counts by itself for five to ten seconds, without further lines.',
    { error: 'word' },
  ),
  KEY_SET_UNREACHABLE: warn(
    'owner',
    'The issuer’s key set could not be read. The function uses the keys that it has for at most 24 hours.',
    { error: 'word', knownKeysAgeSeconds: 'number' },
  ),
  ENVIRONMENT_INVALID: error(
    'release',
    'The function cannot start: environment variables are missing or malformed.',
    {
      variables: 'words',
    },
  ),
  RELEASE_WITHDRAWN: counted(
    'account',
    'The route’s release gate has been withdrawn. The function returns 503; a background function does nothing.',
    { missing: 'words' },
  ),
  RELEASE_UNPROVED: error(
    'account',
    'The stage’s release state cannot be read or has no valid proof. Every route that needs a release gate is closed.',
    { reason: 'word', error: 'word' },
  ),
  ANSWER_REFUSED: error(
    'release',
    'The operation composed a response that violates its own contract. The service returned 500 instead.',
    { reasons: 'words' },
  ),
  ANSWER_BROKEN: error(
    'release',
    'A defect ended a streamed response early. The client received an incomplete response.',
    thrown,
  ),
  ANSWER_ABANDONED: info(
    'A streamed response was cut off: the client disconnected, or read too slowly for the function’s time limit.',
    { reason: 'word' },
  ),
  FACTS_CONTRADICTORY: warn(
    'data',
    'Facts of an owner cannot all be true, so the caller received 503 dependency-incomplete, or a page without the attempt: ask the owner about the invariant.',
    { invariant: 'word', dependency: 'word' },
  ),
  GAP_NOT_GOVERNED: counted(
    'data',
    'A report shows gaps that the gate’s criteria do not cover. Results and Content are assumed to allow this: ask them when it first occurs.',
  ),
  PROBLEM_UNDECLARED: error(
    'release',
    'The operation returned a problem that its route does not declare. The service sent it anyway.',
    { problem: 'word' },
  ),
  OPERATION_BEGUN: info(
    'The function created the idempotency record of a key, took it over or found it settled, and started the work.',
    { control: 'word', origin: 'word', waitedMs: 'number' },
  ),
  OPERATION_SETTLED: info(
    'The work ended: the idempotency record is final, or its lease was released for a retry.',
    { control: 'word', state: 'word', status: 'number' },
  ),
  OPERATION_UNSETTLED: warn(
    'account',
    'The idempotency record could not be updated after the work. A retry can continue once the lease has expired.',
    { control: 'word', error: 'word' },
  ),
  PROFILE_UNREADABLE: warn(
    'account',
    'The tenant’s service profile could not be read. The function used the last one, which is `ageSeconds` old, for at most four hours; null: there is none that it may use, and the request failed.',
    { error: 'word', ageSeconds: 'number' },
  ),
  PROFILE_INVALID: error(
    'account',
    'The tenant’s service profile cannot be used: KMS does not open its credential, or its address is not approved. Release it again.',
  ),
  UPSTREAM_CALL: debug('An upstream call returned a response.', { ...upstreamCall, ...callTime }),
  UPSTREAM_CALL_FAILED: warn(
    'owner',
    'An upstream call did not return a usable response, even after its retries.',
    { ...upstreamCall, ...callTime, kind: 'word', transient: 'boolean' },
  ),
  UPSTREAM_ANSWER_REFUSED: warn(
    'owner',
    'An owner’s response was malformed, or about something other than was asked for. The call is repeated once, and may succeed.',
    { ...upstreamCall, kind: 'word' },
  ),
  OWNER_CIRCUIT_OPENED: warn(
    'owner',
    'An owner gave no answer to three requests in a row. This container fails its calls at once for `openMs`, then one request tries; the time doubles up to 30 s while the owner stays silent.',
    { owner: 'word', openMs: 'number' },
  ),
  UPSTREAM_FAILED: warn(
    'owner',
    'A request failed because of an owner. The fields are those of the problem that the caller received.',
    { owner: 'word', upstreamOperation: 'word', upstreamRequestId: 'word', retryable: 'boolean' },
    { figures: [ownerFailures] },
  ),
  RUN_WAITS: counted(
    'owner',
    'A run cannot continue until an owner’s response to `upstreamOperation` changes: QTI scores and processes an answer, the anchor is verified, or Results or Caliper acknowledges the result. Many lines in a row that name one operation: ask its owner.',
    { upstreamOperation: 'word' },
  ),
  RUN_RECEIPT: always(
    'The redacted trace of a run’s step. The `receiptId` of the response is its content address.',
    receiptFields,
  ),
  ANSWERS_UNUSUAL: counted(
    'data',
    'Results has the result of a learner’s run whose answers contradict each other more than the calibration expects, which a limitation of its score states. About 1 % of the results of learners whom the calibration describes are so; many more mean that it does not fit, or that learners guess.',
  ),
  FINALIZATION_REFUSED: error(
    'data',
    'Results rejected the result of a finished run. The result stays unpublished until the learner’s reference or Results is corrected.',
    { upstreamOperation: 'word', upstreamRequestId: 'word' },
  ),
  SIMULATION_RECEIPT: always(
    'The redacted trace of a score-recovery simulation. The `receiptId` of the response is its content address.',
    receiptFields,
  ),
  POOL_RECEIPT: warn(
    'data',
    'The redacted trace of a request whose pool violates its contract. The `receiptId` of the 502 is its content address.',
    receiptFields,
    { always: true },
  ),
  SIMULATION_COMPUTED: always(
    'A score-recovery simulation ended: every profile has taken the test `replications` times.',
    simulationFields,
  ),
  SIMULATION_OUT_OF_TIME: error(
    'release',
    'A score-recovery simulation exceeded the time limit of its request. No event was emitted.',
    simulationFields,
  ),
  RECEIPT_ABSENT: error(
    'account',
    'A valid link refers to a receipt bundle that is not in the bucket or that the function may not read. The caller received 404.',
  ),
  MESSAGE_REFUSED: error(
    'account',
    'A message of the queue does not identify a run in the expected form. It goes to the dead-letter queue.',
    { received: 'number' },
  ),
  IMPROVEMENT_RUN_WORKED: always('A worker processed an improvement run as far as possible.', {
    improvementRunId: 'word',
    received: 'number',
    outcome: 'word',
    ...runProgress,
  }),
  IMPROVEMENT_RUN_STALLED: warn(
    'owner',
    'A worker cannot continue an improvement run at present. The queue delivers the message again.',
    {
      improvementRunId: 'word',
      received: 'number',
      reason: 'word',
      owner: 'word',
      ...runProgress,
    },
    { figures: [ownerFailures] },
  ),
  IMPROVEMENT_RUN_FAILED: error(
    'data',
    'An improvement run ended as `failed`. To get a result, analyze the administration again.',
    { improvementRunId: 'word', reason: 'word', owner: 'word' },
  ),
  IMPROVEMENT_RUNS_SWEPT: always('The sweeper checked the improvement runs that have not ended.', {
    open: 'number',
    sent: 'number',
    failed: 'number',
    broken: 'number',
    durationMs: 'number',
  }),
  BACKGROUND_WORK_BROKEN: error(
    'release',
    'A defect or an outage of the deployment stopped the work of a background function.',
    { improvementRunId: 'word', purpose: 'word', ...thrown },
  ),
  KEY_CHANGED: always('The schedule created a key of the key ring, or moved it to another state.', {
    purpose: 'word',
    kid: 'word',
    state: 'word',
  }),
  KEY_ROTATION_POSTPONED: warn(
    'account',
    'The schedule left the keys of a purpose as they are: there is no active key, or another administrator changed them at the same time. The next call looks again.',
    { purpose: 'word', reason: 'word' },
  ),
  KEYS_CHECKED: always(
    'The schedule checked the key ring. `activeKeyAgeDays`: for how long the longest-serving of the scheduled purposes’ keys has sealed.',
    { activeKeyAgeDays: 'number', durationMs: 'number' },
    {
      figures: [{ name: 'activeKeyAgeDays', unit: 'None', value: 'activeKeyAgeDays', dimensions: ['stage'] }],
    },
  ),
  STAGE_FINDING: warn(
    'account',
    'The watcher found something that is not in order: `npm run doctor` says what it means and what mends it. `about` is a tenant, a stack, an ARN or an address; `rings`: its check’s alarm counts it.',
    { check: 'word', finding: 'word', status: 'word', about: 'word', rings: 'boolean' },
    { figures: [stageFigures.findings] },
  ),
  STAGE_WATCHED: always(
    'The watcher checked the stage. Days are those of whatever ends first; a field is absent where nothing ends.',
    {
      checks: 'number',
      findings: 'number',
      manifestDaysLeft: 'number',
      credentialDaysLeft: 'number',
      certificateDaysLeft: 'number',
      durationMs: 'number',
    },
    { figures: [stageFigures.manifest, stageFigures.credential, stageFigures.certificate] },
  ),
  CANARY_SUCCEEDED: always(
    'A step of the canary succeeded: the sandbox returned its report, the token of the canary is valid, or its conformance run was started and inspected.',
    canaryStep,
    { figures: Object.values(canaryFigures) },
  ),
  CANARY_FAILED: error(
    'account',
    'A step of the canary failed. `call`: the operation that was called from outside; `kind`: what was wrong with the response or with the token.',
    { ...canaryStep, call: 'word', status: 'number', problem: 'word', kind: 'word', error: 'word' },
    { figures: Object.values(canaryFigures) },
  ),
} as const satisfies Readonly<Record<string, LogCode>>;

export type LogCodeName = keyof typeof logCodes;

/** A code whose lines CloudWatch counts. */
export type CountedCode = {
  [C in LogCodeName]: (typeof logCodes)[C] extends CountedRow ? C : never;
}[LogCodeName];
