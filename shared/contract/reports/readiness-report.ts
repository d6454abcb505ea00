import * as z from 'zod';
import { when } from '../conditions.ts';
import { areUnique, composed, proportion, reference, text, uniqueListOf } from './primitives.ts';
import { sources } from './source-ref.ts';

/** Characters of one limitation, at most. */
export const MAX_LIMITATION_LENGTH = 500;
const limitation = z.string().min(1).max(MAX_LIMITATION_LENGTH);

/** Limitations of one entry, and entries of one report, at most. */
export const MAX_LIMITATIONS = 50;
export const MAX_ENTRIES = 100;

export const readinessEntry = z
  .strictObject({
    decision: z.enum(['projected_pass', 'not_ready', 'indeterminate', 'unknown']),
    sourceTest: text,
    sourceVersion: text,
    crosswalkVersion: text,
    coverageFraction: proportion,
    dokDominance: z.enum(['satisfied', 'not_satisfied', 'indeterminate']),
    qualifyingBlueprintSlotIds: uniqueListOf(reference),
    decisionRuleId: text,
    decisionRuleVersion: text,
    limitations: z.array(limitation).max(MAX_LIMITATIONS),
  })
  .check(
    when(
      {
        if: { decision: z.literal('projected_pass') },
        then: {
          coverageFraction: z.literal(1),
          dokDominance: z.literal('satisfied'),
          qualifyingBlueprintSlotIds: z.array(z.unknown()).min(1),
        },
      },
      'a projected pass has complete evidence [RP-116]',
    ),
  );
export type ReadinessEntry = z.infer<typeof readinessEntry>;

/** A named test without a decision, since the blueprint lacks a member that its entry requires. */
export const omittedEntry = z.strictObject({
  sourceTest: text,
  sourceVersion: text,
  reason: z.enum(['coverage_missing']),
});
export type OmittedEntry = z.infer<typeof omittedEntry>;

/** Checks that entries are unique by source test and version [RP-110]. */
export function nameSourcesOnce(
  entries: readonly { readonly sourceTest: string; readonly sourceVersion: string }[],
): boolean {
  return areUnique(
    entries.map(({ sourceTest, sourceVersion }) => JSON.stringify([sourceTest, sourceVersion])),
  );
}

/** What an attempt implies for the named source tests of its blueprint's crosswalk. */
export const readinessReport = z.strictObject({
  object: z.literal('readiness_report'),
  attemptId: reference,
  entries: z
    .array(readinessEntry)
    .min(1)
    .max(MAX_ENTRIES)
    .refine(nameSourcesOnce, 'entries are unique by source test and version [RP-110]'),
  /** Additive: the named tests of the crosswalk that are not among the entries. Absent when all of them are. */
  omittedEntries: z
    .array(omittedEntry)
    .min(1)
    .max(MAX_ENTRIES)
    .refine(nameSourcesOnce, 'tests are unique by source test and version')
    .optional(),
  sources,
  ...composed,
});
export type ReadinessReport = z.infer<typeof readinessReport>;
