import * as z from 'zod';
import { when } from '../conditions.ts';
import { identifier, probability, sha256 } from './primitives.ts';

/** How many scored items a GUID (a knowledge component or a standard) needs before precision may stop the run [MA-112]. */
export const coverageFloor = z.strictObject({
  caseCompetencyGuid: identifier,
  minimumEvidenceItems: z.int().min(0),
});

export const randomesqueExposure = z.strictObject({ method: z.literal('randomesque'), size: z.int().min(1) });
export const progressiveExposure = z.strictObject({ method: z.literal('progressive') });
export const sympsonHetterExposure = z.strictObject({
  method: z.literal('sympson_hetter'),
  tableSha256: sha256,
});

/**
 * How a policy avoids offering the same few items to every learner. A method that needs parameters per item names their table by `tableSha256`; the
 * table itself stays on the server.
 */
export const exposureRule = z.discriminatedUnion('method', [
  randomesqueExposure,
  progressiveExposure,
  sympsonHetterExposure,
]);

/** How a policy controls exposure. A new method does not compile until every table of methods has its row. */
export type ExposureRule = z.infer<typeof exposureRule>;
export type ExposureMethod = ExposureRule['method'];

/** Returns whether a rule names a table of item parameters, which is then released and stored with its policy. */
export function namesTable(rule: ExposureRule): rule is Extract<ExposureRule, { tableSha256: string }> {
  return 'tableSha256' in rule;
}

export const contentConstraint = z.strictObject({
  minItems: z.int().min(0).optional(),
  maxItems: z.int().min(0).optional(),
});

/**
 * Pinned constraints, version 1 of the keys (docs/records.md explains each). A policy with unknown keys cannot be released: this runtime would
 * silently ignore the constraint [MA-113].
 */
export const eligibilityRules = z
  .strictObject({
    kcScope: z.array(identifier).min(1).optional(),
    contentConstraints: z.record(identifier, contentConstraint).optional(),
    requiredAccessibility: z.array(z.string().min(1)).optional(),
    enemySets: z.array(z.array(identifier).min(2)).optional(),
    excludedItems: z.array(identifier).optional(),
    exposure: exposureRule.optional(),
    priorUse: z.enum(['allow', 'avoid', 'exclude']).optional(),
    selectionTarget: z
      .enum(['latent_state', 'unsettled_components', 'unsettled_and_unmeasured', 'settling_look_ahead'])
      .optional(),
    unmeasuredCredit: z.number().positive().optional(),
    settlingCredit: z.number().positive().optional(),
    minimumGain: z.number().positive().optional(),
    minimumDecisionGain: z.number().positive().optional(),
    poolMembership: z.literal('manifest').optional(),
    blueprintCoverage: z.enum(['slots', 'none']).optional(),
  })
  .check(
    when(
      {
        if: { selectionTarget: z.enum(['unsettled_and_unmeasured', 'settling_look_ahead']) },
        then: { unmeasuredCredit: z.number() },
        else: { unmeasuredCredit: z.never().optional() },
      },
      {
        path: ['unmeasuredCredit'],
        message:
          'is required with selectionTarget unsettled_and_unmeasured or settling_look_ahead, and forbidden without them',
      },
    ),
    when(
      {
        if: { selectionTarget: z.literal('settling_look_ahead') },
        then: { settlingCredit: z.number() },
        else: { settlingCredit: z.never().optional() },
      },
      {
        path: ['settlingCredit'],
        message: 'is required with selectionTarget settling_look_ahead, and forbidden without it',
      },
    ),
  );

/** The most items that a released policy may offer: the token of a longer run would outgrow the requests that carry it. */
export const MAX_RUN_ITEMS = 500;

/** An immutable selection policy as clients read it [MA-104..MA-115]. */
export const selectionPolicy = z.strictObject({
  id: identifier,
  visibility: z.enum(['tenant', 'system']),
  algorithm: z.literal('constrained_information_gain'),
  kcCutScore: probability,
  confidenceThreshold: probability,
  precisionTarget: z.number().positive(),
  maxItems: z.int().min(1),
  timeBudgetSeconds: z.int().min(1).nullable(),
  coverageFloors: z.array(coverageFloor),
  eligibilityRules,
  checksum: sha256,
});
export type SelectionPolicy = z.infer<typeof selectionPolicy>;
