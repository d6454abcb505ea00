import type { Result } from '#shared/kernel/result.ts';

/** How a foreign tool and the product went together. */
export interface Tried {
  /** How much was tried, with its unit: `46 templates`. */
  readonly tried: string;
  /** A line per difference between what the tool expects and what the product does. */
  readonly differences: readonly string[];
}

/** A foreign tool, from outside this project, with what it is run against. */
export interface Part {
  /** Its text in the help. */
  readonly about: string;
  /** Runs the tool, with `all` also what takes too long for CI. Fails with a sentence if it cannot be had on this machine; rejects if it cannot do its work. */
  readonly run: (options: { readonly all: boolean }) => Promise<Result<Tried, string>>;
}
