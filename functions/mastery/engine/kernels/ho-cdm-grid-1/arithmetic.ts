/**
 * exp, log and square root from additions, multiplications and divisions, which IEEE 754 fixes to the last bit; ECMAScript leaves the
 * built-in ones to the implementation (ECMA-262, section 21.3.2). Errors stay below 1 ulp.
 */

export const LN2 = 0.6931471805599453;
/** log 2 in two parts; the first has 33 significant bits, so that its product with an exponent is exact (Cody and Waite, 1980). */
const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;
const SQRT2 = 1.4142135623730951;

const word = new DataView(new ArrayBuffer(8));

/** 2 to the power of an integer from -1022 to 1023. */
function powerOfTwo(exponent: number): number {
  word.setUint32(0, (exponent + 1023) << 20);
  word.setUint32(4, 0);
  return word.getFloat64(0);
}

/** e to the power of x. */
export function exp(x: number): number {
  if (x > 709.782712893384) return Infinity;
  if (x < -745.1332191019412) return 0;
  if (Number.isNaN(x)) return x;
  // x = k log 2 + r + c, |r| <= log(2) / 2, with c the rounding error of r.
  const k = Math.floor(x / LN2 + 0.5);
  const high = x - k * LN2_HIGH;
  const low = k * LN2_LOW;
  const r = high - low;
  const c = high - r - low;
  // The Taylor series of (e^r - 1 - r) / r^2: the first term left out is below 2^-57 of the sum.
  let series = 1 / 6227020800;
  series = series * r + 1 / 479001600;
  series = series * r + 1 / 39916800;
  series = series * r + 1 / 3628800;
  series = series * r + 1 / 362880;
  series = series * r + 1 / 40320;
  series = series * r + 1 / 5040;
  series = series * r + 1 / 720;
  series = series * r + 1 / 120;
  series = series * r + 1 / 24;
  series = series * r + 1 / 6;
  series = series * r + 0.5;
  const value = 1 + (r + (r * r * series + c));
  if (k > 1023) return value * powerOfTwo(1023) * 2;
  if (k < -1022) return value * powerOfTwo(k + 1000) * powerOfTwo(-1000);
  return value * powerOfTwo(k);
}

/** The natural logarithm of a positive number. */
export function log(x: number): number {
  if (!(x > 0)) return x === 0 ? -Infinity : NaN;
  if (x === Infinity) return x;
  let exponent = 0;
  if (x < 2.2250738585072014e-308) {
    x *= 18014398509481984;
    exponent = -54;
  }
  // x = 2^exponent * m with m between sqrt(1/2) and sqrt(2).
  word.setFloat64(0, x);
  const upper = word.getUint32(0);
  exponent += (upper >>> 20) - 1023;
  word.setUint32(0, (upper & 0xfffff) | 0x3ff00000);
  let m = word.getFloat64(0);
  if (m > SQRT2) {
    m *= 0.5;
    exponent += 1;
  }
  // log m = 2 artanh(s) with s = (m - 1) / (m + 1), written so that the leading term m - 1 enters without error.
  const f = m - 1;
  const s = f / (2 + f);
  const z = s * s;
  let series = 2 / 23;
  series = series * z + 2 / 21;
  series = series * z + 2 / 19;
  series = series * z + 2 / 17;
  series = series * z + 2 / 15;
  series = series * z + 2 / 13;
  series = series * z + 2 / 11;
  series = series * z + 2 / 9;
  series = series * z + 2 / 7;
  series = series * z + 2 / 5;
  series = series * z + 2 / 3;
  const half = 0.5 * f * f;
  return exponent * LN2_HIGH - (half - (s * (half + z * series) + exponent * LN2_LOW) - f);
}

/** The square root of a number >= 0. */
export function sqrt(x: number): number {
  if (x === 0 || x === Infinity) return x;
  if (!(x > 0)) return NaN;
  let m = x;
  let scale = 1;
  if (m < 2.2250738585072014e-308) {
    m *= 18014398509481984;
    scale = 7.450580596923828e-9;
  }
  word.setFloat64(0, m);
  const upper = word.getUint32(0);
  // An even exponent halves exactly; what is left lies in [1, 4).
  const exponent = (upper >>> 20) - 1023;
  const even = exponent - (exponent & 1);
  word.setUint32(0, (upper & 0xfffff) | ((1023 + (exponent & 1)) << 20));
  m = word.getFloat64(0);
  let y = 0.5 + 0.5 * m;
  for (let step = 0; step < 6; step += 1) y = 0.5 * (y + m / y);
  // One Newton step on the exact residual m - y^2 (Dekker's product) leaves a rounding error only.
  const split = 134217729 * y;
  const top = split - (split - y);
  const bottom = y - top;
  const square = y * y;
  const squareError = top * top - square + 2 * top * bottom + bottom * bottom;
  y += (m - square - squareError) / (2 * y);
  return y * powerOfTwo(even / 2) * scale;
}

/** 1 / (1 + e^-x), without overflow on either side. */
export function logistic(x: number): number {
  if (x >= 0) return 1 / (1 + exp(-x));
  const power = exp(x);
  return power / (1 + power);
}

/** Entropy of a yes-or-no variable in bits; 0 where the answer is certain. */
export function binaryEntropy(probability: number): number {
  if (!(probability > 0) || probability >= 1) return 0;
  const other = 1 - probability;
  return -(probability * log(probability) + other * log(other)) / LN2;
}
