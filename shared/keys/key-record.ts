import type { KeyPurpose, KeyState } from './key-ring.ts';

/** One data key of the ring, wrapped. Times are milliseconds since the epoch. */
export interface KeyRecord {
  readonly purpose: KeyPurpose;
  /** `k1`, `k2`, …: a number is never used again for its purpose. */
  readonly kid: string;
  readonly state: KeyState;
  /** The data key as KMS wrapped it under its encryption context; a retired key has none left. */
  readonly wrappedKey?: Uint8Array;
  readonly createdAt: number;
  readonly activatedAt?: number;
  /** When it stopped sealing and was kept for opening. */
  readonly openingAt?: number;
  readonly retiredAt?: number;
  /** It was retired because it had leaked, while what it had sealed was still valid. */
  readonly leaked?: true;
}

/** A key comes into its next state. */
export interface KeyMove {
  readonly kind: 'move';
  readonly kid: string;
  readonly from: KeyState;
  readonly to: Exclude<KeyState, 'pending'>;
  readonly leaked?: true;
}

/** One change of the ring; it only happens to a key that is still as the plan found it. */
export type KeyChange =
  | { readonly kind: 'create'; readonly record: KeyRecord }
  | (KeyMove & { readonly purpose: KeyPurpose; readonly at: number });

/** Where the key ring is kept, as far as a function may use it. */
export interface KeySettings {
  /** All keys of a purpose, in no particular order, as of now (no stale read). */
  list(purpose: KeyPurpose, signal?: AbortSignal): Promise<readonly KeyRecord[]>;
}

/** The same for the one who administers the ring. */
export interface WritableKeySettings extends KeySettings {
  /** Makes all changes or none; false when a key was not (or no longer) in the state that a change names. */
  write(changes: readonly KeyChange[]): Promise<boolean>;
}

/** What a wrapped key is bound to: KMS opens it for nothing else. */
export type KeyContext = Readonly<Record<'stage' | 'purpose' | 'kid', string>>;

/** The part of KMS that a function uses. */
export interface DataKeyOpener {
  open(wrappedKey: Uint8Array, context: KeyContext, signal?: AbortSignal): Promise<Uint8Array>;
}

/** The part of KMS that makes new keys: their plaintext is never seen where the ring is administered. */
export interface DataKeyMaker {
  make(context: KeyContext): Promise<Uint8Array>;
}

/** The number in a key id; undefined for anything that this ring cannot have issued. */
export function keyNumber(kid: string): number | undefined {
  const digits = /^k([1-9]\d{0,8})$/.exec(kid)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
