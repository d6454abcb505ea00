import { createLocalJWKSet, errors } from 'jose';
import type { CryptoKey, FlattenedJWSInput, JSONWebKeySet, JWSHeaderParameters } from 'jose';
import { withTimeLimit } from '#shared/kernel/sleep.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { nameOf } from '#shared/observability/describe-error.ts';
import { readCapped, type Fetch } from '#shared/network/http-client.ts';
import type { Log } from '#shared/observability/logger.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';
import { Refusal } from '../refusal.ts';

/** Finds the key that the header of an unverified token names. Throws jose's errors, or a Refusal for an outage. */
export type KeySet = (header: JWSHeaderParameters, token: FlattenedJWSInput, log: Log) => Promise<CryptoKey>;

export interface KeySetOptions extends Pick<Runtime, 'fetch' | 'now' | 'sleep' | 'prepare'> {
  /** The pinned address: a token cannot name another one. */
  readonly url: string;
  /** The problem to return if the keys cannot be read and no known one may be used: not the caller's fault, so never a 401. */
  readonly outage: Problem;
}

/** Keys are read again after this time. */
const FRESH_MS = 10 * 60_000;
/** How long the last known keys are used while the issuer cannot be reached. */
const LAST_KNOWN_GOOD_MS = 24 * 60 * 60_000;
/** The least time between two reads while known keys can be used: for tokens with invented key ids, and during outages. */
const COOLDOWN_MS = 30_000;
/** The longest time of one read. */
const TIMEOUT_MS = 3_000;
/** The number of tries: a container without keys cannot serve any request. */
const TRIES = 2;
const MAX_BYTES = 256 * 1024;

type FindKey = ReturnType<typeof createLocalJWKSet>;

/**
 * Creates the issuer's key set, once per container. It reads keys when first needed, again after ten minutes, and once when a token names an unknown
 * key (the issuer may have rotated). While the issuer cannot be reached, known keys are used for 24 hours.
 */
export function createKeySet({ url, fetch: fetchKeys, now, sleep, prepare, outage }: KeySetOptions): KeySet {
  let known: { readonly keyOf: FindKey; readonly at: number } | undefined;
  let lastQuestion: { readonly at: number; readonly answered: boolean } | undefined;
  let pending: Promise<void> | undefined;

  async function ask(log: Log, tries = TRIES): Promise<void> {
    const at = now();
    try {
      const keyOf = await withTimeLimit(sleep, TIMEOUT_MS, (signal) => readKeySet(fetchKeys, url, signal));
      known = { keyOf, at };
      lastQuestion = { at, answered: true };
    } catch (error) {
      if (tries > 1) return ask(log, tries - 1);
      lastQuestion = { at, answered: false };
      log('KEY_SET_UNREACHABLE', {
        error: nameOf(error),
        knownKeysAgeSeconds: known === undefined ? null : Math.floor((at - known.at) / 1000),
      });
    }
  }

  /** Refreshes the keys; concurrent requests share one read. */
  function refresh(log: Log): Promise<void> {
    pending ??= ask(log).finally(() => (pending = undefined));
    return pending;
  }

  const isKnownFor = (limit: number): boolean => known !== undefined && now() - known.at < limit;
  const coolingDown = (): boolean => lastQuestion !== undefined && now() - lastQuestion.at < COOLDOWN_MS;

  prepare?.(() => refresh(() => undefined));

  return async (header, token, log) => {
    if (known === undefined || (!isKnownFor(FRESH_MS) && !coolingDown())) await refresh(log);
    if (known === undefined || !isKnownFor(LAST_KNOWN_GOOD_MS)) throw new Refusal(outage);
    try {
      return await known.keyOf(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      if (!coolingDown()) await refresh(log);
      // An unknown key is the caller's fault only if the issuer has just confirmed it.
      if (lastQuestion?.answered !== true) throw new Refusal(outage);
      return known.keyOf(header, token);
    }
  };
}

/** Reads the keys. Throws unless the issuer returns a usable, non-empty key set: an emptied one must not replace the known keys. */
async function readKeySet(fetchKeys: Fetch, url: string, signal: AbortSignal): Promise<FindKey> {
  const response = await fetchKeys(url, {
    method: 'GET',
    signal,
    headers: { accept: 'application/jwk-set+json, application/json' },
    // The last read was minutes ago: a kept connection may have been cut since.
    freshConnection: true,
  });
  if (response.status !== 200) throw new TypeError('the key set has another status than 200');
  const chunks = await readCapped(response.body, MAX_BYTES);
  if (chunks === undefined) throw new TypeError('the key set is too large');
  const parsed = parseStrictJson(new TextDecoder().decode(Buffer.concat(chunks)));
  if (!parsed.ok) throw new TypeError('the key set is not JSON');
  const set = parsed.value as JSONWebKeySet;
  const keyOf = createLocalJWKSet(set);
  if (set.keys.length === 0) throw new TypeError('the key set has no keys');
  return keyOf;
}
