import pLimit from 'p-limit';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { ScopedKc } from './scoped-kc.ts';
import { confirmed, contradicting } from '../upstream/confirmed.ts';
import { ask, found } from '../upstream/problems.ts';

/** At most the platform's own bound, so that other reads of the request do not wait for hundreds of these. */
const MAX_CONCURRENCY = 32;

/**
 * Compares the CFItem of every knowledge component with the pinned mapping [MA-031]: one call per component, concurrently, until the first failure. An
 * item with another URI or framework is read again, then a 422: the calibration was made for something else.
 */
export async function verifyCaseMappings(
  platform: Platform,
  caseFrameworkGuid: string,
  mappings: readonly Pick<ScopedKc, 'guid' | 'uri'>[],
): Promise<Result<undefined, Problem>> {
  const operation = operations.resolveMapping;
  let failure: Problem | undefined;
  await pLimit(MAX_CONCURRENCY).map(mappings, async ({ guid, uri }) => {
    if (failure !== undefined) return;
    const mapped = await confirmed(platform, async () => {
      const answer = await ask(platform, 'run', operation, { path: { sourcedId: guid } });
      if (!answer.ok) return answer;
      const { value, upstreamRequestId } = answer.value;
      const reading = JSON.stringify([value.uri, value.CFDocumentURI.identifier]);
      return reading === JSON.stringify([uri, caseFrameworkGuid])
        ? ok(undefined)
        : contradicting(found('differs', operation, upstreamRequestId, ANOTHER_COMPONENT), reading);
    });
    if (!mapped.ok) failure ??= mapped.error;
  });
  return failure === undefined ? ok(undefined) : err(failure);
}

const ANOTHER_COMPONENT = 'A knowledge component in CASE is not the one of the calibration’s pinned mapping.';
