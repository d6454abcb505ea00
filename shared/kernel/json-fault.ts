/**
 * Where a text stops being JSON (RFC 8259): the offset of the first character that no JSON text could have there, the length of the text
 * when it ends too early, undefined when it is JSON. JSON.parse says that only now and then, and then with a piece of the text.
 * Needs no stack for nesting, so that no depth exhausts it.
 */
export function jsonFault(text: string): number | undefined {
  const closers: (']' | '}')[] = [];
  let expected: 'value' | 'first-element' | 'first-name' | 'name' | 'after-value' = 'value';
  let at = skipSpace(text, 0);
  for (;;) {
    const char = text[at];
    if (expected === 'after-value') {
      const closer = closers.at(-1);
      if (closer === undefined) return at === text.length ? undefined : at;
      if (char === closer) {
        closers.pop();
        at += 1;
      } else if (char === ',') {
        expected = closer === '}' ? 'name' : 'value';
        at += 1;
      } else return at;
    } else if (
      (expected === 'first-name' && char === '}') ||
      (expected === 'first-element' && char === ']')
    ) {
      expected = 'after-value';
    } else if (expected === 'first-name' || expected === 'name') {
      if (char !== '"') return at;
      const name = scanString(text, at);
      if (name.fault) return name.end;
      at = skipSpace(text, name.end);
      if (text[at] !== ':') return at;
      at += 1;
      expected = 'value';
    } else if (char === '{' || char === '[') {
      closers.push(char === '{' ? '}' : ']');
      expected = char === '{' ? 'first-name' : 'first-element';
      at += 1;
    } else {
      const scalar = char === '"' ? scanString(text, at) : scanBareWord(text, at);
      if (scalar.fault) return scalar.end;
      at = scalar.end;
      expected = 'after-value';
    }
    at = skipSpace(text, at);
  }
}

/** Where a token ends, or the offset at which it cannot go on. */
interface Scan {
  readonly end: number;
  readonly fault: boolean;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at += 1;
  return at;
}

function scanString(text: string, start: number): Scan {
  let at = start + 1;
  for (;;) {
    const char = text.charAt(at);
    if (char === '"') return { end: at + 1, fault: false };
    if (char < ' ') return { end: at, fault: true };
    at += 1;
    if (char !== '\\') continue;
    const escape = text.charAt(at);
    if (escape === '' || !'"\\/bfnrtu'.includes(escape)) return { end: at, fault: true };
    at += 1;
    if (escape !== 'u') continue;
    for (const last = at + 4; at < last; at += 1) {
      if (!/[0-9A-Fa-f]/.test(text.charAt(at))) return { end: at, fault: true };
    }
  }
}

function scanBareWord(text: string, start: number): Scan {
  const word = ['true', 'false', 'null'].find((literal) => literal[0] === text[start]);
  if (word === undefined) return scanNumber(text, start);
  let at = start;
  while (at < start + word.length && text[at] === word[at - start]) at += 1;
  return { end: at, fault: at < start + word.length };
}

function scanNumber(text: string, start: number): Scan {
  const whole = text[start] === '-' ? start + 1 : start;
  let at = text[whole] === '0' ? whole + 1 : skipDigits(text, whole);
  if (at === whole) return { end: at, fault: true };
  if (text[at] === '.') {
    const fraction = at + 1;
    at = skipDigits(text, fraction);
    if (at === fraction) return { end: at, fault: true };
  }
  if (text[at] === 'e' || text[at] === 'E') {
    const exponent = text[at + 1] === '+' || text[at + 1] === '-' ? at + 2 : at + 1;
    at = skipDigits(text, exponent);
    if (at === exponent) return { end: at, fault: true };
  }
  return { end: at, fault: false };
}

function skipDigits(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charAt(at) >= '0' && text.charAt(at) <= '9') at += 1;
  return at;
}
