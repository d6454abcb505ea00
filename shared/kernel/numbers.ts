/**
 * Rounds to a number of decimal significant digits (1-15), half away from zero as ECMAScript's toPrecision does, so that the
 * same value gives the same text on every runtime. Zero (also -0) stays 0.
 */
export function roundSignificant(value: number, digits: number): number {
  if (value === 0) return 0;
  return Number(value.toPrecision(digits));
}
