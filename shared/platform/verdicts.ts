/** The purpose of an answer. `report`: a fact of a report. `order`: the delivery of a revision order. The others belong to adaptive runs. */
export type Use = 'start' | 'run' | 'offer' | 'write' | 'read-back' | 'anchor' | 'report' | 'order';

/**
 * The meaning of an unusable answer; each service has a problem for each.
 *
 * - `wait`: the owner may answer later.
 * - `failed`: only the owner, or the operator of the service, can correct it.
 * - `absent`, `refused`: the id that the caller named is hidden or no id; an id from elsewhere has `failed`.
 * - `invalid`: the pool's projection exists and is broken; any other answer has `failed`.
 * - `drift`: a pinned thing has changed permanently.
 * - `finalizing`: the run waits with what is acknowledged. `unfinished`: its publication was refused.
 * - `doubt`: the anchor is not verified, which by itself refuses nothing.
 * - `missing`: the receiver takes no orders at present. `blocked`: it does not take this one.
 */
export type Verdict = ReadVerdict | 'finalizing' | 'unfinished' | 'doubt' | 'missing' | 'blocked';
/** The verdicts on an answer that a run or a report reads. */
type ReadVerdict = 'wait' | 'failed' | 'absent' | 'refused' | 'invalid' | 'drift';

interface AnswerRow {
  /** The meaning for a use that reads. */
  readonly read: ReadVerdict;
  /** How an answer is repeated before it counts: by the platform in the same call, or by its reader after a pause. */
  readonly repeated: 'at once' | 'after a pause' | 'never';
}

/** Every kind of unusable answer. A refusal is final. Owners recognize a repeated write, so a write is repeated like a read. */
const answers = {
  /** No answer, one that is cut off or late, or 408, 425, 429, 5xx. */
  unavailable: { read: 'wait', repeated: 'at once' },
  /** 401. */
  unauthorized: { read: 'wait', repeated: 'never' },
  /** 403, which refuses the service and means nothing about the id. */
  forbidden: { read: 'failed', repeated: 'never' },
  /** Any other final 4xx. */
  rejected: { read: 'failed', repeated: 'never' },
  /** 400, 414, 422, 431: no id of this owner. */
  'refused-id': { read: 'refused', repeated: 'never' },
  /** 404, 410. */
  'not-found': { read: 'absent', repeated: 'never' },
  /** 409, 412. */
  conflict: { read: 'failed', repeated: 'never' },
  /** Bytes that cannot be read, more of them than the owner promises, or a redirect. */
  malformed: { read: 'failed', repeated: 'at once' },
  /** JSON that differs from what its row promises. */
  invalid: { read: 'invalid', repeated: 'at once' },
  /** A well-formed answer about another tenant, or about another thing than the call named. */
  'wrong-tenant': { read: 'invalid', repeated: 'at once' },
  'wrong-entity': { read: 'invalid', repeated: 'at once' },
  /** The owner has not finished what the call asks for. */
  pending: { read: 'wait', repeated: 'never' },
  /** QTI's runtime lacks facts that it showed before. */
  older: { read: 'wait', repeated: 'after a pause' },
  /** It is not what was pinned. */
  differs: { read: 'drift', repeated: 'after a pause' },
  /** It breaks an invariant without having changed. */
  broken: { read: 'invalid', repeated: 'never' },
} as const satisfies Readonly<Record<string, AnswerRow>>;

export type AnswerKind = keyof typeof answers;
/** A fault of an answer's content, which its reader finds. */
export type Finding = 'pending' | 'older' | 'differs' | 'broken';
/** A fault of a call, which the platform finds. */
export type FaultKind = Exclude<AnswerKind, Finding>;

// SAFETY: the keys of an object are the names of its members.
export const answerKinds = Object.keys(answers) as readonly AnswerKind[];

const findings: ReadonlySet<AnswerKind> = new Set<Finding>(['pending', 'older', 'differs', 'broken']);
export const callKinds = answerKinds.filter((kind): kind is FaultKind => !findings.has(kind));

type ByKind<T> = Readonly<Record<AnswerKind, T>>;

function byKind<T>(valueOf: (kind: AnswerKind) => T): ByKind<T> {
  // SAFETY: there is one member per kind.
  return Object.fromEntries(answerKinds.map((kind) => [kind, valueOf(kind)])) as ByKind<T>;
}

const reading = byKind<Verdict>((kind) => answers[kind].read);

/** Returns the same verdict for every kind except the named ones. */
function mostly(verdict: Verdict, named: Partial<ByKind<Verdict>> = {}): ByKind<Verdict> {
  return { ...byKind(() => verdict), ...named };
}

/** The meaning of every kind of answer for every use: the one rule for the answers of all owners. */
export const verdicts: Readonly<Record<Use, ByKind<Verdict>>> = {
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

export const repetitions: ByKind<AnswerRow['repeated']> = byKind((kind) => answers[kind].repeated);
