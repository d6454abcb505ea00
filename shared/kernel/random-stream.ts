import { sha256Hex } from './canonical-json.ts';

/**
 * Returns a stream of draws (mulberry32) where hashing each would be too slow: for generated banks, simulated learners, exposure control. It is
 * seeded by a text, uniform in [0, 1), and the same on every runtime.
 */
export function stream(seed: string): () => number {
  let state = parseInt(sha256Hex(seed).slice(0, 8), 16);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
