import { compareInstants } from '#shared/kernel/instant.ts';
import type { NamedRuntime } from './outcomes.ts';

/**
 * The artifact versions that the learner met in other runs over the bank before this run's first session, by QTI's clock; while this run
 * has no session, all that other runs hold. What this run itself has been offered is never among them. So a replay, and a run beside it,
 * see the same set as the request that came first. Instants that are equal count as before: where QTI's clock is coarse, sessions that
 * the start has read must not drop out of its replay.
 */
export function priorUse({ sessions, unnamed, others }: NamedRuntime): ReadonlySet<string> {
  const [first] = [...sessions, ...unnamed].map(({ createdAt }) => createdAt).sort(compareInstants);
  const earlier =
    first === undefined ? others : others.filter(({ createdAt }) => compareInstants(createdAt, first) <= 0);
  const met = new Set(earlier.map(({ rootArtifactVersionId }) => rootArtifactVersionId));
  for (const { offer } of sessions) met.delete(offer.artifactVersionId);
  for (const { rootArtifactVersionId } of unnamed) met.delete(rootArtifactVersionId);
  return met;
}
