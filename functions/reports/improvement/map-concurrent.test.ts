import { expect, it } from 'vitest';
import { mapConcurrent } from './map-concurrent.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('values are worked on in their order, no more at once than may be; after a failure none is begun, and it is thrown once the rest has ended', async () => {
  const begun: number[] = [];
  const held: PromiseWithResolvers<void>[] = [];
  const work = (value: number): Promise<void> => {
    begun.push(value);
    held.push(Promise.withResolvers());
    return held.at(-1)!.promise;
  };
  let isThrown = false;
  const all = mapConcurrent(2, [0, 1, 2, 3], () => true, work).catch((error: unknown) => {
    isThrown = true;
    return error;
  });
  await turn();
  expect(begun).toEqual([0, 1]);
  held[1]!.resolve();
  await turn();
  expect(begun).toEqual([0, 1, 2]);
  held[0]!.reject(new Error('broken'));
  await turn();
  expect({ begun, isThrown }).toEqual({ begun: [0, 1, 2], isThrown: false });
  held[2]!.resolve();
  expect(await all).toEqual(new Error('broken'));
  expect(begun).toEqual([0, 1, 2]);
});

it('values that may not be begun any more are left out, and the caller is told', async () => {
  const begun: number[] = [];
  const mayGoOn = (): Promise<boolean> => Promise.resolve(begun.length < 3);
  const work = (value: number): Promise<void> => Promise.resolve(void begun.push(value));
  expect(await mapConcurrent(1, [0, 1, 2, 3, 4], mayGoOn, work)).toBe(false);
  expect(begun).toEqual([0, 1, 2]);
  expect(await mapConcurrent(1, [], mayGoOn, work)).toBe(true);
});
