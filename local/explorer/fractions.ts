import Fraction from 'fraction.js';

/** What an answer is worth; what cannot be read comes with what to tell the person who wrote it. */
export type Evaluated = 'right' | 'wrong' | { readonly unreadable: string };

const HOW_TO_WRITE = 'Write a whole number, a fraction, a mixed number or a decimal: 2, 3/8, 1 2/3 or 0.5.';

/** `4`, `0.5`, `3/8` or `2 1/5`, with a sign. The library would also read `1:2`, and an empty text as zero. */
const NUMBER = /^([+-]?)(\d+(?:\.\d+)?|\.\d+|(?:\d+ )?\d+\/(\d+))$/;

/**
 * Evaluates an answer to an item that asks for a difference, as in `3 1/2 - 2 3/2`.
 * @param stem what the item asks
 * @param response what the person typed; equal values are equally right, in whichever form
 * @returns undefined if the item asks for something else
 */
export function evaluateDifference(stem: string, response: string): Evaluated | undefined {
  const [minuend, subtrahend, ...others] = plain(stem).split(' - ').map(read);
  if (minuend === undefined || subtrahend === undefined || others.length > 0) return undefined;
  const answer = plain(response).replace(/^([+-]) /, '$1');
  const value = read(answer);
  if (value !== undefined) return value.equals(minuend.sub(subtrahend)) ? 'right' : 'wrong';
  if (/^[+-]?\d*,\d+$/.test(answer)) return { unreadable: `Did you mean ${answer.replace(',', '.')}?` };
  if (/\/0+$/.test(answer))
    return { unreadable: `A fraction cannot have the denominator 0. ${HOW_TO_WRITE}` };
  return { unreadable: `This cannot be read as a number. ${HOW_TO_WRITE}` };
}

/** Returns the signs that people and word processors write for minus, fractions and spaces in ASCII: `1½` becomes `1 1/2`. */
function plain(text: string): string {
  return text
    .replaceAll(/[¼-¾⅐-⅞]/g, (one) => ` ${one.normalize('NFKC')}`)
    .replaceAll(/[−–]/g, '-')
    .replaceAll(/\s*[⁄/]\s*/g, '/')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function read(text: string): Fraction | undefined {
  const [whole, sign = '', magnitude = '', denominator] = NUMBER.exec(text) ?? [];
  if (whole === undefined || /^0+$/.test(denominator ?? '')) return undefined;
  const value = new Fraction(magnitude);
  return sign === '-' ? value.neg() : value;
}
