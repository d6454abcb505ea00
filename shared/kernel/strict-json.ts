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
  return membersOf(value) === countMembers(text) ? ok(value) : (inspectText(text) ?? ok(value));
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

interface Frame {
  readonly names: Set<string> | undefined;
  name: string;
  index: number;
}

/** What breaks a rule first in a text that is known to be valid JSON, found by looking at everything in it. */
function inspectText(text: string): Result<never, StrictJsonError> | undefined {
  const frames: Frame[] = [];
  let expectName = false;
  let at = 0;
  while (at < text.length) {
    const char = text.charCodeAt(at);
    const frame = frames.at(-1);
    if (char === 0x22) {
      const end = endOfString(text, at);
      if (expectName && frame?.names !== undefined) {
        const name = JSON.parse(text.slice(at, end)) as string;
        if (frame.names.has(name))
          return err({ kind: 'duplicate-key', pointer: pointerOf(frames.slice(0, -1)) });
        frame.names.add(name);
        frame.name = name;
        if (!name.isWellFormed()) return err({ kind: 'not-i-json' });
        expectName = false;
      } else if (
        mayBeIllFormed(text, at, end) &&
        !(JSON.parse(text.slice(at, end)) as string).isWellFormed()
      ) {
        return err({ kind: 'not-i-json' });
      }
      at = end;
      continue;
    }
    if (char === 0x7b || char === 0x5b) {
      if (frames.length >= MAX_DEPTH) return err({ kind: 'too-deep' });
      expectName = char === 0x7b;
      frames.push({ names: expectName ? new Set() : undefined, name: '', index: 0 });
    } else if (char === 0x7d || char === 0x5d) {
      frames.pop();
      expectName = false;
    } else if (char === 0x2c && frame !== undefined) {
      expectName = frame.names !== undefined;
      frame.index += 1;
    } else if (char === 0x2d || (char >= 0x30 && char <= 0x39)) {
      const end = endOfNumber(text, at);
      if (!Number.isFinite(Number(text.slice(at, end)))) return err({ kind: 'not-i-json' });
      at = end;
      continue;
    }
    at += 1;
  }
  return undefined;
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

function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && /[0-9.eE+-]/.test(text.charAt(at))) at += 1;
  return at;
}

/** Only an escape or a raw surrogate can make a string ill-formed: the common case costs no second parse. */
function mayBeIllFormed(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const char = text.charCodeAt(at);
    if (char === 0x5c || (char >= 0xd800 && char <= 0xdfff)) return true;
  }
  return false;
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
