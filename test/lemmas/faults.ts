import { openFaults } from '#local/platform/faults.ts';
import type { faultKinds } from '#local/platform/faults.ts';
import { identitiesOf } from '#local/platform/routes.ts';
import { operations } from '#shared/platform/all-operations.ts';

// Every way in which an owner's answer can go wrong: all that the platform emulator can do to an upstream operation.

/** An upstream call by the name of its row in `operations`: an id alone may be a read and a write. */
export type CallName = keyof typeof operations;

type FaultKind = (typeof faultKinds)[number];

/**
 * What a fault means for the function that made the call. `silent`: no whole answer in time, however often it asks. `garbled`: not what the
 * contract promises. `foreign`: another tenant's. `another`: about something else than was asked for. `drifted` and `stale`: another version
 * and an older answer, in every answer; `…Once`: in one answer. The others are refusals by their statuses.
 */
export const meanings = [
  ...(['silent', 'garbled', 'unauthorized', 'forbidden', 'absent', 'conflicting', 'rejected'] as const),
  ...(['foreign', 'another', 'driftedOnce', 'drifted', 'staleOnce', 'stale'] as const),
] as const;
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

/** The faults of each kind: a new kind of the emulator does not compile without its line here. */
const faultsOfKind: Readonly<Record<FaultKind, (call: CallName) => readonly Fault[]>> = {
  down: () => [always('down', 'silent')],
  cut: () => [always('cut', 'silent')],
  // A write that is late would still be done, after the test.
  latency: (call) =>
    operations[call].method === 'GET'
      ? [always('latency', 'silent', 'late', { milliseconds: FOREVER_MS })]
      : [],
  lost_acknowledgement: () => [always('lost_acknowledgement', 'silent')],
  status: () => [
    status(500, 'silent'),
    status(503, 'silent'),
    status(429, 'silent', { retryAfterSeconds: RETRY_AFTER_SECONDS }),
    status(401, 'unauthorized'),
    status(403, 'forbidden'),
    status(404, 'absent'),
    status(409, 'conflicting'),
    status(422, 'rejected'),
  ],
  malformed: () => [always('malformed', 'garbled')],
  overlong_id: () => [always('overlong_id', 'garbled')],
  wrong_tenant: () => [always('wrong_tenant', 'foreign')],
  other_entity: (call) =>
    identitiesOf(operations[call]).map((member) =>
      always('other_entity', 'another', `another ${member}`, { member }),
    ),
  // What facts of an owner contradict depends on which: the tables of invariants are walked by themselves.
  duplicate_row: () => [],
  out_of_range: () => [],
  contradiction: () => [],
  version_drift: () => [once('version_drift', 'driftedOnce'), always('version_drift', 'drifted')],
  stale: () => [once('stale', 'staleOnce'), always('stale', 'stale')],
};

/** Every fault that the platform can show for a call. */
export function faultsOf(call: CallName): readonly Fault[] {
  const { id: operation, method } = operations[call];
  const kinds = Object.keys(faultsOfKind) as FaultKind[];
  return kinds
    .filter((kind) => openFaults().arm({ operation, method, kind }).ok)
    .flatMap((kind) => faultsOfKind[kind](call));
}
