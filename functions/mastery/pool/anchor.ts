import type { ScaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import { invalidOwnerData, upstreamProblem } from '../upstream/problems.ts';

/** Whether the anchor can be verified now; while it cannot, a run goes on with provisional results and without a scale score [MA-081]. */
export type AnchorStatus = 'verified' | 'unavailable';

/**
 * What extmap says of a calibration's anchor. `unavailable`: the question is open (no answer, a broken one, several such points, or one that
 * is not verified yet); the problem is what that means where the answer is needed. `absent`: extmap answers and does not hold the pinned
 * version or point. `unusable`: the verified point has another checksum or licence scope. The problem of these two is 422.
 */
export type AnchorReading =
  | { readonly kind: 'verified' }
  | { readonly kind: 'unavailable' | 'absent' | 'unusable'; readonly problem: Problem };

/**
 * Looks for the calibration's anchor in extmap: the table in exactly the anchor's version, in it exactly its source point, with a source
 * reference [MA-032]. No rank is read.
 */
export async function readAnchor(
  platform: Platform,
  anchor: ScaleCalibration['anchor'],
): Promise<AnchorReading> {
  const answer = await platform.call(operations.verifyAnchor, {});
  if (!answer.ok) return { kind: 'unavailable', problem: upstreamProblem(answer.error) };
  const open = (detail: string): AnchorReading => ({
    kind: 'unavailable',
    problem: invalidOwnerData(operations.verifyAnchor, answer.value.upstreamRequestId, detail),
  });
  const { tableVersion, sourcePoints } = answer.value.value;
  const [point, ...others] = sourcePoints.filter(({ source }) => source === anchor.source);
  if (tableVersion !== anchor.version || point === undefined)
    return invalid('absent', 'The anchor’s source does not hold its version or its source point.');
  if (others.length > 0) return open('The anchor table has several points of the anchor’s source.');
  if (point.sourceRef === null) return open('The anchor’s source point is not verified yet.');
  if (point.checksum !== anchor.checksum)
    return invalid('unusable', 'The anchor’s checksum is not that of its verified source point.');
  if (point.licenseScope !== anchor.licenseScope)
    return invalid('unusable', 'The anchor’s licence scope is not that of its verified source point.');
  return { kind: 'verified' };
}

function invalid(kind: 'absent' | 'unusable', detail: string): AnchorReading {
  return { kind, problem: problem('mastery', 'calibration-invalid', 422, { detail }) };
}
