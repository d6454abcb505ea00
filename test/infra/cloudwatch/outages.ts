import { analyzeRun, runCanary } from '#shared/contract/background.ts';
import { deployedFunctions, isRoute } from '#shared/contract/functions.ts';
import { logCodes, type LogCodeName } from '#shared/observability/log-codes.ts';
import type { LogFields } from '#shared/observability/logger.ts';
import type { Stage } from '#shared/stage/stages.ts';
import { calls, lines, NEW_VERSION, points, rowOf, apiOf, type Points, type Span } from './happenings.ts';

/*
 * Two tables over every alarm of a stage: what an alarm watches names the outage that must make it go off, and in no quiet night may one go off.
 */

/** A metric that an alarm watches. */
export interface WatchedMetric {
  readonly namespace: string;
  readonly metric: string;
  readonly dimensions: Readonly<Record<string, string>>;
  /** Minutes. */
  readonly period: number;
}

/** What happens from minute 0 on. Until then the stage has worked as usual, for as long as alarms look back. */
export interface Outage {
  readonly title: string;
  readonly points: Points;
  /** The minutes in which it must be heard. */
  readonly within: number;
  /** The first event is an outage: no quiet night may have one. */
  readonly atOnce?: true;
}

/** Longer than any outage remains unheard. */
const LONG = 300;

/** How the lines of a code become an outage. */
interface Trouble extends Pick<Span, 'every' | 'times'> {
  readonly within: number;
  readonly atOnce?: true;
}

/** A line of these needs a person: it means a release that does not work, or a result that is lost. */
const onceIsTooMuch: Trouble = { every: LONG, within: 5, atOnce: true };
/** One subject of one owner, whose client asks from time to time. */
const nowAndThen: Trouble = { every: 20, within: 60 };
const constantly: Trouble = { times: 5, within: 8 };

/** What is not here happens constantly. */
const troubles: Readonly<Partial<Record<LogCodeName, Trouble>>> = {
  VERSION_REJECTED: onceIsTooMuch,
  VERSION_UNPROVED: onceIsTooMuch,
  ENVIRONMENT_INVALID: onceIsTooMuch,
  RECEIPT_ABSENT: onceIsTooMuch,
  IMPROVEMENT_RUN_FAILED: onceIsTooMuch,
  GAP_NOT_GOVERNED: onceIsTooMuch,
  FACTS_CONTRADICTORY: nowAndThen,
  UPSTREAM_ANSWER_REFUSED: nowAndThen,
  FINALIZATION_REFUSED: nowAndThen,
  SIMULATION_OUT_OF_TIME: nowAndThen,
  // The sweeper is called every five minutes.
  BACKGROUND_WORK_BROKEN: { every: 5, within: 15 },
  RUN_WAITS: { times: 5, within: 30 },
};

function isLogCode(name: string): name is LogCodeName {
  return Object.hasOwn(logCodes, name);
}

/** The code's lines are the same whichever function writes them: the figure of a code has no dimension but the stage. */
function codeOutage(stage: Stage, code: LogCodeName): Outage {
  const { within, atOnce, ...span } = troubles[code] ?? constantly;
  return {
    ...{ title: `the functions log ${code}`, within },
    points: lines(stage, 'readReceipt', { from: 0, to: LONG, ...span }, code),
    ...(atOnce && { atOnce }),
  };
}

/** How often a function is called in the quietest hour in which somebody works. */
function usualSpan(operation: string, from: number, to: number): Span {
  const row = rowOf(operation);
  if (isRoute(row) || row.trigger === 'link' || row.trigger === 'sandbox') return { from, to, times: 20 };
  return { from, to, every: row.trigger === 'schedule' ? row.everyMinutes : 2 };
}

/** Calls as usual, and from minute 0 on a share of them in another way. */
function failing(
  stage: Stage,
  operation: string,
  before: number,
  options: Parameters<typeof calls>[3],
  share = 1,
): Points {
  const { times = 1, ...span } = usualSpan(operation, 0, LONG);
  const bad = Math.round(times * share);
  return [
    ...calls(stage, operation, usualSpan(operation, -before, 0)),
    ...calls(stage, operation, { ...span, times: bad }, options),
    ...(bad === times ? [] : calls(stage, operation, { ...span, times: times - bad })),
  ];
}

/** How long it takes until a function has been called so often that one sees what is wrong. */
function soon(operation: string, minutes: number): number {
  const row = rowOf(operation);
  return !isRoute(row) && row.trigger === 'schedule' ? 2 * row.everyMinutes + 5 : minutes;
}

function upstreamFailure(owner: string): LogFields {
  return { owner, upstreamOperation: 'read', upstreamRequestId: 'u-1', retryable: true };
}

const unavailable = { status: 503, problem: 'dependency-unavailable' } as const;

/**
 * Returns what makes an alarm go off that watches this metric.
 * @returns undefined if no row is about it
 */
export function outageOf(stage: Stage, watched: WatchedMetric): Outage | undefined {
  const { namespace, metric, dimensions, period } = watched;
  const operation =
    dimensions['operation'] ??
    dimensions['FunctionName']?.replace(`mastery-reports-${stage.name}-`, '') ??
    '';
  const version = dimensions['ExecutedVersion'] ?? dimensions['function_version'];
  const from = { from: 0, to: LONG };
  switch (`${namespace} ${metric}`) {
    case 'AWS/Lambda Errors':
      return version === undefined
        ? {
            title: `${operation} ends without a response`,
            points: failing(stage, operation, 120, { end: 'died' }),
            ...{ within: period === 60 ? 125 : soon(operation, 18) },
          }
        : {
            title: `the new version of ${operation} ends without a response`,
            points: calls(stage, operation, { ...from, times: 2 }, { end: 'died', version }),
            // A canary step takes five minutes at least.
            ...{ within: 5, atOnce: true },
          };
    case 'mastery-reports ErrorLines':
    case 'mastery-reports ReleaseFaults':
      return {
        title: `the new version of ${operation} logs a defect`,
        points: lines(stage, operation, from, 'REQUEST_FAILED', {}, version),
        ...{ within: 5, atOnce: true },
      };
    case 'AWS/Lambda Throttles':
      return {
        title: `Lambda throttles ${operation}`,
        points: failing(stage, operation, 120, { end: 'throttled' }),
        ...{ within: soon(operation, 18) },
      };
    case 'AWS/Lambda Duration': {
      const milliseconds = rowOf(operation).lambda.timeoutSeconds * 970;
      return {
        title: `${operation} takes nearly all of its time`,
        points: failing(stage, operation, 120, { milliseconds }),
        ...{ within: soon(operation, 25) + 15 },
      };
    }
    case 'AWS/Lambda Invocations': {
      const row = rowOf(operation);
      // With those of errors it is the share of calls that die.
      if (isRoute(row) || row.trigger !== 'schedule') return undefined;
      const every = row.everyMinutes;
      return {
        title: `the schedule of ${operation} calls nothing`,
        points: calls(stage, operation, usualSpan(operation, -10 * every, 0)),
        // The last calls stay in the evaluation range: AWS's second example, 0 - - - -.
        ...{ within: 6 * every },
      };
    }
    case 'AWS/ApiGateway 5XXError':
      return {
        title: 'a tenth of an API’s requests fail with 5xx',
        points: failing(stage, operationOf(stage, dimensions['ApiName']), 30, unavailable, 0.1),
        within: 15,
      };
    case 'AWS/ApiGateway 4XXError':
      return {
        title: 'an API rejects four of five requests',
        points: failing(stage, operationOf(stage, dimensions['ApiName']), 30, { status: 401 }, 0.8),
        within: 20,
      };
    case 'AWS/WAFV2 BlockedRequests':
      return {
        title: 'the firewall blocks an address',
        points: points(watched, { ...from, times: 50 }),
        within: dimensions['Rule'] === undefined || dimensions['WebACL']?.endsWith('-site') ? 20 : 8,
      };
    case 'AWS/CloudFront 5xxErrorRate':
      return {
        title: 'every fifth request to the site fails',
        points: points(watched, from, 20),
        within: 20,
      };
    case 'AWS/SQS ApproximateAgeOfOldestMessage':
      return {
        title: 'no worker takes the messages of the queue',
        points: points(watched, { from: -60, to: LONG }, (at) => (at + 60) * 60),
        ...{ within: 15 },
      };
    case 'AWS/SQS ApproximateNumberOfMessagesVisible':
      return {
        title: 'a message is in the dead-letter queue',
        points: [...points(watched, { from: -30, to: 0 }, 0), ...points(watched, from)],
        ...{ within: 6, atOnce: true },
      };
    case 'AWS/DynamoDB ReadThrottleEvents':
    case 'AWS/DynamoDB WriteThrottleEvents':
      return {
        title: 'DynamoDB throttles a table',
        points: points(watched, { ...from, times: 10 }),
        within: 15,
      };
    case 'mastery-reports activeKeyAgeDays':
      return {
        title: 'the age of a key reaches a month and three days',
        points: ageOfKeys(stage, -240, LONG, (at) => 33 + at / 1440),
        ...{ within: 65 },
      };
    case 'mastery-reports CanarySuccess': {
      const { step = '' } = dimensions;
      return {
        title: `the step ${step} of the canary fails each time`,
        points: [
          ...canarySteps(stage, step, { from: -120, to: 0, every: runCanary.everyMinutes }, 1),
          ...canarySteps(stage, step, { ...from, every: runCanary.everyMinutes }, 0),
        ],
        within: 40,
      };
    }
    case 'mastery-reports StageFindings':
      return {
        title: `the watcher finds each hour that ${dimensions['check'] ?? ''} is not in order`,
        points: findings(stage, dimensions['check'] ?? '', { ...from, every: 60 }),
        within: 65,
      };
    case 'mastery-reports ManifestDaysLeft':
    case 'mastery-reports CredentialDaysLeft':
    case 'mastery-reports CertificateDaysLeft':
      return {
        title: 'what is valid for two months is suddenly valid for six days',
        points: [
          ...daysLeft(stage, { from: -600, to: 0, every: 60 }, 60),
          ...daysLeft(stage, { ...from, every: 60 }, 6),
        ],
        within: 5,
      };
    case 'AWS/Logs IncomingBytes':
      return {
        title: 'log lines take a gigabyte per minute',
        points: points(watched, from, 1e9),
        within: 60,
      };
    case 'mastery-reports Failures':
      return {
        title: `${operation}, which is called once per hour, fails each time`,
        points: [
          ...calls(stage, operation, { from: -300, to: 0, every: 60 }),
          ...calls(stage, operation, { ...from, every: 60 }, unavailable),
        ],
        ...{ within: 125 },
      };
    case 'mastery-reports LearnerFailures': {
      const service = dimensions['service'];
      const waiting = deployedFunctions.flatMap((row) =>
        isRoute(row) && row.service === service && row.learnersWait === true ? [row.operationId] : [],
      );
      // The windows of the fast burn. Those of the slow one are 30 minutes and six hours.
      const isShort = period === 5 || period === 60;
      return {
        title: isShort
          ? 'every second request of learners fails'
          : 'a twentieth of the requests of learners fails',
        points: waiting.flatMap((one) => failing(stage, one, 360, unavailable, isShort ? 0.5 : 0.05)),
        // Three hundredths of six hours are reached after 216 minutes.
        ...{ within: isShort ? 15 : 225 },
      };
    }
    case 'mastery-reports OwnerFailures': {
      const owner = dimensions['owner'] ?? '';
      return {
        title: `${owner} does not respond`,
        points: lines(
          stage,
          'readAttemptReport',
          { ...from, times: 5 },
          'UPSTREAM_FAILED',
          upstreamFailure(owner),
        ),
        within: 8,
      };
    }
    default:
      return namespace === 'mastery-reports' && isLogCode(metric) ? codeOutage(stage, metric) : undefined;
  }
}

/** A function that callers of an API call. */
function operationOf(stage: Stage, name: string | undefined): string {
  const found = deployedFunctions.find((row) => {
    const api = apiOf(row);
    return api !== undefined && name === `mastery-reports-${stage.name}-${api}`;
  });
  if (found === undefined) throw new Error(`no function is behind ${String(name)}`);
  return found.operationId;
}

function canarySteps(stage: Stage, step: string, span: Span, success: 0 | 1): Points {
  const code = success === 1 ? 'CANARY_SUCCEEDED' : 'CANARY_FAILED';
  return lines(stage, 'runCanary', span, code, { step, success, durationMs: 900 });
}

function findings(stage: Stage, check: string, span: Span): Points {
  return lines(stage, 'watchStage', span, 'STAGE_FINDING', { check, status: 'failure', rings: true });
}

/** What the watcher logs each hour. */
function daysLeft(stage: Stage, span: Span, days: number): Points {
  const left = { manifestDaysLeft: days, credentialDaysLeft: days, certificateDaysLeft: days };
  return lines(stage, 'watchStage', span, 'STAGE_WATCHED', { checks: 12, findings: 0, ...left });
}

function ageOfKeys(stage: Stage, first: number, to: number, daysAt: (at: number) => number): Points {
  return Array.from({ length: Math.ceil((to - first) / 60) }, (_, hour) => first + hour * 60).flatMap(
    (from) =>
      lines(stage, 'rotateKeys', { from, to: from + 1 }, 'KEYS_CHECKED', {
        activeKeyAgeDays: Math.floor(daysAt(from)),
        durationMs: 90,
      }),
  );
}

/** What happens in a night in which no person is needed. Each begins at minute 0. */
export interface Night {
  readonly title: string;
  readonly minutes: number;
  readonly points: Points;
}

const scheduled = deployedFunctions.flatMap((row) =>
  !isRoute(row) && row.trigger === 'schedule' ? [row.operationId] : [],
);
const called = deployedFunctions
  .filter((row) => apiOf(row) !== undefined)
  .map(({ operationId }) => operationId);

/** What runs by itself, for hours before the night. */
function background(stage: Stage, minutes: number, metrics: readonly WatchedMetric[]): Points {
  return [
    ...scheduled.flatMap((operation) => calls(stage, operation, usualSpan(operation, -600, minutes))),
    ...ageOfKeys(stage, -600, minutes, () => 20),
    ...daysLeft(stage, { from: -600, to: minutes, every: 60 }, 60),
    // One finding, which is gone when the watcher looks again.
    ...metrics.flatMap(({ dimensions: { check } }) =>
      check === undefined ? [] : findings(stage, check, { from: 60, to: 61 }),
    ),
    ...metrics.flatMap(({ dimensions: { step } }) =>
      step === undefined
        ? []
        : [
            ...canarySteps(stage, step, { from: -600, to: 60, every: runCanary.everyMinutes }, 1),
            // Two calls in a row fail, as they may during a deployment.
            ...canarySteps(stage, step, { from: 60, to: 90, every: runCanary.everyMinutes }, 0),
            ...canarySteps(stage, step, { from: 90, to: minutes, every: runCanary.everyMinutes }, 1),
          ],
    ),
    ...metrics
      .filter(({ namespace }) => namespace === 'AWS/Logs')
      .flatMap((metric) => points(metric, { from: -30, to: minutes }, 1e5)),
    ...metrics
      .filter(({ namespace }) => namespace === 'AWS/SQS' || namespace === 'AWS/CloudFront')
      .flatMap((metric) => points(metric, { from: -30, to: minutes }, 0)),
  ];
}

/** Codes of which one line is no reason to look. */
const harmlessOnce = Object.keys(logCodes)
  .filter(isLogCode)
  .filter((code) => troubles[code]?.atOnce !== true);
/** Those of a fault of AWS that passes. */
const passing = [
  ...(['STORE_UNAVAILABLE', 'PROFILE_UNREADABLE', 'RELEASE_UNPROVED'] as const),
  ...(['OPERATION_UNSETTLED', 'REQUEST_UNCOUNTED', 'KEY_SET_UNREACHABLE'] as const),
];

/** @param metrics everything that the alarms of the stage watch */
export function quietNights(stage: Stage, metrics: readonly WatchedMetric[]): readonly Night[] {
  const night = (title: string, minutes: number, own: Points): Night => ({
    ...{ title, minutes },
    points: [...background(stage, minutes, metrics), ...own],
  });
  const of = (...names: readonly string[]): readonly WatchedMetric[] =>
    metrics.filter(({ metric }) => names.includes(metric));
  const perApi = [...Map.groupBy(called, (operation) => apiOf(rowOf(operation))).values()];
  const hours = Math.max(...perApi.map(({ length }) => length));
  /** People work: each route of every API is called twice per minute, and runs are analyzed. */
  const traffic = (minutes: number): Points => [
    ...called.flatMap((operation) => calls(stage, operation, { from: -60, to: minutes, times: 2 })),
    ...calls(stage, analyzeRun.operationId, usualSpan(analyzeRun.operationId, -60, minutes)),
  ];
  const atMinute = (minute: number, times: number): Span => ({ from: minute, to: minute + 1, times });

  return [
    night('no caller', 480, []),

    // Each hour another route of an API is called twenty times, and the tenth call fails, in turn with a problem and without a response.
    night(
      'one failed call of twenty',
      hours * 60,
      perApi.flatMap((operations) =>
        operations.flatMap((operation, hour) => {
          const [start, failed] = [hour * 60, hour * 60 + 30];
          return [
            ...calls(stage, operation, { from: start, to: failed, every: 3 }),
            ...calls(stage, operation, atMinute(failed, 1), hour % 2 === 0 ? unavailable : { end: 'died' }),
            ...calls(stage, operation, { from: failed + 3, to: start + 60, every: 3 }),
          ];
        }),
      ),
    ),

    // One row contradicts another, so the cohort of one class is withheld. The teacher's client tries three times within two minutes.
    night('one bad roster row', 150, [
      ...traffic(150),
      ...[60, 61, 62].flatMap((minute) => [
        ...calls(stage, 'readClassCohort', atMinute(minute, 1), {
          ...{ status: 503, problem: 'dependency-incomplete' },
        }),
        ...lines(stage, 'readClassCohort', atMinute(minute, 1), 'FACTS_CONTRADICTORY', {
          ...{ invariant: 'one-enrolment', dependency: 'oneroster' },
        }),
        ...lines(
          stage,
          'readClassCohort',
          atMinute(minute, 1),
          'UPSTREAM_FAILED',
          upstreamFailure('oneroster'),
        ),
      ]),
    ]),

    // Every function gets a new version: cold starts, the calls of a canary step, and one sweep and one rotation more.
    night('a deployment', 180, [
      ...traffic(180),
      ...called.flatMap((operation) => [
        ...calls(stage, operation, { from: 60, to: 65 }, { milliseconds: 2500 }),
        ...calls(stage, operation, { from: 60, to: 80 }, { version: NEW_VERSION }),
      ]),
      ...scheduled.flatMap((operation) => calls(stage, operation, atMinute(61, 1))),
      ...lines(stage, 'rotateKeys', atMinute(61, 20), 'VERSION_ACCEPTED', { deployment: 'd-1' }),
    ]),

    // For less than a minute, on both sides of a full one, AWS refuses what the functions ask for.
    night('a throttled minute', 150, [
      ...traffic(150),
      ...[60, 61].flatMap((minute) => [
        ...of('ReadThrottleEvents', 'WriteThrottleEvents').flatMap((table) =>
          points(table, atMinute(minute, 20)),
        ),
        ...of('BlockedRequests').flatMap((rule) => points(rule, atMinute(minute, 20))),
        ...perApi.flatMap(([operation = '']) => [
          ...calls(stage, operation, atMinute(minute, 1), unavailable),
          ...calls(stage, operation, atMinute(minute, 1), { end: 'throttled' }),
          ...calls(stage, operation, atMinute(minute, 5), { status: 429 }),
        ]),
        ...passing.flatMap((code) => lines(stage, 'readReceipt', atMinute(minute, 1), code)),
      ]),
      ...deployedFunctions.flatMap(({ operationId }) =>
        apiOf(rowOf(operationId)) === undefined
          ? calls(stage, operationId, atMinute(60, 1), { end: 'throttled' })
          : [],
      ),
      ...harmlessOnce.flatMap((code) => lines(stage, 'readReceipt', atMinute(60, 1), code)),
    ]),

    // One owner after the other cannot deliver the facts of one learner, whose client tries three times.
    night('one learner whom an owner fails', 300, [
      ...traffic(300),
      ...of('OwnerFailures').flatMap(({ dimensions: { owner = '' } }, index) =>
        [0, 1, 2].flatMap((minute) => [
          ...calls(stage, 'readAttemptReport', atMinute(60 + 16 * index + minute, 1), unavailable),
          ...lines(
            stage,
            'readAttemptReport',
            atMinute(60 + 16 * index + minute, 1),
            'UPSTREAM_FAILED',
            upstreamFailure(owner),
          ),
        ]),
      ),
    ]),

    // One client with an expired token is the only caller.
    night(
      'one client that is refused',
      240,
      perApi.flatMap(([operation = '']) =>
        calls(
          stage,
          operation,
          { from: 0, to: 240, every: 4 },
          { status: 401, problem: 'authentication-required' },
        ),
      ),
    ),
  ];
}

/** DynamoDB refuses every table, so every route fails. */
export function storesDown(stage: Stage, metrics: readonly WatchedMetric[]): Points {
  const span: Span = { from: 0, to: 60, times: 5 };
  return [
    ...background(stage, 60, metrics),
    ...metrics
      .filter(({ metric }) => metric === 'ReadThrottleEvents' || metric === 'WriteThrottleEvents')
      .flatMap((table) => points(table, span)),
    ...called.flatMap((operation) => failing(stage, operation, 60, unavailable)),
    ...(['STORE_UNAVAILABLE', 'PROFILE_UNREADABLE', 'RELEASE_UNPROVED'] as const).flatMap((code) =>
      lines(stage, 'readReceipt', span, code),
    ),
  ];
}

/** A route that is called once per hour ends each time without a response. */
export function rareRouteDies(stage: Stage, metrics: readonly WatchedMetric[]): Points {
  return [
    ...background(stage, 360, metrics),
    ...calls(stage, 'simulateScoreRecovery', { from: -300, to: 0, every: 60 }),
    ...calls(stage, 'simulateScoreRecovery', { from: 0, to: 360, every: 60 }, { end: 'died' }),
  ];
}
