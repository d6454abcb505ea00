import { pointer } from './defect.ts';
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
  const members = membersOf(value);
  if (members === countMembers(text)) return ok(value);
  if (typeof members === 'string') return err({ kind: members });
  return err({ kind: 'duplicate-key', pointer: firstWithTwins(text) });
}

/**
 * How many members the objects of a parsed value have, at every depth, or the rule that the value itself breaks. Of a repeated name only
 * the last member is left, so a text that has one has more members than its value.
 */
function membersOf(value: unknown, depth = 0): number | 'too-deep' | 'not-i-json' {
  if (typeof value === 'string') return value.isWellFormed() ? 0 : 'not-i-json';
  if (typeof value === 'number') return Number.isFinite(value) ? 0 : 'not-i-json';
  if (typeof value !== 'object' || value === null) return 0;
  if (depth >= MAX_DEPTH) return 'too-deep';
  let members = 0;
  if (Array.isArray(value)) {
    for (const element of value as readonly unknown[]) {
      const inside = membersOf(element, depth + 1);
      if (typeof inside === 'string') return inside;
      members += inside;
    }
    return members;
  }
  for (const name in value) {
    if (!name.isWellFormed()) return 'not-i-json';
    const inside = membersOf((value as Readonly<Record<string, unknown>>)[name], depth + 1);
    if (typeof inside === 'string') return inside;
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
  /** Of the member or element that is looked at. */
  step: string | number;
}

/** The JSON Pointer of the first object in a valid text that has a name twice. Needs no stack for nesting, so that no depth exhausts it. */
function firstWithTwins(text: string): string {
  const frames: Frame[] = [];
  let string = '';
  for (let at = 0; at < text.length; at += 1) {
    const frame = frames.at(-1);
    const char = text.charAt(at);
    if (char === '"') {
      string = text.slice(at, endOfString(text, at));
      at += string.length - 1;
    } else if (char === '{') frames.push({ names: new Set(), step: '' });
    else if (char === '[') frames.push({ names: undefined, step: 0 });
    else if (char === '}' || char === ']') frames.pop();
    else if (char === ',' && typeof frame?.step === 'number') frame.step += 1;
    else if (char === ':' && frame?.names !== undefined) {
      frame.step = JSON.parse(string) as string;
      if (frame.names.has(frame.step)) return pointer(...frames.slice(0, -1).map(({ step }) => step));
      frame.names.add(frame.step);
    }
  }
  throw new Error('no object of the text has a name twice');
}
