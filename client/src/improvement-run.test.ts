import { describe, expect, it } from 'vitest';
import type { ReportsClient } from './client.ts';
import { waitForImprovementRun, WaitTimeoutError } from './improvement-run.ts';

function wait(states: string[], options: Parameters<typeof waitForImprovementRun>[2] = {}) {
  const waits: number[] = [];
  const progress: string[] = [];
  const reports = {
    readImprovementRun: ({ improvementRunId }) =>
      Promise.resolve({ data: { improvementRunId, status: states.shift() } }),
  } as Pick<ReportsClient, 'readImprovementRun'>;
  const waited = waitForImprovementRun(reports, 'run-1', {
    onProgress: ({ status }) => void progress.push(status),
    sleep: (milliseconds) => {
      waits.push(milliseconds);
      return Promise.resolve();
    },
    ...options,
  });
  return { waited, waits, progress };
}

describe('waitForImprovementRun', () => {
  it.each(['completed', 'completed_with_omissions', 'blocked_upstream', 'failed', 'of a later version'])(
    'reads the run with growing waits until it is %s',
    async (last) => {
      const { waited, waits, progress } = wait(['queued', 'analyzing', 'analyzing', last]);
      expect((await waited).data.status).toBe(last);
      expect(waits).toEqual([250, 375, 562.5]);
      expect(progress).toEqual(['queued', 'analyzing', 'analyzing']);
    },
  );

  it('gives up at the deadline', async () => {
    const { waited } = wait(['queued'], { deadline: 0 });
    await expect(waited).rejects.toThrow(WaitTimeoutError);
  });

  it('ends with the reason of an abort', async () => {
    const reason = new Error('the user left');
    const ending = new AbortController();
    const { waited } = wait(['queued'], {
      signal: ending.signal,
      sleep: undefined,
      onProgress: () => ending.abort(reason),
    });
    await expect(waited).rejects.toBe(reason);
  });
});
