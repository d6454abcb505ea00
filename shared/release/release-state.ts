import type { FinerReceipt, Gate, GateName, Provable } from '#shared/contract/gates.ts';
import { gates, provable, routeGates } from '#shared/contract/gates.ts';
import type { ReleaseManifest } from './manifest.ts';

/** What of a release is open, and what is proved beyond gates. */
export interface ReleaseState {
  readonly open: ReadonlySet<Gate>;
  readonly proved: ReadonlySet<Provable>;
}

/** Nothing is open. */
export const closed: ReleaseState = { open: new Set(), proved: new Set() };

/** Everything is open. */
export const allOpen: ReleaseState = { open: new Set(routeGates), proved: new Set(provable) };

/** What a function waits for, as its row says it. */
export interface Gated {
  readonly gates: readonly Gate[];
  readonly receipts?: readonly FinerReceipt[];
}

/** Whether everything that a function waits for is there: all of its gates open [RP-021], and its finer receipts proved [RP-023]. */
export function isReleased(row: Gated, release: ReleaseState): boolean {
  return missingFor(row, release).length === 0;
}

/** What a function still waits for. */
export function missingFor(
  { gates: needed, receipts = [] }: Gated,
  { open, proved }: ReleaseState,
): readonly Provable[] {
  return [...needed.filter((gate) => !open.has(gate)), ...receipts.filter((name) => !proved.has(name))];
}

/** What a flag can say. */
export const flagValues = ['open', 'closed'] as const;

/** The flags of a stage, as they were last applied. */
export type GateFlags = Readonly<Partial<Record<GateName, (typeof flagValues)[number]>>>;

/** The receipt by which a stage's gate D was opened: the two-tenant proof, or a rehearsal of it, which proves nothing. */
export interface IsolationProof {
  /** SHA-256 of the receipt's bytes. */
  readonly digest: string;
  readonly outcome: 'proved' | 'rehearsed';
}

/** What a receipt says of the stage's last isolation proof. `unreadable`: the table gave no answer. */
export type KnownIsolation = IsolationProof | { readonly outcome: 'not_proved' | 'unreadable' };

/** Tells of the stage's last isolation proof. Never rejects: nothing waits for a proof that cannot be read. */
export type IsolationWatch = () => Promise<KnownIsolation>;

/** The release as it was last applied, for functions that are deployed already. Nothing of it is verified. */
export interface AppliedRelease {
  /** The manifest's compact JWS; empty when none was ever applied, which verifies as nothing. */
  readonly manifest: string;
  readonly flags: GateFlags;
  /** Epoch milliseconds. */
  readonly appliedAt: number;
  /** Absent while no manifest with a receipt for gate D was applied. */
  readonly isolationProof?: IsolationProof;
}

/** The flags among named texts, for whoever cannot ask back: what is not plainly open is closed, and another name is no gate. */
export function flagsOf(texts: Readonly<Record<string, string | undefined>>): GateFlags {
  const given = gates.filter((gate) => texts[gate] !== undefined);
  return Object.fromEntries(given.map((gate) => [gate, texts[gate] === 'open' ? 'open' : 'closed']));
}

/**
 * What a verified manifest and the flags open together: a gate whose flag is open and for which the manifest has a receipt, while gate E,
 * the manifest itself, is open [RP-025]. A flag alone opens nothing, and neither does a receipt.
 */
export function releaseOf(manifest: ReleaseManifest, flags: GateFlags): ReleaseState {
  if (flags.E !== 'open') return closed;
  const named = new Set(manifest.receipts.map(({ proves }) => proves));
  const proved = new Set(provable.filter((name) => named.has(name)));
  const open = routeGates.filter((gate) => flags[gate] === 'open' && proved.has(gate));
  return { open: new Set(open), proved };
}
