import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Outcome } from './environment.ts';
import { createFunctionPool } from './function-pool.ts';
import type { FunctionPool } from './function-pool.ts';

/** Writes what it is asked, and hangs when that is `hang`. */
const bundle = `
export const handler = async (event) => {
  console.log(event);
  if (event === 'hang') await new Promise(() => {});
  return event;
};
`;

let directory: string;
let pool: FunctionPool;
let output: string[];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pool-'));
  const file = join(directory, 'index.mjs');
  await writeFile(file, bundle);
  output = [];
  pool = createFunctionPool(
    [{ name: 'f', bundleUrl: pathToFileURL(file).href, memoryMb: 64, timeoutSeconds: 60, variables: {} }],
    1,
    () => (text) => output.push(text.trim()),
  );
});
afterEach(async () => {
  await pool.close();
  await rm(directory, { recursive: true });
});

function ask(event: string, caller = new AbortController().signal): Promise<Outcome> {
  return pool.invoke('f', event, event, caller);
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
    await expect.poll(() => output, { timeout: 10_000 }).toEqual(['hang']);
    await pool.kill();
    expect(await hanging).toMatchObject({ kind: 'crashed' });
    expect(await Promise.all(waiting)).toEqual(['a', 'b', 'c'].map((value) => ({ kind: 'answered', value })));
    expect(output).toEqual(['hang', 'a', 'b', 'c']);
  });

  it('hands its turn on when its caller goes in that very moment', async () => {
    const caller = new AbortController();
    const hanging = ask('hang').then((outcome) => {
      caller.abort();
      return outcome;
    });
    const abandoned = ask('abandoned', caller.signal);
    const next = ask('next');
    await expect.poll(() => output, { timeout: 10_000 }).toEqual(['hang']);
    await pool.kill();
    await Promise.all([hanging, abandoned]);
    expect(await next).toEqual({ kind: 'answered', value: 'next' });
  });
});
