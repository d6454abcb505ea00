import * as z from 'zod';
import { identifier, probability, timestamp } from '#shared/contract/mastery/primitives.ts';
import { scaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import { selectionPolicy } from '#shared/contract/mastery/selection-policy.ts';

/** The members of every released record besides its public document. Only its deprecation may be set later [MA-049, MA-228]. */
export const recordMembers = {
  /** The owner of a `tenant` record; absent only for a `system` one. */
  tenantId: z.string().min(1).exactOptional(),
  deprecatedAt: timestamp.exactOptional(),
  sunsetAt: timestamp.exactOptional(),
};

export const policyRecord = z.strictObject({ ...recordMembers, document: selectionPolicy });
export type PolicyRecord = z.infer<typeof policyRecord>;

/**
 * Server-only parameters of a policy whose exposure rule names a table: the probability of passing per QTI identifier, for items that do not always
 * pass. Never returned to a client.
 */
export const exposureTable = z.record(identifier, probability);
export type ExposureTable = z.infer<typeof exposureTable>;

/** P(correct) for each pattern of the item's KCs: bit i of the index is set if `kcs[i]` is mastered; length 2^kcs.length. */
const itemParameters = z.strictObject({
  artifactVersionId: z.string().min(1),
  qtiIdentifier: z.string().min(1),
  kcs: z.array(z.string().min(1)).min(1),
  probabilities: z.array(z.number().gt(0).lt(1)),
  accessibility: z.array(z.string().min(1)).optional(),
});

/** The least reliability ceiling of a calibration whose scale scores may be used for an individual. */
export const INDIVIDUAL_RELIABILITY = 0.8;

/** The limitation by which a calibration states that its own checks forbid it, and that it was written anyway. */
export const INSISTED = 'Not releasable by the checks of npm run calibrate, and written with --insist.';

/** On how many learners a block was fitted, and by how much BIC prefers its form to independent curves. */
const support = z.strictObject({ learners: z.int().positive(), bicGain: z.number() });

/** @param least the fewest KCs of a block @param most the most */
const blockKcs = (least: number, most: number) => z.array(z.string().min(1)).min(least).max(most);

const weight = z.number().nonnegative();

/** KCs that are not independent given theta, in one of the forms of docs/engine.md: bit i of a pattern is set if `kcs[i]` is mastered. */
const priorBlock = z.discriminatedUnion('form', [
  z.strictObject({
    form: z.literal('hierarchy'),
    kcs: blockKcs(2, 12),
    prerequisites: z.array(z.array(z.string().min(1))),
    support,
  }),
  z.strictObject({ form: z.literal('strand'), kcs: blockKcs(3, 12), correlation: z.number().gt(0).lt(1) }),
  z.strictObject({
    form: z.literal('saturated'),
    kcs: blockKcs(2, 5),
    slope: z.number().positive(),
    weights: z.array(weight),
    support,
  }),
  z.strictObject({
    form: z.literal('table'),
    kcs: blockKcs(2, 6),
    probabilities: z.array(z.array(weight)),
  }),
]);

export type PriorBlock = z.infer<typeof priorBlock>;

/** Server-only parameters of a calibration, models `ho-cdm-grid/1` and `ho-cdm-block/1` (docs/engine.md): never returned to a client [MA-123]. */
export const calibrationParameters = z.strictObject({
  theta: z.strictObject({
    nodes: z.int().min(3).max(401),
    min: z.number(),
    max: z.number(),
    mean: z.number(),
    sd: z.number().positive(),
  }),
  /** `uri` is the CFItem URI of the pinned mapping [MA-031]. */
  kcs: z
    .array(
      z.strictObject({
        guid: z.string().min(1),
        uri: z.url(),
        /** The curve; absent where a block states the probabilities. */
        slope: z.number().positive().exactOptional(),
        location: z.number().exactOptional(),
      }),
    )
    .min(1),
  /** Only with `ho-cdm-block/1`. A KC is in at most one block. */
  blocks: z.array(priorBlock).exactOptional(),
  items: z.array(itemParameters).min(1),
  /** Scale value at each theta node, strictly increasing. */
  scale: z.array(z.number()),
  /** While a run is in progress its score is reported only up to this standard error, in scale units. */
  maximumReportableError: z.number().positive().optional(),
  /** The reliability of ability if every KC is known: no test of these KCs exceeds it. */
  reliabilityCeiling: z.number().min(0).max(1).optional(),
});
export type CalibrationParameters = z.infer<typeof calibrationParameters>;

/** A released calibration: the public descriptor, and the parameters with their own digest. */
export const calibrationRecord = z.strictObject({
  ...recordMembers,
  document: scaleCalibration,
  parametersHash: z.string().regex(/^[0-9a-f]{64}$/),
  parameters: calibrationParameters,
});
export type CalibrationRecord = z.infer<typeof calibrationRecord>;
