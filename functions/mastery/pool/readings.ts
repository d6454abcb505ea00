import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { isStrongEntityTag } from '#shared/kernel/entity-tag.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { UpstreamAnswer } from '#shared/platform/platform.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { driftProblem, invalidPool } from '../upstream/problems.ts';

/** The strong ETag of an answer; undefined when it has none, or a weak one, which vouches for nothing. */
export function strongTagOf(answer: UpstreamAnswer<unknown>): string | undefined {
  return answer.etag !== undefined && isStrongEntityTag(answer.etag) ? answer.etag : undefined;
}

/**
 * Two readings of one document must agree [MA-024, MA-027]; undefined when they do. Another validator says that the document has changed:
 * 409, drift. Other content under the same strong validator, or a reading without one, is a repetition that cannot be trusted: 502,
 * unstable. The order of names and white space do not count.
 */
export function disagreement(
  operation: UpstreamOperation,
  first: UpstreamAnswer<unknown>,
  second: UpstreamAnswer<unknown>,
): Problem | undefined {
  const unstable = (answer: UpstreamAnswer<unknown>, detail: string): Problem =>
    invalidPool(operation, answer.upstreamRequestId, detail);
  for (const answer of [first, second]) {
    if (strongTagOf(answer) === undefined) return unstable(answer, 'The answer has no strong entity tag.');
  }
  if (first.etag !== second.etag)
    return driftProblem('Two readings of the pool belong to different versions.');
  // Only different bytes need the slower look at what they say.
  if (first.bodyHash !== second.bodyHash && hashCanonical(first.value) !== hashCanonical(second.value)) {
    return unstable(second, 'Two readings under the same entity tag differ.');
  }
  return undefined;
}
