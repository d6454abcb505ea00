import { err, ok } from './result.ts';
import type { Result } from './result.ts';

/** Why a JSON text was refused. `duplicate-key` carries the JSON Pointer of the object that holds the repeated name. */
export type StrictJsonError =
  | { readonly kind: 'malformed' }
  | { readonly kind: 'too-deep' }
  | { readonly kind: 'not-i-json' }
  | { readonly kind: 'duplicate-key'; readonly pointer: string };

const MAX_DEPTH = 64;

/** The text of UTF-8 bytes; undefined for bytes that are not. A byte order mark is dropped unless the options say otherwise. */
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

/**
 * Parses a JSON text as I-JSON (RFC 7493): duplicate member names, nesting beyond 64 levels, numbers that overflow to infinity
 * and lone surrogates are refused, where JSON.parse would silently keep the last member or a value that cannot be hashed.
 */
export function parseStrictJson(text: string): Result<unknown, StrictJsonError> {
  let value: unknown;
  try {
    value = JSON.parse(text) as unknown;
  } catch {
    return err({ kind: 'malformed' });
  }
  if (membersOf(value) === countMembers(text)) return ok(value);
  const { broken } = scan(text, true);
  return broken === undefined ? ok(value) : err(broken);
}

/**
 * Where a text stops being JSON (RFC 8259): the offset of the first character that no JSON text could have there, the length of the text
 * when it ends too early, undefined when it is JSON. JSON.parse says that only now and then, and then with a piece of the text.
 */
export function jsonFault(text: string): number | undefined {
  return scan(text, false).fault;
}

/**
 * How many members the objects of a parsed value have, at every depth; undefined when the value itself breaks a rule. Of a repeated name only
 * the last member is left, so a text that has one has more members than its value.
 */
function membersOf(value: unknown, depth = 0): number | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? 0 : undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? 0 : undefined;
  if (typeof value !== 'object' || value === null) return 0;
  if (depth >= MAX_DEPTH) return undefined;
  let members = 0;
  if (Array.isArray(value)) {
    for (const element of value as readonly unknown[]) {
      const inside = membersOf(element, depth + 1);
      if (inside === undefined) return undefined;
      members += inside;
    }
    return members;
  }
  for (const name in value) {
    if (!name.isWellFormed()) return undefined;
    const inside = membersOf((value as Readonly<Record<string, unknown>>)[name], depth + 1);
    if (inside === undefined) return undefined;
    members += 1 + inside;
  }
  return members;
}

/** The members of all objects in a text that is known to be valid JSON: its colons outside strings. */
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

/** An object or an array around the place that is looked at; only an object has names. */
interface Frame {
  readonly names: Set<string> | undefined;
  name: string;
  index: number;
}

/**
 * Where a text stops being JSON, or else which rule a JSON text breaks first. Needs no stack for nesting, so that no depth exhausts it.
 * @param endsAtRule of a text that is known to be JSON: what follows the first broken rule is not looked at
 */
function scan(
  text: string,
  endsAtRule: boolean,
): { readonly fault?: number; readonly broken?: StrictJsonError | undefined } {
  const frames: Frame[] = [];
  let broken: StrictJsonError | undefined;
  let expected: 'value' | 'first-element' | 'first-name' | 'name' | 'after-value' = 'value';
  let at = skipSpace(text, 0);
  for (;;) {
    if (endsAtRule && broken !== undefined) return { broken };
    const char = text[at];
    const frame = frames.at(-1);
    if (expected === 'after-value') {
      if (frame === undefined) return at === text.length ? { broken } : { fault: at };
      if (char === ',') {
        frame.index += 1;
        expected = frame.names === undefined ? 'value' : 'name';
      } else if (char === (frame.names === undefined ? ']' : '}')) frames.pop();
      else return { fault: at };
      at += 1;
    } else if (
      (expected === 'first-name' && char === '}') ||
      (expected === 'first-element' && char === ']')
    ) {
      expected = 'after-value';
    } else if (expected === 'first-name' || expected === 'name') {
      if (char !== '"') return { fault: at };
      const { end, fault } = scanString(text, at);
      if (fault) return { fault: end };
      broken ??= enterName(frames, JSON.parse(text.slice(at, end)) as string);
      at = skipSpace(text, end);
      if (text[at] !== ':') return { fault: at };
      at += 1;
      expected = 'value';
    } else if (char === '{' || char === '[') {
      if (frames.length >= MAX_DEPTH) broken ??= { kind: 'too-deep' };
      frames.push({ names: char === '{' ? new Set() : undefined, name: '', index: 0 });
      expected = char === '{' ? 'first-name' : 'first-element';
      at += 1;
    } else {
      const { end, fault } = char === '"' ? scanString(text, at) : scanBareWord(text, at);
      if (fault) return { fault: end };
      broken ??= brokenBy(JSON.parse(text.slice(at, end)));
      at = end;
      expected = 'after-value';
    }
    at = skipSpace(text, at);
  }
}

/** Notes the name of the next member of the innermost object, and says what it breaks. */
function enterName(frames: readonly Frame[], name: string): StrictJsonError | undefined {
  const frame = frames.at(-1);
  if (frame?.names?.has(name) === true)
    return { kind: 'duplicate-key', pointer: pointerOf(frames.slice(0, -1)) };
  frame?.names?.add(name);
  if (frame !== undefined) frame.name = name;
  return brokenBy(name);
}

function brokenBy(scalar: unknown): StrictJsonError | undefined {
  return membersOf(scalar) === undefined ? { kind: 'not-i-json' } : undefined;
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

/** As much of a number as there is; a whole one ends with a digit. */
const NUMBER = /-?(?:(?:0|[1-9]\d*)(?:\.(?:\d+(?:e[+-]?\d*)?)?|e[+-]?\d*)?)?/iy;

function scanNumber(text: string, start: number): Scan {
  NUMBER.lastIndex = start;
  const [number = ''] = NUMBER.exec(text) ?? [];
  return { end: start + number.length, fault: !/\d$/.test(number) };
}

function pointerOf(frames: readonly Frame[]): string {
  return frames
    .map((frame) =>
      frame.names === undefined
        ? `/${frame.index}`
        : `/${frame.name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    )
    .join('');
}
