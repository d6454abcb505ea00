import { isWithin, shareReading } from '#shared/kernel/shared-reading.ts';
import { keyNumber, type DataKeyOpener, type KeyRecord, type KeySettings } from './key-record.ts';
import type { KeyPurpose, KeyRing } from './key-ring.ts';
import { activeKey, READ_MS, REFRESH_MS } from './key-states.ts';

/** Tokens with invented key ids cause at most one extra read of the ring in this time. */
const UNKNOWN_KID_REFRESH_MS = 30_000;
const DATA_KEY_BYTES = 32;

interface KeyRingOptions {
  /** Each of its calls has to end within `READ_MS`. */
  readonly settings: KeySettings;
  /** Each of its calls has to end within `READ_MS`. */
  readonly kms: DataKeyOpener;
  /** Part of the context that every data key is bound to. */
  readonly stage: string;
  /** Only keys of these purposes are read and unwrapped. */
  readonly purposes: readonly KeyPurpose[];
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

interface PurposeKeys {
  readonly active: { readonly kid: string; readonly key: Uint8Array };
  /** Undefined for a retired key: it is known, and not to be read again. */
  readonly byKid: ReadonlyMap<string, Uint8Array | undefined>;
}

interface Loaded {
  /** When the read began: it sees everything written before. */
  readonly at: number;
  readonly keys: ReadonlyMap<KeyPurpose, PurposeKeys>;
}

/**
 * Creates the ring of one container. Its copy seals and opens for 30 seconds; a caller that finds an older copy waits for a new read, and fails if
 * that fails: no container uses a key that may have leaked without being able to check. An unknown key id causes one more read. Concurrent callers
 * share one read; a failure is not cached. A key that was unwrapped once is not sent to KMS again.
 */
export function createKeyRing({ settings, kms, stage, purposes, clock }: KeyRingOptions): KeyRing {
  let loaded: Loaded | undefined;
  let refreshedForUnknownAt: number | undefined;
  let unwrapped = new Map<string, Uint8Array>();

  async function readAt(at: number): Promise<Loaded> {
    const next = new Map<string, Uint8Array>();
    const keys = await Promise.all(
      purposes.map(async (purpose) => [purpose, await readPurpose(purpose, next)] as const),
    );
    // A container can be frozen at any point of a read.
    if (!isWithin(REFRESH_MS, at, clock())) throw new Error('the key ring was read too slowly to be used');
    unwrapped = next;
    loaded = { at, keys: new Map(keys) };
    return loaded;
  }

  async function readPurpose(purpose: KeyPurpose, next: Map<string, Uint8Array>): Promise<PurposeKeys> {
    const records = await settings.list(purpose);
    const byKid = new Map(
      await Promise.all(records.map(async (record) => [record.kid, await unwrap(record, next)] as const)),
    );
    const kid = activeKey(records)?.kid;
    const key = kid === undefined ? undefined : byKid.get(kid);
    if (kid === undefined || key === undefined) {
      throw new Error(`the key ring of stage ${stage} has no active key for ${purpose}`);
    }
    return { active: { kid, key }, byKid };
  }

  async function unwrap(record: KeyRecord, next: Map<string, Uint8Array>): Promise<Uint8Array | undefined> {
    const { purpose, kid, state, wrappedKey } = record;
    if (state === 'retired') return undefined;
    if (wrappedKey === undefined) throw new Error(`key ${kid} for ${purpose} is ${state} but not there`);
    const id = [purpose, kid, Buffer.from(wrappedKey).toString('base64')].join(' ');
    const key = unwrapped.get(id) ?? (await kms.open(wrappedKey, { stage, purpose, kid }));
    if (key.length !== DATA_KEY_BYTES) throw new Error(`key ${kid} for ${purpose} is not of 256 bits`);
    next.set(id, key);
    return key;
  }

  // The settings first, then KMS.
  const loading = shareReading(2 * READ_MS, clock, readAt);

  function current(): Promise<Loaded> {
    return loaded !== undefined && isWithin(REFRESH_MS, loaded.at, clock())
      ? Promise.resolve(loaded)
      : loading.begin();
  }

  function keysFor(ring: Loaded, purpose: KeyPurpose): PurposeKeys {
    const keys = ring.keys.get(purpose);
    if (keys === undefined) throw new Error(`this key ring was not made for ${purpose}`);
    return keys;
  }

  async function refreshForUnknown(): Promise<Loaded | undefined> {
    const wasRecent =
      refreshedForUnknownAt !== undefined && isWithin(UNKNOWN_KID_REFRESH_MS, refreshedForUnknownAt, clock());
    // A caller that arrives during that refresh shares it.
    if (!loading.isUnderWay() && wasRecent) return undefined;
    refreshedForUnknownAt = clock();
    try {
      return await loading.begin();
    } catch (error) {
      refreshedForUnknownAt = undefined;
      throw error;
    }
  }

  return {
    async active(purpose) {
      return keysFor(await current(), purpose).active;
    },
    async open(purpose, kid) {
      const before = loaded;
      const ring = await current();
      const { byKid } = keysFor(ring, purpose);
      if (byKid.has(kid)) return byKid.get(kid);
      // An id of another form was never issued, and what this very call has read need not be read again.
      if (keyNumber(kid) === undefined || ring !== before) return undefined;
      const refreshed = await refreshForUnknown();
      return refreshed === undefined ? undefined : keysFor(refreshed, purpose).byKid.get(kid);
    },
  };
}
