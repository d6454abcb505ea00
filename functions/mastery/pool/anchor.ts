import type { ScaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import { invalidOwnerData, upstreamProblem } from '../upstream/problems.ts';

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
  const found = await findAnchor(platform, anchor);
  if (!found.ok) return found;
  return ok(found.value === undefined ? 'verified' : 'unavailable');
}

/**
 * The same for what cannot do without the anchor: a question that is left open is 424 of `anchor`, retryable only when the call itself
 * failed for the moment.
 */
export async function requireAnchor(
  platform: Platform,
  anchor: ScaleCalibration['anchor'],
): Promise<Result<undefined, Problem>> {
  const found = await findAnchor(platform, anchor);
  if (!found.ok) return found;
  return found.value === undefined ? ok(undefined) : err(found.value);
}

/** Ok with undefined: verified. Ok with a problem: the question is open, and this is what it means to somebody who needs the answer. */
async function findAnchor(
  platform: Platform,
  anchor: ScaleCalibration['anchor'],
): Promise<Result<Problem | undefined, Problem>> {
  const answer = await platform.call(operations.verifyAnchor, {});
  if (!answer.ok) return ok(upstreamProblem(answer.error));
  const open = (detail: string): Result<Problem, never> =>
    ok(invalidOwnerData(operations.verifyAnchor, answer.value.upstreamRequestId, detail));
  const { tableVersion, sourcePoints } = answer.value.value;
  const [point, ...others] = sourcePoints.filter(({ source }) => source === anchor.source);
  if (tableVersion !== anchor.version) return open('The anchor table has another version than the anchor.');
  if (point === undefined || others.length > 0)
    return open('The anchor table does not have exactly one point of the anchor’s source.');
  if (point.sourceRef === null) return open('The anchor’s source point is not verified yet.');
  if (point.checksum !== anchor.checksum) {
    return err(invalid('The anchor’s checksum is not that of its verified source point.'));
  }
  if (point.licenseScope !== anchor.licenseScope) {
    return err(invalid('The anchor’s licence scope is not that of its verified source point.'));
  }
  return ok(undefined);
}

function invalid(detail: string): Problem {
  return problem('mastery', 'calibration-invalid', 422, { detail });
}
