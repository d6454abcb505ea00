import pLimit from 'p-limit';
import type { ScopedKc } from '#functions/mastery/run/bound-pool.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { invalidCalibration, upstreamProblem } from '../upstream/problems.ts';

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
  mappings: readonly Pick<ScopedKc, 'guid' | 'uri'>[],
): Promise<Result<undefined, Problem>> {
  let failure: Problem | undefined;
  await pLimit(LANES).map(mappings, async ({ guid, uri }) => {
    if (failure !== undefined) return;
    const answer = await platform.call(operations.resolveMapping, { path: { sourcedId: guid } });
    if (!answer.ok) {
      failure ??= upstreamProblem(answer.error);
      return;
    }
    const { identifier, uri: itemUri, CFDocumentURI } = answer.value.value;
    if (identifier !== guid || itemUri !== uri || CFDocumentURI.identifier !== caseFrameworkGuid)
      failure ??= invalidCalibration(
        'A knowledge component in CASE is not the one of the calibration’s pinned mapping.',
      );
  });
  return failure === undefined ? ok(undefined) : err(failure);
}
