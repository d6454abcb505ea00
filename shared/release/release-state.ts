import type { FinerReceipt, Gate, GateName, Provable } from '#shared/contract/gates.ts';
import { gates, provable, routeGates } from '#shared/contract/gates.ts';
import type { ReleaseManifest } from './manifest.ts';

/** What is open in a release, and what it proves in addition to gates. */
export interface ReleaseState {
  readonly open: ReadonlySet<Gate>;
  readonly proved: ReadonlySet<Provable>;
}

export const closed: ReleaseState = { open: new Set(), proved: new Set() };

export const allOpen: ReleaseState = { open: new Set(routeGates), proved: new Set(provable) };

/** What a function waits for, according to its row. */
export interface Gated {
  readonly gates: readonly Gate[];
  readonly receipts?: readonly FinerReceipt[];
}

/** Returns whether everything that a function waits for is there: all of its gates open [RP-021], and its finer receipts proved [RP-023]. */
export function isReleased(row: Gated, release: ReleaseState): boolean {
  return missingFor(row, release).length === 0;
}

export function missingFor(
  { gates: needed, receipts = [] }: Gated,
  { open, proved }: ReleaseState,
): readonly Provable[] {
  return [...needed.filter((gate) => !open.has(gate)), ...receipts.filter((name) => !proved.has(name))];
}

export const flagValues = ['open', 'closed'] as const;

/** The flags of a stage, as they were last applied. */
export type GateFlags = Readonly<Partial<Record<GateName, (typeof flagValues)[number]>>>;

/** The receipt that opened a stage's gate D: the two-tenant proof, or a rehearsal of it, which proves nothing. */
export interface IsolationProof {
  /** SHA-256 of the receipt's bytes. */
  readonly digest: string;
  readonly outcome: 'proved' | 'rehearsed';
}

/** What a receipt states about the stage's last isolation proof. `unreadable`: the table did not respond. */
export type KnownIsolation = IsolationProof | { readonly outcome: 'not_proved' | 'unreadable' };

/** Returns the stage's last isolation proof. Never rejects: nothing waits for a proof that cannot be read. */
export type IsolationWatch = () => Promise<KnownIsolation>;

/** The release as it was last applied, for functions that are already deployed. None of it is verified. */
export interface AppliedRelease {
  /** The manifest's compact JWS; empty if none was ever applied, which fails verification. */
  readonly manifest: string;
  readonly flags: GateFlags;
  /** Epoch milliseconds. */
  readonly appliedAt: number;
  /** Absent until a manifest with a receipt for gate D has been applied. */
  readonly isolationProof?: IsolationProof;
}

/** Returns the flags among named texts, for a caller that cannot ask for correction: all but `open` is closed, and any other name is no gate. */
export function flagsOf(texts: Readonly<Record<string, string | undefined>>): GateFlags {
  const given = gates.filter((gate) => texts[gate] !== undefined);
  return Object.fromEntries(given.map((gate) => [gate, texts[gate] === 'open' ? 'open' : 'closed']));
}

/**
 * Returns what a verified manifest and the flags open together: a gate whose flag is open and for which the manifest has a receipt, while gate E, the
 * manifest itself, is open [RP-025]. Neither a flag nor a receipt opens a gate by itself.
 */
export function releaseOf(manifest: ReleaseManifest, flags: GateFlags): ReleaseState {
  if (flags.E !== 'open') return closed;
  const named = new Set(manifest.receipts.map(({ proves }) => proves));
  const proved = new Set(provable.filter((name) => named.has(name)));
  const open = routeGates.filter((gate) => flags[gate] === 'open' && proved.has(gate));
  return { open: new Set(open), proved };
}
