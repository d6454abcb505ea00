import { describe, expect, it } from 'vitest';
import type { Answerer } from './player.ts';
import { createPlayer } from './player.ts';

const item = { deliverySessionId: 's/1', artifactVersionId: 'v1', sequence: 1 };
const sent: { readonly url: string; readonly token: string | null; readonly body: string }[] = [];

function player(answer: boolean | undefined, status = 201): ReturnType<typeof createPlayer> {
  const learner: Answerer = { description: 'learner 3', answer: () => answer };
  return createPlayer({
    platformUrl: 'http://platform',
    tenantId: 't 1',
    playerToken: 'player',
    learner,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      sent.push({
        url: request.url,
        token: request.headers.get('authorization'),
        body: await request.text(),
      });
      return new Response('{}', { status });
    },
  });
}

describe('createPlayer', () => {
  it.each([
    [true, 1],
    [false, 0],
  ])('posts an answer that is correct: %s as the outcome %d', async (correct, outcome) => {
    expect(await player(correct)(item)).toBe(correct);
    expect(sent.at(-1)).toStrictEqual({
      url: 'http://platform/tenants/t%201/qti/delivery-sessions/s%2F1/attempts',
      token: 'Bearer player',
      body: JSON.stringify({ outcomes: { SCORE: outcome } }),
    });
  });

  it('fails if QTI rejects the attempt, and sends nothing when the learner has no answer', async () => {
    await expect(player(true, 422)(item)).rejects.toThrow('QTI rejected the attempt with status 422');
    const calls = sent.length;
    await expect(player(undefined)(item)).rejects.toThrow('learner 3');
    expect(sent).toHaveLength(calls);
  });
});
