import { describe, expect, it } from 'vitest';
import type { Answerer } from './player.ts';
import { createPlayer } from './player.ts';

const item = { deliverySessionId: 's/1', artifactVersionId: 'v1', sequence: 1 };
const sent: { readonly url: string; readonly token: string | null; readonly body: string }[] = [];

function player(answer: boolean | undefined, respond: () => Response): ReturnType<typeof createPlayer> {
  const learner: Answerer = { description: 'somebody', answer: () => answer };
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
      return respond();
    },
  });
}

describe('createPlayer', () => {
  it.each([
    [true, 1],
    [false, 0],
  ])('posts an answer that is correct: %s as the outcome %d', async (correct, outcome) => {
    expect(await player(correct, () => new Response('{}', { status: 201 }))(item)).toStrictEqual({
      ok: true,
      value: correct,
    });
    expect(sent.at(-1)).toStrictEqual({
      url: 'http://platform/tenants/t%201/qti/delivery-sessions/s%2F1/attempts',
      token: 'Bearer player',
      body: JSON.stringify({ outcomes: { SCORE: outcome } }),
    });
  });

  it('fails when QTI refuses, when it does not answer, and when the learner has no answer', async () => {
    const refused = await player(true, () => new Response('{}', { status: 422 }))(item);
    expect(refused).toMatchObject({
      ok: false,
      error: { kind: 'unexpected', message: 'QTI refuses the attempt with status 422' },
    });
    const gone = await player(true, () => {
      throw new TypeError('fetch failed');
    })(item);
    expect(gone).toMatchObject({ ok: false, error: { kind: 'unreachable' } });
    const calls = sent.length;
    expect(await player(undefined, () => new Response())(item)).toMatchObject({ ok: false });
    expect(sent).toHaveLength(calls);
  });
});
