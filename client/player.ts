import { err, ok } from '#shared/kernel/result.ts';
import type { RunFailure } from './run-client.ts';
import type { Player } from './take-run.ts';

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

/** A player that lets a learner answer and posts the attempt to QTI, as the platform's own player would [MA-030]. */
export function createPlayer({ platformUrl, tenantId, playerToken, learner, fetch }: PlayerOptions): Player {
  return async ({ deliverySessionId, artifactVersionId }) => {
    const correct = learner.answer(artifactVersionId);
    if (correct === undefined) {
      return err({
        kind: 'unexpected',
        message: `this learner (${learner.description}) has no answer to the offered item ${artifactVersionId}`,
      });
    }
    const path = `/tenants/${encodeURIComponent(tenantId)}/qti/delivery-sessions/${encodeURIComponent(deliverySessionId)}/attempts`;
    const failure = await post(fetch, `${platformUrl}${path}`, playerToken, {
      outcomes: { SCORE: correct ? 1 : 0 },
    });
    return failure === undefined ? ok(correct) : err(failure);
  };
}

async function post(
  fetch: typeof globalThis.fetch,
  url: string,
  token: string,
  body: object,
): Promise<RunFailure | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
    return response.ok
      ? undefined
      : { kind: 'unexpected', message: `QTI refuses the attempt with status ${response.status}` };
  } catch (error) {
    return { kind: 'unreachable', message: error instanceof Error ? error.message : String(error) };
  }
}
