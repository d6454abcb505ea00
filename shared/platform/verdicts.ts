/**
 * Why an upstream call gave no usable answer.
 *
 * - `unavailable`: no answer, a cut or late one, or 408, 425, 429, 5xx.
 * - `unauthorized`: 401. `forbidden`: 403, which refuses the service and reveals nothing of the id. `rejected`: any other final 4xx.
 * - `not-found`: 404, 410. `refused-id`: 400, 414, 422, 431: no id of this owner. `conflict`: 409, 412.
 * - `malformed`: bytes that cannot be read, a redirect, or more of them than the owner promises. `invalid`: JSON that is not what its row promises.
 * - `wrong-tenant`, `wrong-entity`: a well-formed answer about another tenant, or about something else than was asked for.
 */
export type FaultKind =
  | 'unavailable'
  | 'unauthorized'
  | 'forbidden'
  | 'rejected'
  | 'not-found'
  | 'refused-id'
  | 'conflict'
  | 'malformed'
  | 'invalid'
  | 'wrong-tenant'
  | 'wrong-entity';

/** What an answer is used for. `report`: a fact of a report. `order`: the delivery of a revision order. The rest belongs to adaptive runs. */
export type Use = 'start' | 'run' | 'offer' | 'write' | 'read-back' | 'anchor' | 'report' | 'order';

/**
 * What is wrong with an answer: with the call, which the platform finds, or with what it contains, which its reader finds.
 * `pending`: the owner has not finished what was asked for. `older`: QTI's runtime lacks what it showed before. `differs`: it is not what was
 * pinned. `broken`: it breaks an invariant without having changed.
 */
export type Finding = 'pending' | 'older' | 'differs' | 'broken';
export type AnswerKind = FaultKind | Finding;

/**
 * What an unusable answer means; each service has the problem of each.
 *
 * - `wait`: the owner may answer later.
 * - `failed`: only the owner, or who operates it, can mend it.
 * - `absent`, `refused`: what the caller named is hidden or no id; an id from elsewhere has `failed`.
 * - `invalid`: the pool's projection is there and broken; any other answer has `failed`.
 * - `drift`: what was pinned has changed for good.
 * - `finalizing`: the run waits with what is acknowledged. `unfinished`: its publication was refused.
 * - `doubt`: the anchor is not verified, which refuses nothing by itself.
 * - `missing`: the receiver takes no orders now. `blocked`: it does not take this one.
 */
export type Verdict =
  | 'wait'
  | 'failed'
  | 'absent'
  | 'refused'
  | 'invalid'
  | 'drift'
  | 'finalizing'
  | 'unfinished'
  | 'doubt'
  | 'missing'
  | 'blocked';

type Verdicts = Readonly<Record<AnswerKind, Verdict>>;

const reading: Verdicts = {
  unavailable: 'wait',
  unauthorized: 'wait',
  forbidden: 'failed',
  rejected: 'failed',
  'refused-id': 'refused',
  'not-found': 'absent',
  conflict: 'failed',
  malformed: 'failed',
  invalid: 'invalid',
  'wrong-tenant': 'invalid',
  'wrong-entity': 'invalid',
  pending: 'wait',
  older: 'wait',
  differs: 'drift',
  broken: 'invalid',
};

/** Every kind of answer that cannot be used. */
// SAFETY: the table has a member per kind.
export const answerKinds = Object.keys(reading) as readonly AnswerKind[];

const findings: ReadonlySet<AnswerKind> = new Set<Finding>(['pending', 'older', 'differs', 'broken']);

/** Those that the platform finds. */
export const callKinds = answerKinds.filter((kind): kind is FaultKind => !findings.has(kind));

/** The same verdict for every kind but those that are named. */
function mostly(verdict: Verdict, named: Partial<Verdicts> = {}): Verdicts {
  // SAFETY: a member per kind.
  const same = Object.fromEntries(answerKinds.map((kind) => [kind, verdict])) as Verdicts;
  return { ...same, ...named };
}

/** What every kind of answer means for every use: the one rule for the answers of all owners. */
export const verdicts: Readonly<Record<Use, Verdicts>> = {
  start: reading,
  run: reading,
  offer: reading,
  write: mostly('unfinished', { unavailable: 'finalizing' }),
  // An event that has just been accepted may not be shown yet.
  'read-back': mostly('unfinished', { unavailable: 'finalizing', pending: 'finalizing' }),
  anchor: mostly('doubt'),
  report: { ...reading, 'wrong-tenant': 'refused' },
  order: mostly('blocked', {
    unavailable: 'missing',
    unauthorized: 'missing',
    forbidden: 'missing',
    'not-found': 'missing',
    'wrong-tenant': 'missing',
  }),
};

/**
 * How an answer is repeated before it counts: by the platform in the same call, or by its reader after a pause. A refusal is an owner's last
 * word. Every write is one that its owner recognises again, so it is repeated like a read.
 */
export const repetitions: Readonly<Record<AnswerKind, 'at once' | 'after a pause' | 'never'>> = {
  unavailable: 'at once',
  malformed: 'at once',
  invalid: 'at once',
  'wrong-tenant': 'at once',
  'wrong-entity': 'at once',
  older: 'after a pause',
  differs: 'after a pause',
  pending: 'never',
  unauthorized: 'never',
  forbidden: 'never',
  rejected: 'never',
  'refused-id': 'never',
  'not-found': 'never',
  conflict: 'never',
  broken: 'never',
};
