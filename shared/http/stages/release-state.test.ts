import { describe, expect, it } from 'vitest';
import type { Gate } from '#shared/contract/gates.ts';
import { closed } from '#shared/release/release-state.ts';
import type { WatchedRelease } from '#shared/release/watch-release.ts';
import type { TestLambda } from '#test/support/lambda.ts';
import { actOnProbe, seen, testProbe } from '#test/support/probe-routes.ts';
import { wholeRelease } from '#test/support/release.ts';

describe('a withdrawn gate', () => {
  const gates: readonly Gate[] = ['C', 'D'];
  const watching = (watched: WatchedRelease): Promise<TestLambda> =>
    testProbe({ ...actOnProbe('reports'), gates }, seen, {
      release: () => Promise.resolve(watched),
      // Whatever a stage logs, it says why its routes are closed.
      environment: { LOG_LEVEL: 'error' },
    });

  it('tells the caller to come again and not what is closed or why; the log does [RP-018, RP-324]', async () => {
    const open = new Set([...wholeRelease.open].filter((gate) => gate !== 'C' && gate !== 'B'));
    const withdrawn = await watching({ state: { ...wholeRelease, open } });
    const unproved = await watching({ state: closed, fault: 'unreadable', error: new TypeError('secret') });
    for (const lambda of [withdrawn, unproved]) {
      const { summary, headers, body, text } = await lambda.invoke();
      expect([summary, headers['Retry-After']]).toEqual(['503 dependency-unavailable', '5']);
      expect(body).toMatchObject({ retryable: true, dependency: 'unknown' });
      expect(text).not.toMatch(/gate|withdr|releas|manifest|secret/i);
    }
    expect(withdrawn.lines.join('')).toMatch(/"code":"RELEASE_WITHDRAWN"[^}]*"missing":\["C"\]/);
    const said = JSON.parse(unproved.lines.find((line) => line.includes('UNPROVED')) ?? '{}') as unknown;
    expect(said).toMatchObject({ code: 'RELEASE_UNPROVED', reason: 'unreadable', error: 'TypeError' });
    expect(unproved.lines.join('')).not.toContain('secret');
  });

  it('is not looked at where a route waits for none', async () => {
    const release = () => Promise.reject(new Error('must not be asked'));
    expect((await (await testProbe(actOnProbe('mastery'), seen, { release })).invoke()).status).toBe(201);
  });
});
