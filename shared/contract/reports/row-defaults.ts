/*
 * What several rows of the reports service have alike. Budgets are of the worst that can happen: everything is read, and what does not agree
 * once more.
 */

/** What the rows that read, and those that write, have alike. */
export const read = { service: 'reports', method: 'GET', scope: 'reports:read' } as const;
export const write = { service: 'reports', method: 'POST', scope: 'reports:write' } as const;

/** One whole processor. A settled record of 64 MB, read twice, takes half of it (`npm run bench -- --only report-limit`). */
export const RECORD_MEMORY_MB = 1769;

/** What both cohort reports have alike. */
export const cohort = {
  ...read,
  gates: ['A', 'D'],
  // Roster and rollup, side by side; and both once more, if the facts cannot all be true.
  budget: { calls: 4, depth: 2 },
} as const;
export const cohortLambda = { memoryMb: 512, timeoutSeconds: 15, grants: ['profiles:read'] } as const;
