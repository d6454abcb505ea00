/* What several rows of the mastery engine have alike. */

export const MEBIBYTE = 1024 * 1024;

/** What can be wrong with a pool and the calibration that shall measure it. */
export const poolProblems = [
  '409 adaptive-pool-version-drift',
  '422 calibration-invalid',
  '502 qti-adaptive-pool-invalid',
] as const;

/** A run's start, inspection and advance all read the pinned pool again: what can be wrong with it is the same for all three. */
export const runProblems = [...poolProblems, '409 stream-conflict'] as const;

/** Room for the largest token: a run of `MAX_RUN_ITEMS` items whose owners use ids of 1,024 bytes. */
export const continuationBytes = 4 * MEBIBYTE;

/** A run's functions touch the pinned records, the control record, and the keys of token, control record and pseudonym; receipts say what of the release is proved. */
export const runLambda = {
  memoryMb: 1024,
  grants: [
    'records:read',
    'control:write',
    'keys:continuation',
    'keys:idempotency',
    'keys:pseudonym',
    'profiles:read',
    'release:read',
  ],
} as const;

/** What the two reads of a record have alike. */
export const read = {
  service: 'mastery',
  method: 'GET',
  scope: 'mastery:read',
  budget: { calls: 0, depth: 0 },
} as const;
export const readLambda = {
  memoryMb: 512,
  timeoutSeconds: 10,
  grants: ['records:read', 'profiles:read'],
} as const;

/** What start, inspection and advance have alike. */
export const run = { service: 'mastery', method: 'POST', learnersWait: true } as const;
