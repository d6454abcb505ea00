import type { OfferedItem } from '#client/index.ts';

/** Who answers: undefined where the learner was never asked the item. */
export interface Answerer {
  readonly description: string;
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
 * A player that lets a learner answer and posts the attempt to QTI, as the platform's own player would [MA-030].
 * @returns plays an item; resolves to whether the answer was correct
 */
export function createPlayer({
  platformUrl,
  tenantId,
  playerToken,
  learner,
  fetch,
}: PlayerOptions): (item: OfferedItem) => Promise<boolean> {
  return async ({ deliverySessionId, artifactVersionId }) => {
    const correct = learner.answer(artifactVersionId);
    if (correct === undefined)
      throw new Error(
        `this learner (${learner.description}) has no answer to the offered item ${artifactVersionId}`,
      );
    const path = `/tenants/${encodeURIComponent(tenantId)}/qti/delivery-sessions/${encodeURIComponent(deliverySessionId)}/attempts`;
    const response = await fetch(`${platformUrl}${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${playerToken}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ outcomes: { SCORE: correct ? 1 : 0 } }),
    });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`QTI refuses the attempt with status ${response.status}`);
    return correct;
  };
}
