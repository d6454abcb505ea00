/** Cryptographically random bytes. */
export type RandomBytes = (count: number) => Uint8Array;

/** Returns a number in [0, 1), uniform over the multiples of 2^-32. */
export function randomFraction(random: RandomBytes): number {
  const [a = 0, b = 0, c = 0, d = 0] = random(4);
  return (((a << 24) | (b << 16) | (c << 8) | d) >>> 0) / 2 ** 32;
}
