/** The Q-matrices of real tests. A study that is simulated from one has the form that people meet: few items for a KC, KCs that are measured only together. */

/** The form of a test. */
export interface TestDesign {
  readonly learners: number;
  readonly kcs: number;
  /** For each item the ascending indices of its KCs. */
  readonly kcsOf: readonly (readonly number[])[];
}

/** Reads one row of 1 and 0 per item. */
function design(learners: number, rows: string): TestDesign {
  const items = rows.trim().split(/\s+/);
  const kcsOf = items.map((row) => row.split('').flatMap((cell, k) => (cell === '1' ? [k] : [])));
  return { learners, kcs: items[0]?.length ?? 0, kcsOf };
}

export const designs = {
  /** Examination for the Certificate of Proficiency in English: 28 items, 3 KCs (Templin and Hoffman, 2013, Educational Measurement 32(2), 37-50). */
  english: design(
    2922,
    `110 010 101 001 001 001 101 010 001 100 101 101 100 100
     001 101 011 001 001 101 101 001 010 010 100 001 100 001`,
  ),
} as const;
