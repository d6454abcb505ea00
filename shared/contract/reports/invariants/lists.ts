import type * as z from 'zod';
import type { reportsRoutes } from '../routes.ts';
import { receiptKey } from '../source-ref.ts';
import type { ListKeys } from './invariant.ts';

type Answer<Operation extends keyof typeof reportsRoutes> = z.output<
  (typeof reportsRoutes)[Operation]['success']['schema']
>;

const itself = { key: (name: string) => name };
const sentences = { noKey: 'They are sentences for people.' };
const receipts = { key: receiptKey };

const attemptReport = {
  mastery: {
    key: ({ kind, caseGuid }) => [kind, caseGuid],
    rows: {
      evidence: {
        key: ({ qtiItemId, qtiOutcomeId, resultComponentId }) => [qtiItemId, qtiOutcomeId, resultComponentId],
      },
    },
  },
  gate: { gapCaseGuids: itself },
  sources: receipts,
  omitted: itself,
  incompleteSections: {
    noKey: 'Each is an occurrence of its own.',
    rows: { fieldErrors: { noKey: 'A member may be wrong in two ways.' } },
  },
} as const satisfies ListKeys<Answer<'readAttemptReport'>>;

const cohort = {
  measures: { key: ({ name, unit }) => [unit, name] },
} as const satisfies ListKeys<Answer<'readClassCohort'>>;

const run = {
  metricStatuses: { key: ({ metric }) => metric },
  sourceKeys: itself,
  omissions: itself,
  sources: receipts,
} as const satisfies ListKeys<Answer<'readImprovementRun'>>;

/** The lists that each route shows: a list of a new member or of a new route does not compile without its key. */
export const shownLists = {
  readAttemptReport: attemptReport,
  listCandidateReports: {
    data: { key: ({ attemptId }) => attemptId, rows: attemptReport },
    withheld: { key: ({ reason }) => reason },
    sources: receipts,
  },
  readClassCohort: cohort,
  readSchoolGradeCohort: cohort,
  readEquivalence: { comparisonQtiTestIds: itself, limitations: sentences, sources: receipts },
  readReadiness: {
    entries: {
      key: ({ sourceTest, sourceVersion }) => [sourceTest, sourceVersion],
      rows: { qualifyingBlueprintSlotIds: itself, limitations: sentences },
    },
    omittedEntries: { key: ({ sourceTest, sourceVersion }) => [sourceTest, sourceVersion] },
    sources: receipts,
  },
  materializeAttemptReport: { report: attemptReport },
  analyzeAdministration: run,
  readImprovementRun: run,
  readAlignmentReport: {
    contributions: { key: (row: { readonly sourceRequirementId: string }) => row.sourceRequirementId },
    limitations: sentences,
    sources: receipts,
  },
  listRevisionOrders: {
    data: {
      key: ({ revisionOrderId }) => revisionOrderId,
      rows: {
        sourceKeys: itself,
        caseGuids: itself,
        reasonCodes: itself,
        evidenceRefs: receipts,
      },
    },
    sources: receipts,
  },
} as const satisfies ListKeys<{
  readonly [Operation in keyof typeof reportsRoutes]: Answer<Operation>;
}>;
