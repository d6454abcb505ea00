import { err, ok, type Ok, type Result } from '#shared/kernel/result.ts';
import { keyNumber, type KeyMove, type KeyRecord } from './key-record.ts';
import type { KeyState } from './key-ring.ts';

/** The greatest age of a copy of the ring that seals or opens: after this time a change is in effect in every container. */
export const REFRESH_MS = 30_000;
/**
 * Before a new key seals, every container must be able to open with it. Containers of version 0.1.0, which may run at the same time, read the ring
 * every five minutes: two such periods, one of them as a margin.
 */
export const PROMOTE_AFTER_MS = 10 * 60_000;
/** A sealed value lives for at most 24 hours, and a container may seal with the previous key for a while after it left `active`. */
export const RETIRE_AFTER_MS = 24 * 3_600_000 + PROMOTE_AFTER_MS;
/** The longest time of one call for the ring. */
export const READ_MS = 3_000;

/** One step of a plan, before keys are created and times are set. */
export type KeyStep =
  | { readonly kind: 'create'; readonly kid: string; readonly state: 'pending' | 'active' }
  | KeyMove;

/** A key whose waiting time is not over. */
export interface Waiting {
  readonly kid: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** The steps that are due now, together, and what has to wait. */
export interface KeyPlan {
  readonly steps: readonly KeyStep[];
  readonly waiting: readonly Waiting[];
}

export type KeyPlanError =
  | { readonly kind: 'not-initialized' }
  | { readonly kind: 'unknown-key'; readonly kid: string }
  | { readonly kind: 'not-opening'; readonly kid: string; readonly state: KeyState };

/** Plans the steps for the keys of a purpose. @param now epoch milliseconds */
export type KeyPlanner = (records: readonly KeyRecord[], now: number) => Result<KeyPlan, KeyPlanError>;

function planOf(steps: readonly KeyStep[], waiting: readonly Waiting[] = []): Ok<KeyPlan> {
  return ok({ steps, waiting });
}

/** Plans the first key of a purpose, active at once: no value can have been sealed with another one. Plans nothing if one is active. */
export const planInit: KeyPlanner = (records) =>
  planOf(
    activeKey(records) === undefined ? [{ kind: 'create', kid: nextKid(records), state: 'active' }] : [],
  );

/** Plans to create the successor, or to activate it once it has waited long enough. */
export const planRotate: KeyPlanner = (records, now) => {
  const active = activeKey(records);
  if (active === undefined) return err({ kind: 'not-initialized' });
  const pending = pendingKey(records);
  if (pending === undefined) {
    const kid = nextKid(records);
    return planOf([{ kind: 'create', kid, state: 'pending' }], [{ kid, until: now + PROMOTE_AFTER_MS }]);
  }
  const until = pending.createdAt + PROMOTE_AFTER_MS;
  return now < until ? planOf([], [{ kid: pending.kid, until }]) : planOf(takeOver(active, pending));
};

/**
 * Plans as a schedule does: begins a rotation once the active key has sealed for the period, ends one that is under way, and retires what is due.
 * @param period milliseconds
 */
export function planScheduled(period: number): KeyPlanner {
  return (records, now) => {
    const active = activeKey(records);
    if (active === undefined) return err({ kind: 'not-initialized' });
    const isDue = pendingKey(records) !== undefined || now - sealingSince(active) >= period;
    const rotation = isDue ? planRotate(records, now) : planOf([]);
    if (!rotation.ok) return rotation;
    const { steps, waiting } = planRetire(records, now).value;
    return planOf([...rotation.value.steps, ...steps], [...rotation.value.waiting, ...waiting]);
  };
}

/** Returns since when a key has sealed, in epoch milliseconds. */
export function sealingSince({ activatedAt, createdAt }: KeyRecord): number {
  return activatedAt ?? createdAt;
}

/** Plans for a leaked active key: a successor seals at once. A container without it opens its values anyway, by its refresh for an unknown kid. */
export const planReplace: KeyPlanner = (records) => {
  const active = activeKey(records);
  if (active === undefined) return err({ kind: 'not-initialized' });
  const pending = pendingKey(records);
  if (pending !== undefined) return planOf(takeOver(active, pending));
  return planOf([
    { kind: 'create', kid: nextKid(records), state: 'active' },
    { kind: 'move', kid: active.kid, from: 'active', to: 'opening' },
  ]);
};

/** Plans to retire every key that has been `opening` long enough; its wrapped form is deleted. */
export function planRetire(records: readonly KeyRecord[], now: number): Ok<KeyPlan> {
  const steps: KeyStep[] = [];
  const waiting: Waiting[] = [];
  for (const { kid, state, openingAt } of inOrder(records)) {
    if (state !== 'opening') continue;
    // A key without the time cannot result from these rules: it waits from now on.
    const until = (openingAt ?? now) + RETIRE_AFTER_MS;
    if (now < until) waiting.push({ kid, until });
    else steps.push({ kind: 'move', kid, from: 'opening', to: 'retired' });
  }
  return planOf(steps, waiting);
}

/** Plans to retire a leaked key without waiting; what it sealed is lost. It must have been replaced before. */
export function planRetireNow(kid: string): KeyPlanner {
  return (records) => {
    const state = records.find((candidate) => candidate.kid === kid)?.state;
    if (state === undefined) return err({ kind: 'unknown-key', kid });
    if (state === 'retired') return planOf([]);
    if (state !== 'opening') return err({ kind: 'not-opening', kid, state });
    return planOf([{ kind: 'move', kid, from: 'opening', to: 'retired', leaked: true }]);
  };
}

/** Returns the key that seals. */
export function activeKey(records: readonly KeyRecord[]): KeyRecord | undefined {
  return inOrder(records).findLast((record) => record.state === 'active');
}

function pendingKey(records: readonly KeyRecord[]): KeyRecord | undefined {
  return inOrder(records).find((record) => record.state === 'pending');
}

/** Sorts keys, oldest first. */
export function inOrder(records: readonly KeyRecord[]): readonly KeyRecord[] {
  return records.toSorted((a, b) => (keyNumber(a.kid) ?? 0) - (keyNumber(b.kid) ?? 0));
}

function takeOver(active: KeyRecord, successor: KeyRecord): readonly KeyStep[] {
  return [
    { kind: 'move', kid: successor.kid, from: 'pending', to: 'active' },
    { kind: 'move', kid: active.kid, from: 'active', to: 'opening' },
  ];
}

/** Returns the next number, so that two concurrent administrators ask for the same one, and only one of them gets it. */
function nextKid(records: readonly KeyRecord[]): string {
  return `k${Math.max(0, ...records.map((record) => keyNumber(record.kid) ?? 0)) + 1}`;
}
