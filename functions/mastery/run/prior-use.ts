import { compareInstants, parseUtcInstant } from '#shared/kernel/instant.ts';
import type { NamedRuntime, RunSession } from './outcomes.ts';

/**
 * Returns the artifact versions that the learner met in other runs over the bank before this run's first session, by QTI's clock; while this run has no
 * session, all of the other runs'. So an advance and its replay see the same set, even if this run and others have been offered more since. Equal instants
 * count as before: if QTI's clock is coarse, sessions that the start has read must not drop out, or an item that the policy excludes would be offered.
 */
export function priorUse(runtime: NamedRuntime): ReadonlySet<string> {
  return metIn(earlierOf(runtime));
}

/** The longest time of a start from its reading of QTI to its offer. */
const LONGEST_START_MS = 30_000;

/**
 * Returns the sets on which a start may have based its decision, the largest first. While the run has no session, that is only the present set. A repeated
 * start cannot know which of the latest sessions QTI made between the first one's reading and its offer: those had not been read.
 */
export function priorUsesOfStart(runtime: NamedRuntime): readonly ReadonlySet<string>[] {
  const first = firstSessionAt(runtime);
  const earlier = earlierOf(runtime).toSorted((a, b) => compareInstants(a.createdAt, b.createdAt));
  if (first === undefined) return [metIn(earlier)];
  const surely = millisecondsOf(first) - LONGEST_START_MS;
  const recent = earlier.filter(({ createdAt }) => millisecondsOf(createdAt) >= surely).length;
  return Array.from({ length: recent + 1 }, (_, unread) => metIn(earlier.slice(0, earlier.length - unread)));
}

/** Returns when QTI created the run's first session. A later one may seem earlier: QTI's clock can step back. */
function firstSessionAt({ sessions, unnamed }: NamedRuntime): string | undefined {
  return sessions[0]?.createdAt ?? unnamed.map(({ createdAt }) => createdAt).sort(compareInstants)[0];
}

function earlierOf(runtime: NamedRuntime): readonly RunSession[] {
  const first = firstSessionAt(runtime);
  return first === undefined
    ? runtime.others
    : runtime.others.filter(({ createdAt }) => compareInstants(createdAt, first) <= 0);
}

function metIn(earlier: readonly RunSession[]): ReadonlySet<string> {
  return new Set(earlier.map(({ rootArtifactVersionId }) => rootArtifactVersionId));
}

function millisecondsOf(instant: string): number {
  return parseUtcInstant(instant) ?? NaN;
}
