/* Values that several rows of the mastery engine share. */

export const MEBIBYTE = 1024 * 1024;

/** The problems of a pool and the calibration that should measure it. */
export const poolProblems = [
  '409 adaptive-pool-version-drift',
  '422 calibration-invalid',
  '502 qti-adaptive-pool-invalid',
] as const;

/** A run's start, inspection and advance all read the pinned pool again, so that its problems are the same for all three. */
export const runProblems = [...poolProblems, '409 stream-conflict'] as const;

/** Room for the largest token: a run of `MAX_RUN_ITEMS` items whose owners use ids of 1,024 bytes. */
export const continuationBytes = 4 * MEBIBYTE;

/** A run's functions use the pinned records, the idempotency record, and the keys of both and of the pseudonym; receipts prove the release. */
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

/** Values that the two reads of a record share. */
export const readRoute = {
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

/** Values that start, inspection and advance share. */
export const runRoute = { service: 'mastery', method: 'POST', learnersWait: true } as const;
