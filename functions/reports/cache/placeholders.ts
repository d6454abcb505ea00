import { formatInstant } from '#shared/kernel/instant.ts';

/**
 * Texts that stand in a composed body for what is only known, or only true, when the body is written: the ids of the request and the times
 * at which its sources were observed. They fit the response schemas, so that a body is checked once, placeholders included, whatever is filled in
 * for them. They are random: no fact of an owner is taken for one, and none can be made to look like one.
 */
export interface Placeholders {
  readonly requestId: string;
  readonly traceId: string;
  /** For the time at which the composition was completed. */
  readonly composedAt: string;
  /** A new placeholder for the time of an observation: epoch milliseconds. */
  readonly observation: (observedAt: number) => string;
  /** The times of the observations so far, by their placeholders, in the order of the placeholders. */
  readonly observations: () => ReadonlyMap<string, number>;
}

const ID_BYTES = 16;
const FIRST_SECOND = Date.UTC(1000, 0, 1) / 1000;
const LAST_SECOND = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;
const SECONDS = BigInt(LAST_SECOND - FIRST_SECOND + 1);
const NANOSECONDS = 1_000_000_000n;

/**
 * The placeholders of one composition.
 * @param random cryptographically random bytes; throws when they repeat a placeholder, which such bytes never do
 */
export function createPlaceholders(random: (bytes: number) => Uint8Array): Placeholders {
  const used = new Set<string>();
  const unused = (placeholder: string): string => {
    if (used.has(placeholder)) throw new Error('createStamps: the random bytes repeat themselves');
    used.add(placeholder);
    return placeholder;
  };
  const id = (): string => unused(Buffer.from(random(ID_BYTES)).toString('hex'));
  const instant = (): string => unused(instantOf(random(ID_BYTES)));
  const observations = new Map<string, number>();
  return {
    requestId: id(),
    traceId: id(),
    composedAt: instant(),
    observation(observedAt) {
      const placeholder = instant();
      observations.set(placeholder, observedAt);
      return placeholder;
    },
    observations: () => observations,
  };
}

/** One of all nanoseconds of nine thousand years: 2^68 instants, from 2^128 values, so that all are equally likely. */
function instantOf(bytes: Uint8Array): string {
  const drawn = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  const second = FIRST_SECOND + Number((drawn / NANOSECONDS) % SECONDS);
  const nanosecond = String(drawn % NANOSECONDS).padStart(9, '0');
  return `${formatInstant(second * 1000).slice(0, 19)}.${nanosecond}Z`;
}
