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
  /** Fraction subtraction: 20 items, 8 KCs, of which only two are measured by items of their own (de la Torre and Douglas, 2004, Psychometrika 69, 333-353). */
  fractions: design(
    536,
    `00010110 00010010 00010010 01101010 01010011 00000010 11000010 00000010 01000000 01001011
     01001010 00000011 01011010 01000010 10000010 01000010 01001010 01001110 11101010 01101010`,
  ),
  /** Fraction subtraction again, by other KCs: 15 items, 5 KCs (de la Torre, 2009, J. of Educational and Behavioral Statistics 34, 115-130). */
  didactic: design(
    536,
    `10000 11110 10000 11111 00100 11110 11110 11000 10100 10111 10100 10110 11110 11111 11110`,
  ),
} as const;
