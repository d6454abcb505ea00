/** A number as a quotient of integers; the denominator is positive. */
interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** `4`; at most six digits. */
const WHOLE = /^\d{1,6}$/;
/** `3/8` or `2 1/5`; at most six digits per part. */
const MIXED = /^(?:(\d{1,6})\s+)?(\d{1,6})\/(\d{1,6})$/;

/**
 * Scores an answer to an item that asks for a difference, as in `3 1/2 - 2 3/2`.
 * @param stem what the item asks
 * @param response what the person typed: a whole number, a fraction or a mixed number; equal values are equally right
 * @returns undefined if the item asks for something else
 */
export function scoreDifference(stem: string, response: string): boolean | undefined {
  const parts = plain(stem).split(/\s-\s/);
  const [minuend, subtrahend] = parts.map(read);
  if (parts.length !== 2 || minuend === undefined || subtrahend === undefined) return undefined;
  const answer = plain(response);
  const magnitude = read(answer.replace(/^-\s*/, ''));
  if (magnitude === undefined) return false;
  const numerator = answer.startsWith('-') ? -magnitude.numerator : magnitude.numerator;
  const difference = minuend.numerator * subtrahend.denominator - subtrahend.numerator * minuend.denominator;
  return numerator * minuend.denominator * subtrahend.denominator === difference * magnitude.denominator;
}

/** Returns the signs that people and word processors write for minus and for the fraction bar, as ASCII. */
function plain(text: string): string {
  return text
    .trim()
    .replaceAll(/[−–]/g, '-')
    .replaceAll('⁄', '/')
    .replaceAll(/\s*\/\s*/g, '/');
}

function read(text: string): Fraction | undefined {
  if (WHOLE.test(text)) return { numerator: BigInt(text), denominator: 1n };
  const [, whole = '0', numerator = '0', denominator = '0'] = MIXED.exec(text) ?? [];
  const below = BigInt(denominator);
  return below === 0n
    ? undefined
    : { numerator: BigInt(whole) * below + BigInt(numerator), denominator: below };
}
