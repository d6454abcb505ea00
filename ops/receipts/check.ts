export interface Check {
  /** One or two words; always the same for the same check. */
  readonly name: string;
  /** What is true if nothing fails. */
  readonly holds: string;
  readonly failures: readonly string[];
  readonly remedy: string;
  /** Why the check did not run; it neither passed nor failed. */
  readonly skipped?: string;
}

/** Returns a sentence if two values differ that should be equal, or none. */
export function differs(what: string, said: unknown, found: unknown): readonly string[] {
  return said === found ? [] : [`${what} is ${String(said)}: expected ${String(found)}`];
}

/** Returns the values that occur more than once, each of them once. */
export function repeated(values: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  return [...new Set(values.filter((value) => seen.size === seen.add(value).size))];
}
