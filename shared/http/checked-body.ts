import type * as z from 'zod';
import type { Route } from '#shared/contract/route.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { pointerTo } from './syntax/issues.ts';

/**
 * A success body that has passed its route's schema. Only `checkBody` and a template of one make them, so holding one means that the whole
 * body is checked, before its first byte goes out.
 */
export interface CheckedBody {
  /**
   * Its JSON text, to be written piece by piece: the rows of an array are serialized one at a time, so that the text of a large body is
   * never in memory as a whole. An array inside a row is part of the row's piece.
   */
  readonly pieces: () => Iterable<string>;
  /** Its whole JSON text. */
  readonly text: () => string;
  /**
   * The body with gaps at the places of the placeholders.
   * @param placeholders texts that the caller put into strings of the body, unguessable, so that they stand nowhere else; throws TypeError
   *   for one that JSON would escape, or that holds another one
   */
  readonly template: (placeholders: readonly string[]) => BodyTemplate;
}

/** A checked body with gaps. */
export interface BodyTemplate {
  /**
   * The body with other values, one for each placeholder in their order, escaped as JSON needs it. It is not checked again: the values have
   * to be ones that the schema takes where the placeholders stood. Gaps are filled piece by piece, as the pieces are asked for.
   */
  readonly fill: (values: readonly string[]) => CheckedBody;
  /**
   * The same template as one text, which no longer holds the body's value; undefined when it would be longer than that, placeholders
   * included: then no more of it than that has been made.
   */
  readonly keep: (maxLength: number) => KeptTemplate | undefined;
}

/** A checked text with gaps. */
export interface KeptTemplate extends Pick<BodyTemplate, 'fill'> {
  /** Characters of the text without its gaps: what it takes up in a cache. */
  readonly length: number;
}

/** What each checked body was checked against. Nothing else can get in here. */
const schemas = new WeakMap<object, z.ZodType>();

/** Issues that are named: the log shows no more. */
const MAX_REASONS = 100;

/**
 * Checks a body against the success schema of its route, undeclared members included. One that was checked before, for the same route,
 * passes.
 * @returns what does not fit, by code and place, without values
 */
export function checkBody(
  { operationId, success: { schema } }: Pick<Route, 'operationId' | 'success'>,
  body: unknown,
): Result<CheckedBody, readonly string[]> {
  if (isChecked(body))
    return schemas.get(body) === schema ? ok(body) : err([`checked for another route than ${operationId}`]);
  const parsed = schema.safeParse(body);
  if (!parsed.success) {
    return err(
      parsed.error.issues.slice(0, MAX_REASONS).map(
        ({ code, path }) =>
          `${code} at ${pointerTo(
            'body',
            path.map((segment) => (typeof segment === 'number' ? segment : String(segment))),
          )}`,
      ),
    );
  }
  const { data } = parsed;
  return isText(data) ? ok(checked(schema, () => piecesOf(data))) : err(['no JSON at /body']);
}

function isChecked(body: unknown): body is CheckedBody {
  return typeof body === 'object' && body !== null && schemas.has(body);
}

function checked(schema: z.ZodType, pieces: () => Iterable<string>): CheckedBody {
  const body: CheckedBody = {
    pieces,
    text: () => [...pieces()].join(''),
    template: (placeholders) => templateOf(schema, pieces, placeholders),
  };
  schemas.set(body, schema);
  return body;
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

/** A placeholder stands in a string of the body, and no string is divided: whatever piece holds a part of one holds all of it. */
function templateOf(
  schema: z.ZodType,
  pieces: () => Iterable<string>,
  placeholders: readonly string[],
): BodyTemplate {
  for (const placeholder of placeholders) {
    if (placeholder === '' || escaped(placeholder) !== placeholder)
      throw new TypeError('a placeholder must be a text that JSON leaves as it is');
    if (placeholders.filter((other) => other.includes(placeholder)).length > 1)
      throw new TypeError('no placeholder may hold another one');
  }
  // One look for all of them: that most rows of a large body hold none has to be found out quickly.
  const gap = new RegExp(`(${placeholders.map((text) => RegExp.escape(text)).join('|') || '(?!)'})`, 'g');
  /** What stands in the place of each placeholder. */
  const textsOf = (values: readonly string[]): ReadonlyMap<string, string> => {
    if (values.length !== placeholders.length)
      throw new TypeError('a template takes one value for each of its placeholders');
    return new Map(values.map((value, n) => [placeholders[n] ?? '', escaped(value)]));
  };
  return {
    fill(values) {
      const texts = textsOf(values);
      const textOf = (placeholder: string): string => texts.get(placeholder) ?? '';
      return checked(schema, function* () {
        for (const piece of pieces()) yield piece.replace(gap, textOf);
      });
    },
    keep(maxLength) {
      const kept: string[] = [];
      let length = 0;
      for (const piece of pieces()) {
        length += piece.length;
        if (length > maxLength) return undefined;
        kept.push(piece);
      }
      /** Texts and, at every other place, the placeholder that stood there. */
      const segments = kept.join('').split(gap);
      return {
        length: segments.reduce((sum, text, n) => (n % 2 === 0 ? sum + text.length : sum), 0),
        fill(values) {
          const texts = textsOf(values);
          const filled = segments.map((text, n) => (n % 2 === 0 ? text : (texts.get(text) ?? '')));
          return checked(schema, () => filled);
        },
      };
    },
  };
}

/** A text as it stands between the quotes of a JSON string. */
function escaped(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}
