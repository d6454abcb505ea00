import { expect, it } from 'vitest';
import { loadClass } from '#report-element/load-class.ts';

const learners = Array.from({ length: 9 }, (_, at) => `learner ${at}`);

it('asks for four at a time, for each learner once, and goes on after a failure', async () => {
  let running = 0;
  let most = 0;
  const fetched: string[] = [];
  await loadClass(
    {
      async reportOf(learner) {
        most = Math.max(most, (running += 1));
        await Promise.resolve();
        running -= 1;
        if (learner === 'learner 2') throw new Error('down');
        return undefined;
      },
    },
    {
      signal: new AbortController().signal,
      learners: [...learners, 'learner 1'],
      onFetched: (id, { state }) => fetched.push(`${id} ${state}`),
    },
  );
  expect(most).toBe(4);
  expect(fetched.toSorted()).toEqual(learners.map((id) => `${id} ${id === 'learner 2' ? 'failed' : 'done'}`));
});

it('asks for no more after an abort, and reports nothing', async () => {
  const controller = new AbortController();
  const asked: string[] = [];
  const fetched: string[] = [];
  await loadClass(
    {
      reportOf(learner) {
        asked.push(learner);
        controller.abort();
        return Promise.resolve(undefined);
      },
    },
    { signal: controller.signal, learners, onFetched: (id) => fetched.push(id) },
  );
  expect(asked).toEqual(['learner 0']);
  expect(fetched).toEqual([]);
});
