/** The requests that a check is about: those of one tenant, those of one tenant for resources of the other, or all. */
export const sides = ['A', 'B', 'A-B', 'B-A', 'both'] as const;
export type Side = (typeof sides)[number];

/** The groups of checks, in the order in which they run. */
export const groups = [
  'routes',
  'anonymous',
  'matrix',
  'reads',
  'run',
  'denial',
  'claims',
  'cache',
  'idempotency',
  'trace',
  'cursor',
  'selector',
  'isolation',
] as const;
export type Group = (typeof groups)[number];

/**
 * The outcome of a check. `not_open`: the deployment does not have the route. `not_asked`: the check could not run, for the given reason, and
 * proves nothing.
 */
export type Outcome =
  | { readonly result: 'passed' }
  | { readonly result: 'failed'; readonly findings: readonly string[] }
  | { readonly result: 'not_open' | 'not_asked'; readonly why: string };

export interface Check {
  readonly group: Group;
  /** What it tests within its group: an operation id, with a kind or a member if there are several. */
  readonly subject: string;
  readonly side: Side;
  /** What is true if it passes. */
  readonly title: string;
  /** The requests in words, without ids. */
  readonly asked: string;
  readonly run: () => Promise<Outcome>;
}

/** Returns the name of a check: stable, so that receipts can be compared. */
export function checkId({ group, subject, side }: Pick<Check, 'group' | 'subject' | 'side'>): string {
  return `${group}.${subject}.${side}`;
}

export function outcomeOf(findings: readonly string[]): Outcome {
  return findings.length === 0 ? { result: 'passed' } : { result: 'failed', findings };
}

/** For a check that needs something which this deployment or these tenants do not have. */
export function notAsked(why: string): Outcome {
  return { result: 'not_asked', why };
}
