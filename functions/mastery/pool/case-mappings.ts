import type { ScopedKc } from '#functions/mastery/run/bound-pool.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { invalidCalibration, upstreamProblem } from '../upstream/problems.ts';

/** A knowledge component as the calibration has pinned it. */
type PinnedMapping = Pick<ScopedKc, 'guid' | 'uri'>;

/** No more than the platform's own bound, so that other reads of the request are not queued behind hundreds of these. */
const LANES = 32;

/**
 * Reads the CFItem of every knowledge component and holds it against the pinned mapping [MA-031]. One call per component, side by side; the
 * first failure ends the reading. An item that CASE does not hold is 424; one that is another item, has another URI or belongs to another
 * framework is 422, since the calibration was made for something else.
 */
export async function verifyCaseMappings(
  platform: Platform,
  caseFrameworkGuid: string,
  mappings: readonly PinnedMapping[],
): Promise<Result<undefined, Problem>> {
  const waiting = mappings.values();
  let failure: Problem | undefined;
  const lane = async (): Promise<void> => {
    for (const mapping of waiting) {
      const found = await verifyMapping(platform, caseFrameworkGuid, mapping);
      failure ??= found;
      if (failure !== undefined) return;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return failure === undefined ? ok(undefined) : err(failure);
}

async function verifyMapping(
  platform: Platform,
  caseFrameworkGuid: string,
  { guid, uri }: PinnedMapping,
): Promise<Problem | undefined> {
  const answer = await platform.call(operations.resolveMapping, { path: { sourcedId: guid } });
  if (!answer.ok) return upstreamProblem(answer.error);
  const item = answer.value.value;
  return item.identifier === guid && item.uri === uri && item.CFDocumentURI.identifier === caseFrameworkGuid
    ? undefined
    : invalidCalibration('A knowledge component in CASE is not the one of the calibration’s pinned mapping.');
}
