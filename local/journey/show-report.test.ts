import { describe, expect, it } from 'vitest';
import { createReportsClient } from '#client/index.ts';
import type { AttemptReport } from '#client/index.ts';
import { plain } from '#tools/terminal/paint.ts';
import { sampleReport, sampleRow, sampleRun } from '#test/support/sample-report.ts';
import { showReport } from './show-report.ts';

const page = { nextCursor: null, hasMore: false, observedAt: '2026-03-02T10:15:30.412Z', sources: [] };

function problem(status: number, code: string): Response {
  const body = { type: `https://x/${code}`, status, detail: 'd', requestId: 'q', retryable: false };
  return Response.json(body, { status });
}

type Routes = 'list' | 'materialize' | 'read';

/** Shows the report of a service that has one report; `answers` are others than it would give, and `closed` routes are not there. */
async function shown({
  report = sampleReport(),
  answers = {},
  closed = [],
}: {
  report?: AttemptReport;
  answers?: Partial<Record<Routes, Response>>;
  closed?: readonly Routes[];
} = {}) {
  const asked: string[] = [];
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
        const name = url.endsWith(':materialize') ? 'materialize' : url.includes('?view') ? 'read' : 'list';
        if (closed.includes(name)) return Promise.resolve(problem(404, 'not-found'));
        // Without a token.
        if (administrationIds === undefined) return Promise.resolve(problem(401, 'authentication-required'));
        asked.push([name, ...administrationIds].join(' '));
        return Promise.resolve(answers[name] ?? own[name]);
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
  return { result, text, asked };
}

const failed = (message: RegExp) => ({ ok: false, error: expect.stringMatching(message) as string });

describe('showReport', () => {
  it('shows the whole report of the run’s results record, and that it names the facts of the engine', async () => {
    const { result, text, asked } = await shown();
    expect(asked).toStrictEqual(['list', 'materialize administration-1', 'read']);
    expect(text).toMatch(
      /^\nmaterialized: .* \(operation op_1\)\n\nattempt report {2}adaptive_diagnostic, scored$/m,
    );
    expect(text).toMatch(/^the report agrees with the engine: /m);
    expect(text).not.toContain('outcome-q2');
    expect(result).toStrictEqual({ ok: true, value: sampleReport() });
  });

  it('shows a report that differs, and fails with every difference', async () => {
    const mastery = [sampleRow('k-mastered', 'mastered', 0.97, ['q1', 'q3'])];
    const { result, text } = await shown({ report: sampleReport({ mastery }) });
    expect(text).toMatch(/^attempt report/m);
    expect(text).not.toContain('the report agrees');
    expect(result).toEqual(failed(/^4 of 21 facts differ .*:\n {2}knowledge_component k-gap: state/));
  });

  it('fails when the attempt is refused, and shows no report', async () => {
    const { result, asked } = await shown({ answers: { materialize: problem(409, 'idempotency-conflict') } });
    expect(asked.at(-1)).toBe('materialize administration-1');
    expect(result).toEqual(failed(/materializeAttemptReport: 409 idempotency-conflict/));
  });

  it('names closed routes, which is no failure of the run, and takes no hidden report for one', async () => {
    const { result, text } = await shown({ closed: ['list'] });
    expect(text).toMatch(/^\nno report: .* gates C, D .*\n$/);
    expect(result).toStrictEqual({ ok: true, value: undefined });
    expect((await shown({ answers: { list: problem(404, 'not-found') } })).result).toEqual(failed(/404/));
  });

  it('fails when no report names the results record, and shows no other one', async () => {
    const { result, text } = await shown({ report: sampleReport({ resultRecordId: 'record-2' }) });
    expect(text).toBe('');
    expect(result).toEqual(failed(/^there is no report: none of .* \(1\) /));
  });
});
