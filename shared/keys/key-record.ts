import type { KeyPurpose, KeyState } from './key-ring.ts';

/** One data key of the ring, wrapped. Times are milliseconds since the epoch. */
export interface KeyRecord {
  readonly purpose: KeyPurpose;
  /** `k1`, `k2`, …: a number is never reused for its purpose. */
  readonly kid: string;
  readonly state: KeyState;
  /** The data key as KMS wrapped it under its encryption context; a retired key has none. */
  readonly wrappedKey?: Uint8Array;
  readonly createdAt: number;
  readonly activatedAt?: number;
  /** When it stopped sealing and was kept only for opening. */
  readonly openingAt?: number;
  readonly retiredAt?: number;
  /** It was retired because it had leaked, while values that it had sealed were still valid. */
  readonly leaked?: true;
}

/** A key moves to its next state. */
export interface KeyMove {
  readonly kind: 'move';
  readonly kid: string;
  readonly from: KeyState;
  readonly to: Exclude<KeyState, 'pending'>;
  readonly leaked?: true;
}

/** One change of the ring; it applies only if the key is still as the plan found it. */
export type KeyChange =
  | { readonly kind: 'create'; readonly record: KeyRecord }
  | (KeyMove & { readonly purpose: KeyPurpose; readonly at: number });

/** The store of the key ring, as far as a function may use it. */
export interface KeySettings {
  /** Lists all keys of a purpose, in no particular order, by a consistent read. */
  list(purpose: KeyPurpose, signal?: AbortSignal): Promise<readonly KeyRecord[]>;
}

/** The store for the administrator of the ring. */
export interface WritableKeySettings extends KeySettings {
  /** Makes all changes or none; returns false if a key was not (or no longer) in the state that a change names. */
  write(changes: readonly KeyChange[]): Promise<boolean>;
}

/** The context that a wrapped key is bound to: KMS opens it for no other. */
export type KeyContext = Readonly<Record<'stage' | 'purpose' | 'kid', string>>;

/** The part of KMS that a function uses. */
export interface DataKeyOpener {
  open(wrappedKey: Uint8Array, context: KeyContext, signal?: AbortSignal): Promise<Uint8Array>;
}

/** The part of KMS that creates new keys: the administrator of the ring never sees their plaintext. */
export interface DataKeyMaker {
  make(context: KeyContext): Promise<Uint8Array>;
}

/** Returns the number in a key id; undefined for an id that this ring cannot have issued. */
export function keyNumber(kid: string): number | undefined {
  const digits = /^k([1-9]\d{0,8})$/.exec(kid)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
