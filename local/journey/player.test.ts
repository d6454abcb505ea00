import { expect, it } from 'vitest';
import { createPlayer } from './player.ts';

it('tells the answer that it has posted, and posts none where the learner has none', async () => {
  const scores: unknown[] = [];
  const play = (correct: boolean | undefined) =>
    createPlayer({
      platformUrl: 'http://platform',
      tenantId: 'tenant-a',
      playerToken: 'player',
      learner: { description: 'learner 3', answer: () => correct },
      fetch: async (input, init) => {
        scores.push(await new Request(input, init).json());
        return Response.json({});
      },
    })({ deliverySessionId: 'session', artifactVersionId: 'v1', sequence: 1 });
  expect([await play(true), await play(false)]).toEqual([true, false]);
  await expect(play(undefined)).rejects.toThrow('learner 3');
  expect(scores).toEqual([{ outcomes: { SCORE: 1 } }, { outcomes: { SCORE: 0 } }]);
});
