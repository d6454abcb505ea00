import type { ScaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { ask, found, invalidCalibration } from '../upstream/problems.ts';

/**
 * Why a calibration's anchor is not verified, and the problem for a request that needs it. `unavailable`: the question is open (no response, a broken
 * one, several such points, or one that is not verified yet). `absent`: extmap responds and does not have the pinned version or point. `unusable`: the
 * verified point has another checksum or licence scope. The problem of the last two is a 422.
 */
export interface AnchorDoubt {
  readonly kind: 'unavailable' | 'absent' | 'unusable';
  readonly problem: Problem;
}

/**
 * Looks for the calibration's anchor in extmap: exactly its version of the table, and in it exactly its source point, with a source reference
 * [MA-032]. Reads no rank. Returns undefined if the anchor is verified.
 */
export async function readAnchor(
  platform: Platform,
  anchor: ScaleCalibration['anchor'],
): Promise<AnchorDoubt | undefined> {
  const answer = await ask(platform, 'anchor', operations.verifyAnchor, {});
  if (!answer.ok) return { kind: 'unavailable', problem: answer.error };
  const { value, upstreamRequestId } = answer.value;
  const open = (detail: string): AnchorDoubt => ({
    kind: 'unavailable',
    problem: found('broken', operations.verifyAnchor, upstreamRequestId, detail),
  });
  const invalid = (kind: 'absent' | 'unusable', detail: string): AnchorDoubt => ({
    kind,
    problem: invalidCalibration(detail),
  });
  const [point, ...others] = value.sourcePoints.filter(({ source }) => source === anchor.source);
  if (value.tableVersion !== anchor.version || point === undefined)
    return invalid('absent', 'The anchor’s source does not hold its version or its source point.');
  if (others.length > 0) return open('The anchor table has several points of the anchor’s source.');
  if (point.sourceRef === null) return open('The anchor’s source point is not verified yet.');
  if (point.checksum !== anchor.checksum)
    return invalid('unusable', 'The anchor’s checksum is not that of its verified source point.');
  if (point.licenseScope !== anchor.licenseScope)
    return invalid('unusable', 'The anchor’s licence scope is not that of its verified source point.');
  return undefined;
}
