import { compareInstants, parseUtcInstant } from '#shared/kernel/instant.ts';
import type { NamedRuntime, RunSession } from './outcomes.ts';

/**
 * The artifact versions that the learner met in other runs over the bank before this run's first session, by QTI's clock; while this run
 * has no session, all that other runs hold. What this run itself has been offered is never among them. So an advance and its replay, and a
 * run beside it, see the same set. Instants that are equal count as before: where QTI's clock is coarse, sessions that the start has read
 * must not drop out, or an item that the policy excludes would be offered.
 */
export function priorUse(runtime: NamedRuntime): ReadonlySet<string> {
  return metIn(earlierOf(runtime), runtime);
}

/** No start takes longer from its reading of QTI to its offer. */
const LONGEST_START_MS = 30_000;

/**
 * What a start may have decided by, the largest set first. While the run has no session, that is what other runs hold now. A repeated start
 * cannot tell which of the latest sessions QTI made between the first one's reading and its offer: those had not been read.
 */
export function priorUsesOfStart(runtime: NamedRuntime): readonly ReadonlySet<string>[] {
  const first = firstSessionAt(runtime);
  const earlier = earlierOf(runtime).toSorted((a, b) => compareInstants(a.createdAt, b.createdAt));
  if (first === undefined) return [metIn(earlier, runtime)];
  const surely = millisecondsOf(first) - LONGEST_START_MS;
  const recent = earlier.filter(({ createdAt }) => millisecondsOf(createdAt) >= surely).length;
  return Array.from({ length: recent + 1 }, (_, unread) =>
    metIn(earlier.slice(0, earlier.length - unread), runtime),
  );
}

function firstSessionAt({ sessions, unnamed }: NamedRuntime): string | undefined {
  return [...sessions, ...unnamed].map(({ createdAt }) => createdAt).sort(compareInstants)[0];
}

function earlierOf(runtime: NamedRuntime): readonly RunSession[] {
  const first = firstSessionAt(runtime);
  return first === undefined
    ? runtime.others
    : runtime.others.filter(({ createdAt }) => compareInstants(createdAt, first) <= 0);
}

function metIn(earlier: readonly RunSession[], { sessions, unnamed }: NamedRuntime): ReadonlySet<string> {
  const met = new Set(earlier.map(({ rootArtifactVersionId }) => rootArtifactVersionId));
  for (const { rootArtifactVersionId } of [...sessions, ...unnamed]) met.delete(rootArtifactVersionId);
  return met;
}

function millisecondsOf(instant: string): number {
  return parseUtcInstant(instant) ?? NaN;
}
