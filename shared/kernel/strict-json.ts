import { err, ok, type Result } from './result.ts';

/**
 * Why a JSON text was rejected, and the path to the value or member that violates the rule. Invalid or too deeply nested JSON is rejected as a whole.
 */
export interface StrictJsonError {
  readonly kind: 'malformed' | 'too-deep' | 'not-i-json' | 'duplicate-key';
  readonly path: readonly (string | number)[];
}

const MAX_DEPTH = 64;

/** Returns the text of UTF-8 bytes; undefined for bytes that are not UTF-8. It drops a byte order mark unless the options prevent it. */
export function decodeUtf8(
  bytes: Uint8Array,
  options: { readonly ignoreBOM?: boolean } = {},
): string | undefined {
  try {
    return new TextDecoder('utf-8', { ...options, fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Matches every text with a number that is too small for a double, and a few others, but no GUID. */
const MAY_UNDERFLOW = /[eE]-\d{3,}\s*(?:[\]},]|$)|0{200}/;

/**
 * Parses a JSON text as I-JSON (RFC 7493): duplicate member names, nesting beyond 64 levels, numbers that a double cannot represent (too large, or
 * not zero and too small) and lone surrogates are rejected, where JSON.parse would silently keep the last member or another value.
 */
export function parseStrictJson(text: string): Result<unknown, StrictJsonError> {
  let value: unknown;
  try {
    value = JSON.parse(text) as unknown;
  } catch {
    return err({ kind: 'malformed', path: [] });
  }
  if (membersOf(value) === countMembers(text) && !MAY_UNDERFLOW.test(text)) return ok(value);
  const defect = findDefect(text);
  return defect === undefined ? ok(value) : err(defect);
}

/**
 * Returns how many members the objects of a parsed value have, at every depth; NaN if a value in it violates a rule. JSON.parse keeps only the last
 * of several members with one name, so a text with a repeated name has more members than its value.
 */
function membersOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.isWellFormed() ? 0 : NaN;
  if (typeof value === 'number') return Number.isFinite(value) ? 0 : NaN;
  if (typeof value !== 'object' || value === null) return 0;
  if (depth >= MAX_DEPTH) return NaN;
  let members = 0;
  if (Array.isArray(value)) {
    for (const element of value as readonly unknown[]) members += membersOf(element, depth + 1);
    return members;
  }
  for (const name in value) {
    if (!name.isWellFormed()) return NaN;
    members += 1 + membersOf((value as Readonly<Record<string, unknown>>)[name], depth + 1);
  }
  return members;
}

/** Counts the members of all objects in a text that is known to be valid JSON: its colons outside strings. */
function countMembers(text: string): number {
  let members = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === 0x22) at = endOfString(text, at) - 1;
    else if (char === 0x3a) members += 1;
  }
  return members;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const char = text.charCodeAt(at);
    if (char === 0x5c) at += 2;
    else if (char === 0x22) return at + 1;
    else at += 1;
  }
}

/** An object or array around the current place; only an object has names. */
interface Frame {
  readonly names: Set<string> | undefined;
  /** The name or index of the current member or element. */
  step: string | number;
}

/** Returns the first defect of a valid text. It needs no stack for nesting, so that no depth exhausts it. */
function findDefect(text: string): StrictJsonError | undefined {
  const frames: Frame[] = [];
  const found = (kind: StrictJsonError['kind']): StrictJsonError => ({
    kind,
    path: frames.map(({ step }) => step),
  });
  const number = /[-+.\de]+/iy;
  const colon = /\s*:/y;
  for (let at = 0; at < text.length; at += 1) {
    const frame = frames.at(-1);
    const char = text.charAt(at);
    number.lastIndex = at;
    if (char === '"') {
      const end = endOfString(text, at);
      const string = JSON.parse(text.slice(at, end)) as string;
      colon.lastIndex = end;
      const isName = colon.test(text);
      if (isName && frame !== undefined) frame.step = string;
      if (!string.isWellFormed()) return found('not-i-json');
      if (isName && frame?.names?.has(string) === true) return found('duplicate-key');
      if (isName) frame?.names?.add(string);
      at = end - 1;
    } else if (char === '{' || char === '[') {
      if (frames.length === MAX_DEPTH) return { kind: 'too-deep', path: [] };
      frames.push(char === '{' ? { names: new Set(), step: '' } : { names: undefined, step: 0 });
    } else if (char === '}' || char === ']') frames.pop();
    else if (char === ',' && typeof frame?.step === 'number') frame.step += 1;
    else if (/[-\d]/.test(char)) {
      const [token = ''] = number.exec(text) ?? [];
      if (!isDouble(token)) return found('not-i-json');
      at += token.length - 1;
    }
  }
  return undefined;
}

/** Returns whether a double can represent a JSON number: one with a digit other than 0 before its exponent is not zero. */
function isDouble(token: string): boolean {
  const value = Number(token);
  return Number.isFinite(value) && (value !== 0 || !/^[^e]*[1-9]/i.test(token));
}
