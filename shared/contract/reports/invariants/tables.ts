import { attemptStatements, reportInvariants, summaryInvariants } from './attempt-report.ts';
import { cohortInvariants } from './cohort-report.ts';
import { equivalenceInvariants } from './equivalence-report.ts';
import type { Statement } from './invariant.ts';

/** Every table of invariants, by what it is about. */
export const invariantTables = {
  'What owners say of an attempt': attemptStatements,
  'The summary of a report': summaryInvariants,
  'A whole report': reportInvariants,
  'A cohort report': cohortInvariants,
  'An equivalence report': equivalenceInvariants,
} as const satisfies Readonly<Record<string, Readonly<Record<string, Statement>>>>;

type Tables = typeof invariantTables;

/** The id of an invariant. */
export type InvariantId = { [Title in keyof Tables]: keyof Tables[Title] }[keyof Tables];
