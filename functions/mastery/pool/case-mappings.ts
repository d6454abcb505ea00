import pLimit from 'p-limit';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { ScopedKc } from './scoped-kc.ts';
import { confirmed, differing } from '../upstream/confirmed.ts';
import { ask } from '../upstream/problems.ts';

/** At most the platform's own bound, so that other reads of the request do not wait for hundreds of these. */
const MAX_CONCURRENCY = 32;

/**
 * Reads the CFItem of every knowledge component and compares it with the pinned mapping [MA-031]. One call per component, side by side; the
 * first failure ends the reading. Items with another URI or in another framework are read again after one pause, then 422: the calibration
 * was made for something else.
 */
export async function verifyCaseMappings(
  platform: Platform,
  caseFrameworkGuid: string,
  mappings: readonly Pick<ScopedKc, 'guid' | 'uri'>[],
): Promise<Result<undefined, Problem>> {
  const operation = operations.readCfItem;
  let left = mappings;
  return confirmed(platform, async () => {
    let failure: Problem | undefined;
    const readings = await pLimit(MAX_CONCURRENCY).map(left, async (mapping) => {
      if (failure !== undefined) return [];
      const answer = await ask(platform, 'run', operation, { path: { sourcedId: mapping.guid } });
      if (!answer.ok) {
        failure ??= answer.error;
        return [];
      }
      const { uri, CFDocumentURI } = answer.value.value;
      if (uri === mapping.uri && CFDocumentURI.identifier === caseFrameworkGuid) return [];
      return [{ mapping, found: [uri, CFDocumentURI.identifier] }];
    });
    if (failure !== undefined) return err(failure);
    const others = readings.flat();
    if (others.length === 0) return ok(undefined);
    left = others.map(({ mapping }) => mapping);
    return differing(
      operation,
      JSON.stringify(others),
      'A knowledge component in CASE is not the one of the calibration’s pinned mapping.',
    );
  });
}
