import { attemptStatements, reportInvariants, summaryInvariants } from './attempt-report.ts';
import { cohortInvariants } from './cohort-report.ts';
import { equivalenceInvariants } from './equivalence-report.ts';
import { listInvariants } from './improvement-run.ts';
import type { Statement } from './invariant.ts';
import { comparisonInvariants, metricInvariants } from './metric.ts';

type Table = Readonly<Record<string, Statement>>;

/** The tables whose violation makes the service refuse a response, by subject. */
const refusing = {
  'The owners’ statements on an attempt': attemptStatements,
  'The summary of a report': summaryInvariants,
  'A whole report': reportInvariants,
  'A cohort report': cohortInvariants,
  'An equivalence report': equivalenceInvariants,
  'The lists for an improvement run': listInvariants,
} as const satisfies Readonly<Record<string, Table>>;

/** Every table of invariants, by subject. */
export const invariantTables: Readonly<Record<string, Table>> = {
  ...refusing,
  'A metric of an improvement run': metricInvariants,
  'A comparison of an improvement run': comparisonInvariants,
};

type Refusing = typeof refusing;

/** The id of an invariant whose violation makes the service refuse a response. */
export type InvariantId = { [Title in keyof Refusing]: keyof Refusing[Title] }[keyof Refusing];
