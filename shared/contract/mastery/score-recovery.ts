import * as z from 'zod';
import { member } from '#shared/kernel/defect.ts';
import { CANONICAL_GUID } from '#shared/kernel/guid.ts';
import { executionPins } from './adaptive-run.ts';
import { identifier, probability, recordIdentifier, requestIdentifier, sha256 } from './primitives.ts';

const MAX_PROFILES = 100;
const MAX_KCS = 500;

const caseGuid = z.string().regex(CANONICAL_GUID);

/** The probability that a profile has mastered each of its known knowledge components [MA-128]. */
const knownMastery = z
  .preprocess(
    // A record ignores this one name silently; the simulation would then not be the requested one.
    (value, { issues }) => {
      if (typeof value === 'object' && value !== null && Object.hasOwn(value, '__proto__'))
        issues.push({
          code: 'custom',
          message: 'is a name that is not allowed here',
          params: { reason: 'invalid-name' },
          path: ['__proto__'],
          input: value,
        });
      return value;
    },
    z.record(caseGuid, probability).refine(
      (known) => {
        const count = Object.keys(known).length;
        return count >= 1 && count <= MAX_KCS;
      },
      {
        message: `must name 1 to ${MAX_KCS} knowledge components`,
        params: { reason: 'out-of-range' },
      },
    ),
  )
  .meta({ minProperties: 1, maxProperties: MAX_KCS });

/** A simulated learner. No real learner's id begins like this one, which continues after the prefix [MA-127]. */
const syntheticProfileId = z.string().regex(/^synthetic:[^\uFFFD]+$/);

export const syntheticProfile = z.strictObject({ syntheticProfileId, knownMastery });
export type SyntheticProfile = z.infer<typeof syntheticProfile>;

export const simulationRequest = z.strictObject({
  selectionPolicyId: recordIdentifier,
  scaleCalibrationId: recordIdentifier,
  testSpecId: requestIdentifier,
  testBankId: requestIdentifier,
  bankOperationId: requestIdentifier,
  profiles: z
    .array(syntheticProfile)
    .min(1)
    .max(MAX_PROFILES)
    .check(({ value, issues }) => {
      const seen = new Set<string>();
      for (const [index, profile] of value.entries()) {
        if (seen.has(profile.syntheticProfileId))
          issues.push({
            code: 'custom',
            message: 'is the id of an earlier profile too',
            params: { reason: 'repeated' },
            path: [index, 'syntheticProfileId'],
            input: value,
          });
        seen.add(profile.syntheticProfileId);
      }
    }),
});

/**
 * Returns whether a body asks for more than one simulation takes: a problem of its own, which precedes any other defect of the body [MA-182].
 * @param body the JSON value as it was sent
 */
export function exceedsSimulationLimits(body: unknown): boolean {
  const profiles = member(body, ['profiles'], z.array(z.unknown())) ?? [];
  return (
    profiles.length > MAX_PROFILES ||
    profiles.some((profile) => {
      const known = member(profile, ['knownMastery'], z.record(z.string(), z.unknown())) ?? {};
      return Object.keys(known).length > MAX_KCS;
    })
  );
}

/**
 * The known scale of one profile and the average of its simulated tests, in units of the scale [MA-130]. The standard error is that of the average;
 * a single replication has none.
 */
export const recoveryError = z.strictObject({
  syntheticProfileId,
  knownScale: z.number(),
  recoveredScale: z.number(),
  absoluteError: z.number().min(0),
  standardError: z.number().min(0).optional(),
});
export type RecoveryError = z.infer<typeof recoveryError>;

/** The response of a simulation [MA-129..MA-134]. */
export const scoreRecoverySimulation = z
  .strictObject({
    profilesTotal: z.int().min(1),
    replications: z.int().min(1),
    recoveryErrors: z.array(recoveryError).min(1),
    tolerance: z.number().min(0),
    maxAbsoluteError: z.number().min(0),
    withinTolerance: z.boolean(),
    executionPins,
    receiptId: identifier,
    eventIri: z.string().regex(/^urn:uuid:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    envelopeHash: sha256,
  })
  .refine(({ profilesTotal, recoveryErrors }) => profilesTotal === recoveryErrors.length, {
    message: 'there is one error for each profile',
    path: ['recoveryErrors'],
  });
export type ScoreRecoverySimulation = z.infer<typeof scoreRecoverySimulation>;
