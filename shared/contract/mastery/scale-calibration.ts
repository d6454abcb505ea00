import * as z from 'zod';
import { identifier, sha256, timestamp } from './primitives.ts';

/**
 * The external scale to which the vertical scale is tied, and its licence: it names the source and its checksum. Content under that licence, and
 * anything that ranks learners, has no member here [MA-100].
 */
export const anchor = z.strictObject({
  source: identifier,
  version: identifier,
  checksum: sha256,
  licenseScope: z.string().min(1),
});

/** An immutable scale calibration as clients read it; parameters stay on the server [MA-116..MA-123]. */
export const scaleCalibration = z.strictObject({
  id: identifier,
  scaleId: identifier,
  visibility: z.enum(['tenant', 'system']),
  modelFamily: z.string().min(1),
  modelVersion: identifier,
  numericPrecision: z.int().min(1).max(15),
  runtimeVersion: identifier,
  caseFrameworkGuid: identifier,
  caseMappingVersion: identifier,
  subject: z.string().min(1),
  gradeCoverage: z.array(z.string().min(1)).min(1),
  validFrom: timestamp,
  validUntil: timestamp,
  anchor,
  recoveryTolerance: z.number().min(0),
  limitations: z.array(z.string().min(1)).min(1),
  checksum: sha256,
});
export type ScaleCalibration = z.infer<typeof scaleCalibration>;
