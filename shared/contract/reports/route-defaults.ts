/* Values that several route definitions of the reports service share. Budgets are for the worst case: every source is read, and contradicting ones once more. */

/** The defaults of the GET routes, and of the POST routes. */
export const readRoute = { service: 'reports', method: 'GET', scope: 'reports:read' } as const;
export const writeRoute = { service: 'reports', method: 'POST', scope: 'reports:write' } as const;

/** The memory at which Lambda assigns one full vCPU. A settled record of 64 MB, read twice, takes half of it (`npm run bench -- --only report-limit`). */
export const RECORD_MEMORY_MB = 1769;

export const cohortRoute = {
  ...readRoute,
  gates: ['A', 'D'],
  // Roster and rollup are read concurrently, and both again if they contradict each other.
  budget: { calls: 4, depth: 2 },
} as const;
export const cohortLambda = { memoryMb: 512, timeoutSeconds: 15, grants: ['profiles:read'] } as const;
