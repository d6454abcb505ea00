import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { listen } from '#local/loopback.ts';
import { answers } from './start-command.ts';

it('takes a stack that has not answered yet for one that runs, and a refused connection for one that does not', async () => {
  const silent = createServer();
  const docsUrl = await listen(silent, 0);
  const waiting = new AbortController();
  silent.once('request', () => waiting.abort());
  expect(await answers({ docsUrl }, waiting.signal)).toBe(true);
  silent.closeAllConnections();
  await new Promise((resolve) => silent.close(resolve));
  expect(await answers({ docsUrl })).toBe(false);
});
