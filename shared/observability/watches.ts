import type { CountedCode } from './log-codes.ts';

/** Who hears an alarm. `page`: the operator on call at once, since learners are stopped. `ticket`: operators on the next working day. */
export const severities = ['page', 'ticket'] as const;
export type Severity = (typeof severities)[number];

/** When an alarm goes off: in at least `in` of the last `of` periods there was too much (or too little) of what it watches. */
export interface Rings {
  readonly perMinutes: 1 | 5 | 60;
  /** The fewest lines of a period that count. Absent: 1. */
  readonly atLeast?: number;
  readonly in: number;
  readonly of: number;
}

/** The words of an alarm. */
export interface AlarmWords {
  readonly title: string;
  /** Who is hurt, and how: a sentence. */
  readonly impact: string;
  /** A heading of docs/runbook.md, as its anchor. */
  readonly section: string;
}

export interface Watch extends AlarmWords {
  readonly severity: Severity;
  readonly rings: Rings;
  /** The dependency whose one alarm notifies in place of this one. Absent: this one notifies. */
  readonly dependency?: 'stores';
}

/** An alarm, or the reason why the lines of a code need none. */
export type Watched = Watch | { readonly quiet: string };

/* CloudWatch sees a line up to three minutes late, so a single period is never all that an alarm looks at. */

const AT_ONCE: Rings = { perMinutes: 1, in: 1, of: 5 };
/** A fault of AWS that lasts for less than a minute touches two of them at most. */
const REPEATEDLY: Rings = { perMinutes: 1, in: 3, of: 15 };
const WITHIN_A_DAY: Rings = { perMinutes: 5, in: 3, of: 288 };

const defect = (title: string, impact: string, rings: Rings = REPEATEDLY): Watch => ({
  ...{ severity: 'ticket', title, impact, section: 'defects', rings },
});

/** How the lines of every counted code are watched; a code without a row here does not compile. */
export const watches: Readonly<Record<CountedCode, Watched>> = {
  VERSION_REJECTED: {
    severity: 'ticket',
    title: 'A new version failed its check',
    impact: 'No caller is affected: the former version serves them. The release is not deployed.',
    section: 'deployment-went-back',
    rings: AT_ONCE,
  },
  VERSION_UNPROVED: {
    severity: 'ticket',
    title: 'A new version went live unproved',
    impact: 'No caller is affected unless the version has a fault that the check could not find.',
    section: 'version-unproved',
    rings: AT_ONCE,
  },
  REQUEST_FAILED: defect('A defect fails requests', 'Callers receive 500 where they should get a result.'),
  STORE_UNAVAILABLE: {
    severity: 'page',
    title: 'A store of the service is unavailable',
    impact: 'Requests fail with a problem that clients may repeat, and improvement runs do not progress.',
    section: 'store-unavailable',
    rings: { ...REPEATEDLY, atLeast: 3 },
    dependency: 'stores',
  },
  TENANT_RATE_LIMITED: {
    severity: 'ticket',
    title: 'A tenant sends more requests than the stage admits',
    impact: 'Clients of that tenant receive 429, its learners in the middle of a test among them.',
    section: 'tenant-rate-limited',
    rings: REPEATEDLY,
  },
  REQUEST_UNCOUNTED: {
    severity: 'ticket',
    title: 'Requests are admitted without being counted',
    impact: 'The bound of each tenant does not hold exactly: one tenant can slow down the others.',
    section: 'table-throttles',
    rings: REPEATEDLY,
  },
  KEY_SET_UNREACHABLE: {
    severity: 'ticket',
    title: 'The issuer’s key set cannot be read',
    impact: 'After 24 hours, and in new containers at once, every request of every tenant is rejected.',
    section: 'key-set-unreachable',
    rings: REPEATEDLY,
  },
  ENVIRONMENT_INVALID: defect(
    'A function has no valid settings',
    'Every call of the function fails until it is deployed again.',
    AT_ONCE,
  ),
  RELEASE_WITHDRAWN: {
    quiet: 'An operator closed the gate, and the routes disappear with the next deployment.',
  },
  RELEASE_UNPROVED: {
    severity: 'page',
    title: 'Nothing proves which release gates are open',
    impact: 'Every route that needs a release gate returns 503, for all tenants.',
    section: 'release-unproved',
    rings: { ...REPEATEDLY, atLeast: 3 },
    dependency: 'stores',
  },
  ANSWER_REFUSED: defect(
    'The service composes responses that violate its contract',
    'Callers receive 500 where they should get a result. None received the wrong response.',
  ),
  ANSWER_BROKEN: defect(
    'A defect ends streamed responses early',
    'Callers receive incomplete reports, which no JSON parser accepts.',
  ),
  FACTS_CONTRADICTORY: {
    severity: 'ticket',
    title: 'Facts of an owner contradict each other',
    impact: 'The reports on these attempts are withheld until the owner corrects its facts.',
    section: 'facts-contradictory',
    rings: WITHIN_A_DAY,
  },
  GAP_NOT_GOVERNED: {
    severity: 'ticket',
    title: 'A report shows gaps that no criterion of its gate covers',
    impact:
      'No learner is hurt if Results and Content intend this. If they do not, the report shows a gap too many.',
    section: 'gap-not-governed',
    rings: { perMinutes: 60, in: 1, of: 24 },
  },
  PROBLEM_UNDECLARED: defect(
    'A route returns a problem that it does not declare',
    'Clients that were built from the API document meet a problem that they do not know.',
  ),
  OPERATION_UNSETTLED: {
    severity: 'ticket',
    title: 'Finished work is not recorded as finished',
    impact: 'A client that repeats its request waits until the lease has expired. Nothing is done twice.',
    section: 'store-unavailable',
    rings: REPEATEDLY,
  },
  PROFILE_UNREADABLE: {
    severity: 'page',
    title: 'Service profiles cannot be read',
    impact:
      'Functions that have a tenant’s profile use it for at most four hours; requests to the others fail with a problem that clients may repeat.',
    section: 'profile-unreadable',
    rings: { ...REPEATEDLY, atLeast: 3 },
    dependency: 'stores',
  },
  PROFILE_INVALID: {
    severity: 'page',
    title: 'The service profile of a tenant cannot be used',
    impact: 'Every request of one tenant fails, and its learners cannot continue their tests.',
    section: 'profile-invalid',
    rings: REPEATEDLY,
  },
  UPSTREAM_CALL_FAILED: { quiet: 'If the request fails for it, UPSTREAM_FAILED counts against the owner.' },
  UPSTREAM_ANSWER_REFUSED: {
    severity: 'ticket',
    title: 'An owner sends responses that violate its contract',
    impact: 'No learner is hurt while the repeated call succeeds. Each of these requests takes longer.',
    section: 'owner-failing',
    rings: WITHIN_A_DAY,
  },
  OWNER_CIRCUIT_OPENED: { quiet: 'The three requests before it have counted against the owner.' },
  UPSTREAM_FAILED: { quiet: 'It counts against the owner that it names, whose alarm it is.' },
  RUN_WAITS: {
    severity: 'ticket',
    title: 'Many runs wait for an owner’s response',
    impact: 'Learners see that their answer is being scored, and do not get the next question.',
    section: 'runs-wait-for-owner',
    rings: { perMinutes: 5, atLeast: 10, in: 3, of: 6 },
  },
  ANSWERS_UNUSUAL: {
    quiet: 'The result itself states it to those who use it, and one in 100 is due to chance.',
  },
  FINALIZATION_REFUSED: {
    severity: 'ticket',
    title: 'Results rejects the results of finished runs',
    impact:
      'These learners have finished their test, and nobody sees the result until Results or the learner’s reference is corrected.',
    section: 'finalization-refused',
    rings: { ...WITHIN_A_DAY, in: 2 },
  },
  POOL_RECEIPT: {
    severity: 'ticket',
    title: 'The item pool of a test violates its contract',
    impact: 'Learners cannot continue the runs on that pool.',
    section: 'pool-invalid',
    rings: REPEATEDLY,
  },
  SIMULATION_OUT_OF_TIME: {
    severity: 'ticket',
    title: 'Score-recovery simulations exceed their time',
    impact: 'A psychometrician gets no result. No learner is hurt.',
    section: 'function-slow',
    rings: WITHIN_A_DAY,
  },
  RECEIPT_ABSENT: {
    severity: 'ticket',
    title: 'A receipt bundle is missing',
    impact: 'A client cannot download a receipt that an improvement run refers to.',
    section: 'receipt-absent',
    rings: AT_ONCE,
  },
  MESSAGE_REFUSED: { quiet: 'The message goes to the dead-letter queue, whose alarm goes off.' },
  IMPROVEMENT_RUN_STALLED: {
    quiet: 'It counts against the owner that it names, and a run that stays stalled waits in the queue.',
  },
  IMPROVEMENT_RUN_FAILED: {
    severity: 'ticket',
    title: 'An improvement run ended without a result',
    impact: 'The administration has no alignment report until it is analyzed again.',
    section: 'run-failed',
    rings: AT_ONCE,
  },
  BACKGROUND_WORK_BROKEN: defect(
    'The work of a background function stops',
    'Improvement runs do not progress, or keys are not rotated. Requests are not affected.',
    { perMinutes: 5, in: 2, of: 36 },
  ),
  STAGE_FINDING: { quiet: 'It counts against the check that it names, whose alarm it is.' },
  CANARY_FAILED: { quiet: 'A single call may fail. Each step has an alarm for several in a row.' },
  KEY_ROTATION_POSTPONED: { quiet: 'If it stays postponed, the age of the active key goes off.' },
};
