import { attemptStatements, reportInvariants, summaryInvariants } from './attempt-report.ts';
import { cohortInvariants } from './cohort-report.ts';
import { equivalenceInvariants } from './equivalence-report.ts';
import { listInvariants } from './improvement-run.ts';
import type { Statement } from './invariant.ts';
import { comparisonInvariants, metricInvariants } from './metric.ts';

/** Every table of invariants, by what it is about. */
export const invariantTables: Readonly<Record<string, Readonly<Record<string, Statement>>>> = {
  'What owners say of an attempt': attemptStatements,
  'The summary of a report': summaryInvariants,
  'A whole report': reportInvariants,
  'A cohort report': cohortInvariants,
  'An equivalence report': equivalenceInvariants,
  'The lists for an improvement run': listInvariants,
  'A metric of an improvement run': metricInvariants,
  'A comparison of an improvement run': comparisonInvariants,
};
