import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '#test/support/test-gateway.ts';
import type { Outcome } from './environment.ts';

/** Writes what it is asked, and hangs when that is `hang`. */
const bundle = `
export const handler = async (event) => {
  console.log(event);
  if (event === 'hang') await new Promise(() => {});
  return event;
};
`;

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startTestGateway({ functions: { f: bundle }, routes: [], timeoutSeconds: 60, limit: 1 });
});
afterEach(() => gateway.close());
const printed = (): readonly string[] => gateway.output.match(/(?<=f: ).*/g) ?? [];

function ask(event: string, caller = new AbortController().signal): Promise<Outcome> {
  return gateway.pool.invoke('f', event, event, caller);
}

describe('a request that waits its turn', () => {
  it('runs in order, and never when its caller has gone before, however many have', async () => {
    const hanging = ask('hang');
    const gone = Array.from({ length: 3 }, () => new AbortController());
    const abandoned = gone.map(({ signal }) => ask('abandoned', signal));
    const waiting = ['a', 'b', 'c'].map((event) => ask(event));
    for (const caller of gone) caller.abort();
    for (const outcome of await Promise.all(abandoned))
      expect(outcome).toMatchObject({ kind: 'crashed', message: 'nobody waits for the outcome' });
    await expect.poll(printed, { timeout: 10_000 }).toEqual(['hang']);
    await gateway.pool.kill();
    expect(await hanging).toMatchObject({ kind: 'crashed' });
    expect(await Promise.all(waiting)).toEqual(['a', 'b', 'c'].map((value) => ({ kind: 'answered', value })));
    expect(printed()).toEqual(['hang', 'a', 'b', 'c']);
  });

  it('hands its turn on when its caller goes in that very moment', async () => {
    const caller = new AbortController();
    const hanging = ask('hang').then((outcome) => {
      caller.abort();
      return outcome;
    });
    const abandoned = ask('abandoned', caller.signal);
    const next = ask('next');
    await expect.poll(printed, { timeout: 10_000 }).toEqual(['hang']);
    await gateway.pool.kill();
    await Promise.all([hanging, abandoned]);
    expect(await next).toEqual({ kind: 'answered', value: 'next' });
  });
});
