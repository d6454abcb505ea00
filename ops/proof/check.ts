/** Whose request or answer a check is about: one tenant's, what one asks of the other's, or everything that was heard. */
export const sides = ['A', 'B', 'A-B', 'B-A', 'both'] as const;
export type Side = (typeof sides)[number];

/** What the checks of the suite are sorted by, in the order in which they run. */
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
 * What a check came to. `not_open`: the deployment does not have the route. `not_asked`: it could not be asked, for the given reason, and
 * says nothing either way.
 */
export type Outcome =
  | { readonly result: 'passed' }
  | { readonly result: 'failed'; readonly findings: readonly string[] }
  | { readonly result: 'not_open' | 'not_asked'; readonly why: string };

/** One thing that the target is held to. */
export interface Check {
  readonly group: Group;
  /** What it is about within its group: an operation id, with a kind or a member where there are several. */
  readonly subject: string;
  readonly side: Side;
  /** What holds when it passes. */
  readonly title: string;
  /** What is sent, in words without ids. */
  readonly asked: string;
  readonly run: () => Promise<Outcome>;
}

/** The name of a check: stable, so that receipts can be compared. */
export function checkId({ group, subject, side }: Pick<Check, 'group' | 'subject' | 'side'>): string {
  return `${group}.${subject}.${side}`;
}

/** Passed when nothing was found. */
export function outcomeOf(findings: readonly string[]): Outcome {
  return findings.length === 0 ? { result: 'passed' } : { result: 'failed', findings };
}

/** For a check that stands on something which this deployment or these tenants lack. */
export function notAsked(why: string): Outcome {
  return { result: 'not_asked', why };
}
