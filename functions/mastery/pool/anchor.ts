import type { ScaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';

/** `unavailable`: the run goes on with provisional results and without a scale score [MA-081]. */
export type AnchorStatus = 'verified' | 'unavailable';

/**
 * Looks for the calibration's anchor in extmap: the table in exactly the anchor's version, in it exactly its source point, with a source
 * reference [MA-032]. A verified point with another checksum, or without the calibration's licence scope, makes the calibration itself
 * unusable: 422. Whatever leaves the question open (no answer, a broken one, another version, no such point, several, or one not yet
 * verified) is `unavailable`. No rank is read.
 */
export async function verifyAnchor(
  platform: Platform,
  anchor: ScaleCalibration['anchor'],
): Promise<Result<AnchorStatus, Problem>> {
  const answer = await platform.call(operations.verifyAnchor, {});
  if (!answer.ok) return ok('unavailable');
  const { tableVersion, sourcePoints } = answer.value.value;
  const [point, ...others] = sourcePoints.filter(({ source }) => source === anchor.source);
  if (tableVersion !== anchor.version || point === undefined || others.length > 0) return ok('unavailable');
  if (point.sourceRef === null) return ok('unavailable');
  if (point.checksum !== anchor.checksum) {
    return err(invalid('The anchor’s checksum is not that of its verified source point.'));
  }
  if (point.licenseScope !== anchor.licenseScope) {
    return err(invalid('The anchor’s licence scope is not that of its verified source point.'));
  }
  return ok('verified');
}

function invalid(detail: string): Problem {
  return problem('mastery', 'calibration-invalid', 422, { detail });
}
