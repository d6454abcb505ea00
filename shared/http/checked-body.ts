import type * as z from 'zod';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { pointerTo } from './syntax/issues.ts';

/** A success body that has passed its route's schema: the whole of it, before its first byte goes out. */
export interface CheckedBody {
  /**
   * Its JSON text, to be written piece by piece: the rows of an array are serialized one at a time, so that the text of a large body is
   * never in memory as a whole. An array inside a row is part of the row's piece.
   */
  readonly pieces: () => Iterable<string>;
  /** Its whole JSON text. */
  readonly text: () => string;
}

/** Issues that are named: the log shows no more. */
const MAX_REASONS = 100;

/**
 * Checks a body against a schema, undeclared members included.
 * @returns what does not fit, by code and place, without values
 */
export function checkBody(schema: z.ZodType, body: unknown): Result<CheckedBody, readonly string[]> {
  const { data, error } = schema.safeParse(body);
  if (error !== undefined)
    return err(
      error.issues
        .slice(0, MAX_REASONS)
        .map(({ code, path }) => `${code} at ${pointerTo('body', path.map(String))}`),
    );
  if (!isText(data)) return err(['no JSON at /body']);
  return ok({ pieces: () => piecesOf(data), text: () => JSON.stringify(data) });
}

/** What JSON has a text for. */
function isText(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}

/** `JSON.stringify` in pieces: objects by their members, arrays by their elements, which are not divided further. */
function* piecesOf(value: unknown): Generator<string, void, undefined> {
  if (Array.isArray(value)) {
    let before = '[';
    for (const row of value as readonly unknown[]) {
      yield before + (isText(row) ? JSON.stringify(row) : 'null');
      before = ',';
    }
    yield before === '[' ? '[]' : ']';
  } else if (isPlainObject(value)) {
    let before = '{';
    for (const [name, member] of Object.entries(value)) {
      if (!isText(member)) continue;
      yield `${before}${JSON.stringify(name)}:`;
      yield* piecesOf(member);
      before = ',';
    }
    yield before === '{' ? '{}' : '}';
  } else {
    yield JSON.stringify(value);
  }
}

/** Anything else with members (a date, a boxed string) has a text of its own. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
