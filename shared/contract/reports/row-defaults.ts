/* Values that several rows of the reports service share. Budgets are for the worst case: all is read, and facts that disagree once more. */

/** Values that the rows that read, and those that write, share. */
export const read = { service: 'reports', method: 'GET', scope: 'reports:read' } as const;
export const write = { service: 'reports', method: 'POST', scope: 'reports:write' } as const;

/** One whole processor. A settled record of 64 MB, read twice, takes half of it (`npm run bench -- --only report-limit`). */
export const RECORD_MEMORY_MB = 1769;

export const cohort = {
  ...read,
  gates: ['A', 'D'],
  // Roster and rollup, concurrently; and both once more, if the facts cannot all be true.
  budget: { calls: 4, depth: 2 },
} as const;
export const cohortLambda = { memoryMb: 512, timeoutSeconds: 15, grants: ['profiles:read'] } as const;
