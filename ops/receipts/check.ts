/** One thing that a bundle is held to. */
export interface Check {
  /** A word or two, the same for the same thing. */
  readonly name: string;
  /** What holds, when nothing fails. */
  readonly holds: string;
  /** What does not hold, a sentence each. */
  readonly failures: readonly string[];
  /** What to do about it. */
  readonly remedy: string;
  /** Why nothing was looked at; such a check neither holds nor fails. */
  readonly skipped?: string;
}

/** The sentence for two values that should be one, or none. */
export function differs(what: string, said: unknown, found: unknown): readonly string[] {
  return said === found ? [] : [`${what} is ${String(said)}; it would have to be ${String(found)}`];
}

/** The values that stand more than once, each of them once. */
export function repeated(values: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  return [...new Set(values.filter((value) => seen.size === seen.add(value).size))];
}
