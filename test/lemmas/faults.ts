import { faultsByAnswer, openFaults, type faultKinds } from '#local/platform/faults.ts';
import { identitiesOf } from '#local/platform/routes.ts';
import { operations } from '#shared/platform/all-operations.ts';
import { callKinds, type FaultKind as CallKind } from '#shared/platform/verdicts.ts';

// Every way in which an owner's answer can go wrong: all that the platform emulator can do to an upstream operation.

/** An upstream call by the name of its row in `operations`: an id alone may be a read and a write. */
export type CallName = keyof typeof operations;

type FaultKind = (typeof faultKinds)[number];

/**
 * What a fault means for the function that made the call: the kind of the answer, which is the same however often it asks. `drifted` and
 * `stale`: another version and an older answer, in every answer; `…Once`: in one answer.
 */
export const meanings = [...callKinds, 'driftedOnce', 'drifted', 'staleOnce', 'stale'] as const;
export type Meaning = (typeof meanings)[number];

/** One fault of the platform's control API. */
export interface Arm {
  readonly kind: FaultKind;
  readonly times: number;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  readonly milliseconds?: number;
  readonly member?: string;
}

export interface Fault {
  readonly name: string;
  readonly meaning: Meaning;
  readonly arm: Arm;
}

/** More than any request asks. */
export const ALWAYS = 1_000;
/** Longer than any request may take. */
const RETRY_AFTER_SECONDS = 60;
/** Longer than any test: only the test ends the wait. */
const FOREVER_MS = 120_000;

const always = (kind: FaultKind, meaning: Meaning, name: string = kind, more: Partial<Arm> = {}): Fault => ({
  name,
  meaning,
  arm: { kind, times: ALWAYS, ...more },
});
const once = (kind: FaultKind, meaning: Meaning): Fault => ({
  name: `${kind} once`,
  meaning,
  arm: { kind, times: 1 },
});
const status = (code: number, meaning: Meaning, more: Partial<Arm> = {}): Fault =>
  always('status', meaning, String(code), { status: code, ...more });

/** The faults that give an answer of a kind, each with the members that it needs. */
function faultsGiving(answer: CallKind, call: CallName): readonly Fault[] {
  return faultsByAnswer[answer].flatMap((fault): readonly Fault[] => {
    if (typeof fault === 'number')
      return [status(fault, answer, fault === 429 ? { retryAfterSeconds: RETRY_AFTER_SECONDS } : {})];
    if (fault === 'other_entity')
      return identitiesOf(operations[call]).map((member) =>
        always(fault, answer, `another ${member}`, { member }),
      );
    if (fault !== 'latency') return [always(fault, answer)];
    // A write that is late would still be done, after the test.
    return operations[call].method === 'GET'
      ? [always(fault, answer, 'late', { milliseconds: FOREVER_MS })]
      : [];
  });
}

/**
 * Every fault that the platform can show for a call. What facts of an owner contradict depends on which: the tables of invariants are walked
 * by themselves.
 */
export function faultsOf(call: CallName): readonly Fault[] {
  const { id: operation, method } = operations[call];
  const versions = [
    ...[once('version_drift', 'driftedOnce'), always('version_drift', 'drifted')],
    ...[once('stale', 'staleOnce'), always('stale', 'stale')],
  ];
  return [...callKinds.flatMap((answer) => faultsGiving(answer, call)), ...versions].filter(
    ({ arm: { kind } }) => openFaults().arm({ operation, method, kind }).ok,
  );
}
