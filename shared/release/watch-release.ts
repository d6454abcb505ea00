import { err, type Result } from '#shared/kernel/result.ts';
import { isWithin, shareReading } from '#shared/kernel/shared-reading.ts';
import { openManifest, timeFault } from './manifest.ts';
import type { ManifestFault, ManifestTrust, ReleaseManifest } from './manifest.ts';
import { closed, releaseOf } from './release-state.ts';
import type { AppliedRelease, GateFlags, ReleaseState } from './release-state.ts';

/**
 * Why nothing is open although no operator has closed it. `unreadable`: the item cannot be read, or is none, and the last one is too old.
 * `never-applied`: there is no manifest. The others: the manifest proves nothing.
 */
export type ReleaseFault = 'unreadable' | 'never-applied' | ManifestFault;

/** What is open in the release at the moment. */
export interface WatchedRelease {
  readonly state: ReleaseState;
  /** Absent if flags and manifest are sound, and `state` follows from them. */
  readonly fault?: ReleaseFault;
  /** Why the item is unreadable. */
  readonly error?: unknown;
}

/** Returns what is open at the time of the call. Never rejects: an unknown gate state counts as closed. */
export type ReleaseWatch = () => Promise<WatchedRelease>;

export interface WatchOptions extends ManifestTrust {
  /** Reads the item that `gates apply` writes, consistently; undefined if none was ever written. Has to end within `READ_MS`. */
  readonly read: () => Promise<AppliedRelease | undefined>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** How long a read is valid: with the time of a read, less than the 30 seconds within which a withdrawal takes effect. */
export const FRESH_MS = 20_000;
/** From this age on the item is read again while the request that finds it so old continues without waiting. */
export const RENEW_MS = 10_000;
/** The longest time of one read. */
export const READ_MS = 3_000;

/** One read of the item, verified except for the times of its manifest. */
interface Reading {
  /** When the read began: it sees everything written before. */
  readonly at: number;
  readonly flags: GateFlags;
  readonly manifest: Result<ReleaseManifest, ReleaseFault>;
}

/**
 * Watches the release for one container. It reads the item when first asked. Most requests find a fresh read and cost no call; one in ten seconds
 * begins the next read and continues without it; only a request that finds an expired read waits. Concurrent requests share a read. It verifies a
 * signature once per manifest, and checks its times with every request.
 * A read that fails changes nothing, and is not cached: the last read is valid to its end, and from then on everything is closed, with another try at
 * each request, so that it opens again with the first one that succeeds.
 */
export function watchRelease({ read, key, stage, now }: WatchOptions): ReleaseWatch {
  let known: Reading | undefined;
  let opened: { readonly jws: string; readonly manifest: Reading['manifest'] } | undefined;

  async function open(jws: string): Promise<Reading['manifest']> {
    if (jws === '') return err('never-applied');
    if (opened?.jws !== jws) opened = { jws, manifest: await openManifest(jws, { key, stage }) };
    return opened.manifest;
  }

  async function readAt(at: number): Promise<Reading> {
    const applied = await read();
    const manifest = await open(applied?.manifest ?? '');
    const result: Reading = { at, flags: applied?.flags ?? {}, manifest };
    // A read that began before the container was frozen may end after a later one.
    if (known === undefined || known.at <= at || known.at > now()) known = result;
    return result;
  }

  const reading = shareReading(READ_MS, now, readAt);

  return async () => {
    if (known !== undefined && isWithin(FRESH_MS, known.at, now())) {
      // A request that has to wait learns of a failure.
      if (!isWithin(RENEW_MS, known.at, now())) reading.begin().catch(() => undefined);
      return view(known, now());
    }
    try {
      const result = await reading.begin();
      return isWithin(FRESH_MS, result.at, now())
        ? view(result, now())
        : { state: closed, fault: 'unreadable' };
    } catch (error) {
      return { state: closed, fault: 'unreadable', error };
    }
  };
}

function view({ manifest, flags }: Reading, now: number): WatchedRelease {
  if (!manifest.ok) return { state: closed, fault: manifest.error };
  const untimely = timeFault(manifest.value, now);
  return untimely === undefined
    ? { state: releaseOf(manifest.value, flags) }
    : { state: closed, fault: untimely };
}
