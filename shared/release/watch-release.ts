import { err, type Result } from '#shared/kernel/result.ts';
import { isWithin, shareReading } from '#shared/kernel/shared-reading.ts';
import { openManifest, timeFault } from './manifest.ts';
import type { ManifestFault, ManifestTrust, ReleaseManifest } from './manifest.ts';
import { closed, releaseOf } from './release-state.ts';
import type { AppliedRelease, GateFlags, ReleaseState } from './release-state.ts';

/**
 * Why nothing is open, where nobody has closed it. `unreadable`: the item gives no answer, or is none, and the last one is too old.
 * `never-applied`: there is no manifest. The others: what is there proves nothing.
 */
export type ReleaseFault = 'unreadable' | 'never-applied' | ManifestFault;

/** What of the release is open just now. */
export interface WatchedRelease {
  readonly state: ReleaseState;
  /** Absent: flags and manifest are sound, and `state` is what they say. */
  readonly fault?: ReleaseFault;
  /** What made the item unreadable. */
  readonly error?: unknown;
}

/** Tells what of the release is open at the moment of the call. Never rejects: what cannot be told is closed. */
export type ReleaseWatch = () => Promise<WatchedRelease>;

export interface WatchOptions extends ManifestTrust {
  /** The item that `gates apply` writes, read consistently; undefined when none was ever written. Has to end within `READ_MS`. */
  readonly read: () => Promise<AppliedRelease | undefined>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** How long what was read is gone by: with the time of a read, less than the 30 seconds within which a withdrawal shows. */
export const FRESH_MS = 20_000;
/** From this age on it is read again beside the request that finds it so old, which does not wait. */
export const RENEW_MS = 10_000;
/** The longest that one read may take. */
export const READ_MS = 3_000;

/** One reading of the item, verified but for the times of its manifest. */
interface Reading {
  /** When the read began: what was written before that is in it. */
  readonly at: number;
  readonly flags: GateFlags;
  readonly manifest: Result<ReleaseManifest, ReleaseFault>;
}

/**
 * Watches the release for one container. The item is read when first asked for; most requests find a reading that is fresh and cost no call
 * at all, one in ten seconds begins the next read and goes on without it, and only one that finds a reading past its time waits. Requests at
 * the same time share a read. A signature is verified once for each manifest; its times are looked at with every request.
 *
 * A read that fails changes nothing, and is not remembered: the last reading serves to its end, and from then on everything is closed, with
 * another try at each request, so that it opens again with the first one that succeeds.
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
    // One that began before the container was frozen may end after a later one.
    if (known === undefined || known.at <= at || known.at > now()) known = result;
    return result;
  }

  const reading = shareReading(READ_MS, now, readAt);

  return async () => {
    if (known !== undefined && isWithin(FRESH_MS, known.at, now())) {
      // A failure is heard of by whoever has to wait.
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
