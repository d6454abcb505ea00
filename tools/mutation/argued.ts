/** A mutant that may survive, since no test could or should tell it from the code. */
export interface ArguedMutant {
  readonly file: string;
  /** The code that it changes, as it stands in the file. */
  readonly original: string;
  readonly replacement: string;
  /** Why it may survive. */
  readonly reason: string;
}

/** Survivors with a reason. One that a test catches, or whose code has changed, has no place here. */
export const arguedMutants: readonly ArguedMutant[] = [];
