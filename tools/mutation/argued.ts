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
export const arguedMutants: readonly ArguedMutant[] = [
  {
    file: 'functions/reports/analysis/alignment/align-source.ts',
    original: "'The crosswalk has no requirements.'",
    replacement: '""',
    reason: 'The wording of a sentence for people; that such a crosswalk is refused is tested.',
  },
  {
    file: 'functions/reports/analysis/alignment/align-source.ts',
    original: "'The weights of the crosswalk have a sum beyond every number.'",
    replacement: '""',
    reason: 'The wording of a sentence for people; that such a crosswalk is refused is tested.',
  },
  {
    file: 'functions/reports/composition/page.ts',
    original: "'The index of attempts is not current at Results.'",
    replacement: '""',
    reason: 'The wording of a sentence for people; that such an index is refused is tested.',
  },
  {
    file: 'shared/http/auth/key-set.ts',
    original: "{ accept: 'application/jwk-set+json, application/json' }",
    replacement: '{}',
    reason: 'A courtesy to the issuer: the key set is read as JSON whatever its media type is.',
  },
  {
    file: 'shared/idempotency/request-identity.ts',
    original: '`canonicalPath: no value for ${name}`',
    replacement: '``',
    reason: 'The message of a mistake in the code, which no request can cause.',
  },
];
