import type * as z from 'zod';

/** One reason why a record cannot be released: a JSON Pointer (RFC 6901) into the file, and what is wrong there. */
export interface Defect {
  readonly pointer: string;
  readonly message: string;
}

/** A path as a JSON Pointer. */
export function pointer(...path: readonly PropertyKey[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Every schema issue as a defect of its own; an unknown member is named itself, not the object that holds it. */
export function schemaDefects(error: z.ZodError): readonly Defect[] {
  return error.issues.flatMap((issue): readonly Defect[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        pointer: pointer(...issue.path, key),
        message: 'is not a member that this version knows',
      }));
    }
    return [{ pointer: pointer(...issue.path), message: wording(issue) }];
  });
}

function wording(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) return 'is required';
  return issue.message.replace(/^Invalid input: /, '');
}

/** Each pointer and message once, in the order of the file's pointers as they were found. */
export function distinctDefects(defects: readonly Defect[]): readonly Defect[] {
  const seen = new Set<string>();
  return defects.filter((defect) => {
    const key = `${defect.pointer} ${defect.message}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
