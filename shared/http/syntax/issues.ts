import { cutAfter } from '#shared/kernel/cut-text.ts';
import type * as z from 'zod';
import { firstOfEach, pointer, valueAt } from '#shared/kernel/defect.ts';
import type { InvalidParam } from '#shared/problems/problem.ts';

/** The part of a request that contains a value: the first segment of every pointer. */
export type RequestPart = 'path' | 'query' | 'headers' | 'body';
type Segment = string | number;

/** The most characters of a name that a pointer repeats: a longer one could be data that was sent as a name, such as a token. */
const MAX_NAME = 100;

/**
 * Returns a JSON Pointer (RFC 6901) into `{path, query, headers, body}`. It repeats names but no values [MA-210]; long ones are cut. Never logged.
 */
export function pointerTo(part: RequestPart, segments: readonly Segment[]): string {
  const names = segments.map((segment) => String(segment).toWellFormed());
  return pointer(part, ...names.map((name) => (name.length > MAX_NAME ? cutAfter(name, MAX_NAME) : name)));
}

export function invalid(
  part: RequestPart,
  segments: readonly Segment[],
  reason: string,
  message: string,
): InvalidParam {
  return { name: pointerTo(part, segments), reason, message };
}

/**
 * Returns what a schema rejected, in words that come only from the schema: Zod's own messages may quote submitted names and values. It names the
 * first issue per place: Zod checks the length of any value that has one, even where a string is expected.
 * @param value the checked value; only its shape is used
 */
export function invalidParamsOf(
  part: RequestPart,
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
): readonly InvalidParam[] {
  return firstOfEach(issues, ({ path }) => pointer(...path)).flatMap((issue) => paramsOf(part, issue, value));
}

function paramsOf(part: RequestPart, issue: z.core.$ZodIssue, value: unknown): readonly InvalidParam[] {
  const path = issue.path.map((segment) => (typeof segment === 'symbol' ? segment.toString() : segment));
  const at = (reason: string, message: string): readonly InvalidParam[] => [
    invalid(part, path, reason, message),
  ];
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) =>
      invalid(part, [...path, key], 'unknown-field', 'is not a field of this request'),
    );
  if (valueAt(value, path) === undefined) return at('required', 'is required');
  switch (issue.code) {
    case 'invalid_type':
      return at('wrong-type', `must be of type ${issue.expected}`);
    case 'invalid_value':
      return at('not-allowed', `must be one of: ${issue.values.map(String).join(', ')}`);
    case 'too_small':
      return at('out-of-range', boundOf(issue, 'at least', issue.minimum));
    case 'too_big':
      return at('out-of-range', boundOf(issue, 'at most', issue.maximum));
    case 'invalid_union':
      return at('not-allowed', 'must have one of the documented forms');
    case 'invalid_key':
      return at('invalid-name', 'is a name that is not allowed here');
    case 'custom': {
      const reason: unknown = issue.params?.['reason'];
      // A refinement's message is written in the schema: it never quotes submitted data.
      return at(typeof reason === 'string' ? reason : 'invalid-format', issue.message);
    }
    case 'invalid_format':
      return at('invalid-format', 'does not have the documented form');
    default:
      return at('invalid', 'is not valid');
  }
}

/** Returns the bound that a value violates, with the unit that it counts. */
function boundOf(
  { origin, inclusive }: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig,
  side: string,
  bound: number | bigint,
): string {
  const isCollection = ['array', 'set', 'map', 'object'].includes(origin);
  const unit = origin === 'string' ? 'of length ' : isCollection ? 'of size ' : '';
  return `must be ${unit}${side} ${String(bound)}${inclusive === false ? ' (exclusive)' : ''}`;
}
