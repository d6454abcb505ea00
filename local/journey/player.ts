import type { OfferedItem } from '#client/index.ts';
import { attemptRequest } from '../attempt-request.ts';

/** A learner who answers. */
export interface Answerer {
  readonly description: string;
  /** Whether the answer to the item is correct; undefined if the learner has no answer to it. */
  readonly answer: (artifactVersionId: string) => boolean | undefined;
}

interface PlayerOptions {
  readonly platformUrl: string;
  readonly tenantId: string;
  readonly playerToken: string;
  readonly learner: Answerer;
  readonly fetch: typeof globalThis.fetch;
}

/**
 * Returns a player that lets a learner answer and posts the attempt to QTI, as the platform's own player would [MA-030].
 * @returns plays an item; resolves to whether the answer was correct
 */
export function createPlayer(options: PlayerOptions): (item: OfferedItem) => Promise<boolean> {
  const { learner, fetch, ...target } = options;
  return async ({ deliverySessionId, artifactVersionId }) => {
    const correct = learner.answer(artifactVersionId);
    if (correct === undefined)
      throw new Error(
        `this learner (${learner.description}) has no answer to the offered item ${artifactVersionId}`,
      );
    const response = await fetch(...attemptRequest({ ...target, deliverySessionId, correct }));
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`QTI rejected the attempt with status ${response.status}`);
    return correct;
  };
}
