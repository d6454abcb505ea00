import { describe, expect, it } from 'vitest';
import { createReportsClient, type AttemptReport } from '#client/index.ts';
import { plain } from '#tools/terminal/paint.ts';
import { sampleReport, sampleRow, sampleRun } from '#test/support/sample-report.ts';
import { showReport } from './show-report.ts';

const page = { nextCursor: null, hasMore: false, observedAt: '2026-03-02T10:15:30.412Z', sources: [] };

function problem(status: number, code: string): Response {
  const body = { type: `https://x/${code}`, status, detail: 'd', requestId: 'q', retryable: false };
  return Response.json(body, { status });
}

type Call = 'list' | 'materialize' | 'read';

/** Shows the report of a service that has one report; `closed` routes are not there, `hidden` resources are hidden. */
async function shown({
  report = sampleReport(),
  closed,
  hidden,
}: {
  report?: AttemptReport;
  closed?: Call;
  hidden?: Call;
} = {}) {
  let text = '';
  const own = {
    list: Response.json({ ...page, data: [{ ...report, mastery: [] }] }),
    materialize: Response.json({ operationId: 'op_1' }),
    read: Response.json(report),
  };
  const connect = (administrationIds: readonly string[] | undefined) =>
    createReportsClient({
      baseUrl: 'http://reports',
      fetch: (url) => {
        const call = url.endsWith(':materialize') ? 'materialize' : url.includes('?view') ? 'read' : 'list';
        if (call === closed) return Promise.resolve(problem(404, 'not-found'));
        // Without a token.
        if (administrationIds === undefined) return Promise.resolve(problem(401, 'authentication-required'));
        return Promise.resolve(call === hidden ? problem(404, 'not-found') : own[call]);
      },
    });
  const result = await showReport(
    { run: sampleRun, studentId: 'student-1', answered: 3 },
    {
      connect,
      names: { component: () => undefined, item: () => undefined },
      space: { width: 100, paint: plain },
      withEvidence: false,
      write: (piece) => {
        text += piece;
      },
    },
  );
  return { result, text };
}

const failed = (message: RegExp) => ({ ok: false, error: expect.stringMatching(message) as string });

// The report of a run that agrees: start.slow.test.ts.
describe('showReport', () => {
  it('shows a report that differs, and fails with every difference', async () => {
    const mastery = [sampleRow('k-mastered', 'mastered', 0.97, ['q1', 'q3'])];
    const { result, text } = await shown({ report: sampleReport({ mastery }) });
    expect(text).toMatch(/^attempt report/m);
    expect(text).not.toContain('the report agrees');
    expect(text).not.toContain('outcome-q1');
    expect(result).toEqual(failed(/^5 of 23 facts differ .*:\n {2}knowledge_component k-gap: state/));
  });

  it('names closed routes, which is no failure of the run, and takes no hidden report for one', async () => {
    const { result, text } = await shown({ closed: 'list' });
    expect(text).toMatch(/^\nno report: .* gates C, D .*\n$/);
    expect(result).toStrictEqual({ ok: true, value: undefined });
    const part = await shown({ closed: 'materialize' });
    expect(part.text).toMatch(/^\nnot materialized: .* gates .*\n\nattempt report /);
    expect(part.result).toStrictEqual({ ok: true, value: sampleReport() });
    for (const hidden of ['list', 'materialize', 'read'] as const)
      expect((await shown({ hidden })).result).toEqual(failed(/404/));
  });

  it('fails when no report names the results record, and shows no other one', async () => {
    const { result, text } = await shown({ report: sampleReport({ resultRecordId: 'record-2' }) });
    expect(text).toBe('');
    expect(result).toEqual(failed(/^there is no report: none of .* \(1\) /));
  });
});
