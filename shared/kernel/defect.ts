import type * as z from 'zod';

/** One reason to reject a record: a JSON Pointer (RFC 6901) into the file, and what is wrong there. */
export interface Defect {
  readonly pointer: string;
  readonly message: string;
}

export function pointer(...path: readonly PropertyKey[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Returns the defect at the end of a path if something is wrong there, else none. */
export function defectIf(isWrong: boolean, path: readonly PropertyKey[], message: string): readonly Defect[] {
  return isWrong ? [{ pointer: pointer(...path), message }] : [];
}

/**
 * Returns every schema issue as a defect of its own; an unknown member is named itself, not the object that contains it. With the parsed value, an
 * absent member is reported as required, regardless of its type.
 */
export function schemaDefects(error: z.ZodError, parsed?: unknown): readonly Defect[] {
  return error.issues.flatMap((issue): readonly Defect[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        pointer: pointer(...issue.path, key),
        message: 'is not a member that this version knows',
      }));
    }
    const absent = parsed !== undefined && valueAt(parsed, issue.path) === undefined;
    return [{ pointer: pointer(...issue.path), message: absent ? 'is required' : wording(issue) }];
  });
}

/** Returns the part of a JSON value at the end of a path; undefined if it ends before. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Readonly<Record<PropertyKey, unknown>>)[step];
  }
  return at;
}

function wording(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) return 'is required';
  return issue.message.replace(/^Invalid input: /, '');
}

/** Yields the first entry of each key, in order. */
export function firstOfEach<Entry>(
  entries: readonly Entry[],
  keyOf: (entry: Entry) => string,
): readonly Entry[] {
  const seen = new Set<string>();
  return entries.filter((entry) => seen.size < seen.add(keyOf(entry)).size);
}

/** Returns each pointer and message once, in the order in which the file's pointers were found. */
export function distinctDefects(defects: readonly Defect[]): readonly Defect[] {
  return firstOfEach(defects, (defect) => `${defect.pointer} ${defect.message}`);
}

/** Returns the member at a path if it satisfies its schema, else undefined: the schema then reports its defect. */
export function member<S extends z.ZodType>(
  file: unknown,
  path: readonly string[],
  schema: S,
): z.output<S> | undefined {
  const parsed = schema.safeParse(valueAt(file, path));
  return parsed.success ? parsed.data : undefined;
}
