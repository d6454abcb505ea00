import * as z from 'zod';
import { compareInstants, normalizeInstant } from '#shared/kernel/instant.ts';
import { filteredQuery } from '../../filters.ts';
import { defineRoute } from '../../route.ts';
import { attemptReportPage, requestableTestKind } from '../attempt-report.ts';
import * as examples from '../examples.ts';
import { cursor, limit } from '../page-parameters.ts';
import { instant, requestReference } from '../primitives.ts';
import { readRoute, RECORD_MEMORY_MB } from '../route-defaults.ts';

/**
 * The filters of a candidate's reports. Results applies those on its own facts. Kind and status of a report follow from the facts of Results and
 * Content together: only this service knows them, so it applies these two.
 */
const candidateQuery = filteredQuery(
  {
    qtiTestId: { schema: requestReference, appliedBy: 'owner', fact: 'qtiTestId' },
    testKind: { schema: requestableTestKind, appliedBy: 'service', fact: 'testKind' },
    status: { schema: z.enum(['scored', 'indeterminate']), appliedBy: 'service', fact: 'status' },
    modifiedSince: {
      schema: instant,
      appliedBy: 'owner',
      fact: 'modifiedAt',
      admits: (modifiedAt, since) => compareInstants(modifiedAt, since) >= 0,
      canonical: normalizeInstant,
    },
  },
  {
    sort: z.enum(['-modifiedAt']).default('-modifiedAt'),
    limit,
    cursor,
  },
);

export const listCandidateReports = defineRoute({
  ...readRoute,
  operationId: 'listCandidateReports',
  path: '/v1/candidates/{candidateSourcedId}/attempt-reports',
  summary: 'List the reports of a candidate',
  description:
    'Returns the scored attempts of a candidate in the view `summary`, last modified first. Every report matches every filter. To get the next page, send `nextCursor` with the same filters, sort and limit; it expires after one hour. A page can have fewer reports than the limit although more follow; it is never empty then. Attempts that cannot be reported are left out, and `withheld` counts them by reason.',
  gates: ['C', 'D'],
  receipts: ['candidate_attempt_index'],
  request: { path: z.strictObject({ candidateSourcedId: requestReference }), ...candidateQuery },
  success: { schema: attemptReportPage, transfer: 'stream', example: examples.page },
  /*
   * Candidate, 50 reads of the index, 100 test specs with each of them, and 8 frameworks. As 128 calls are under way at a time, a page's test specs
   * are read together with the next page of the index. The chain is one call per read of the index, four for test specs only (the first page's, and
   * the last one's, each read twice), and one per framework where it is met.
   */
  budget: { calls: 5059, depth: 62 },
  lambda: {
    // 8 frameworks of 16 MB take 5 seconds of a whole processor to read, and half of the memory.
    memoryMb: RECORD_MEMORY_MB,
    grants: ['profiles:read', 'keys:cursor'],
    impact: 'Clients cannot list the attempts of a candidate. Single reports still work.',
  },
});
