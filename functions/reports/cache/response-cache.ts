import { createHmac } from 'node:crypto';
import { authorizationFingerprint } from '#functions/reports/access/fingerprint.ts';
import type { Route } from '#shared/contract/route.ts';
import type { KeptTemplate } from '#shared/http/checked-body.ts';
import type { OperationRequest } from '#shared/http/operation.ts';
import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { UpstreamCall } from '#shared/platform/platform.ts';
import type { ServiceProfile } from '#shared/platform/service-profiles.ts';

/** A read that confirms a source of an entry. */
export interface Validator {
  readonly operation: UpstreamOperation;
  readonly call: UpstreamCall<UpstreamOperation>;
  /** A strong entity tag. */
  readonly etag: string;
}

/** A moment on both clocks. */
export interface ClockReading {
  /** Epoch milliseconds. */
  readonly now: number;
  /** Milliseconds of a clock that nobody sets. */
  readonly monotonic: number;
}

/** The text of an answer without what belongs to one request, and what has to be confirmed before it is given again. */
export interface CachedReport {
  readonly template: KeptTemplate;
  readonly validators: readonly Validator[];
  readonly composedAt: ClockReading;
}

/** Whose answer to which request it is. */
export interface CacheUse {
  readonly profile: ServiceProfile;
  readonly route: Route;
  /** Path and query as the route's schemas have read them: ids decoded, defaults filled in. */
  readonly request: Pick<OperationRequest, 'principal' | 'path' | 'query' | 'proved'>;
}

/** Answers in the memory of one container [RP-336]. An entry only says what was true: who uses it has to confirm its validators. */
export interface ResponseCache {
  /** Names the answer to a request for one caller and one profile, and tells nothing of either [RP-337]. */
  readonly keyOf: (use: CacheUse) => string;
  readonly get: (key: string) => CachedReport | undefined;
  /** Keeps an entry, in the place of any other under its key, unless it is too large or stands on too many sources. */
  readonly set: (key: string, entry: CachedReport) => void;
  readonly drop: (key: string) => void;
  /** Characters of the longest text that an entry can have. */
  readonly maxLength: number;
  /** What the entries take up, as their bounds count it. */
  readonly bytes: () => number;
}

export interface ResponseCacheOptions {
  readonly clock: () => ClockReading;
  /** Cryptographically random bytes: the key of the keys. */
  readonly random: (bytes: number) => Uint8Array;
  readonly maxBytes?: number;
  readonly maxEntryBytes?: number;
}

const MAX_AGE_MS = 30_000;
const KEY_BYTES = 32;
/** More sources than one turn of calls can confirm are not worth keeping. */
const MAX_VALIDATORS = 128;
/** Of a character in memory. */
const MAX_BYTES_PER_CHARACTER = 2;

/**
 * An empty cache. Entries that have reached 30 seconds are gone with the next use of the cache, whatever that asks for. Age is taken from
 * both clocks, and what either calls too old is: the monotonic one may stand still while the container is frozen between two requests, and
 * the other one may be set.
 */
export function createResponseCache({
  clock,
  random,
  maxBytes = 16 * 1024 * 1024,
  maxEntryBytes = 1024 * 1024,
}: ResponseCacheOptions): ResponseCache {
  const secret = random(KEY_BYTES);
  /** The one that was used last stands last. */
  const entries = new Map<string, { readonly entry: CachedReport; readonly bytes: number }>();
  let total = 0;

  const drop = (key: string): void => {
    total -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  };
  const dropOld = (): void => {
    const at = clock();
    for (const [key, { entry }] of entries) if (!isYoung(entry.composedAt, at)) drop(key);
  };

  return {
    keyOf: ({ profile, route, request }) =>
      createHmac('sha256', secret)
        .update(
          canonicalJson({
            tenantId: profile.tenantId,
            baseUrl: profile.baseUrl,
            credential: profile.credential.reveal(),
            fingerprint: authorizationFingerprint(request.principal, secret),
            method: route.method,
            template: route.path,
            path: request.path,
            query: request.query,
            // What an answer may show hangs on the release too [RP-026].
            proved: [...request.proved].toSorted(),
          }),
        )
        .digest('base64url'),
    get(key) {
      dropOld();
      const found = entries.get(key);
      if (found === undefined) return undefined;
      entries.delete(key);
      entries.set(key, found);
      return found.entry;
    },
    set(key, entry) {
      dropOld();
      drop(key);
      const bytes = bytesOf(entry);
      if (bytes > maxEntryBytes || entry.validators.length > MAX_VALIDATORS) return;
      entries.set(key, { entry, bytes });
      total += bytes;
      for (const leastRecent of entries.keys()) {
        if (total <= maxBytes) break;
        drop(leastRecent);
      }
    },
    drop,
    maxLength: Math.floor(maxEntryBytes / MAX_BYTES_PER_CHARACTER),
    bytes: () => total,
  };
}

function isYoung(composedAt: ClockReading, at: ClockReading): boolean {
  const ages = [at.now - composedAt.now, at.monotonic - composedAt.monotonic];
  return ages.every((age) => age >= 0 && age < MAX_AGE_MS);
}

/** An upper bound for the entry's texts. */
function bytesOf({ template, validators }: CachedReport): number {
  const characters = validators.reduce(
    (sum, { call, etag }) => sum + JSON.stringify(call).length + etag.length,
    template.length,
  );
  return characters * MAX_BYTES_PER_CHARACTER;
}
