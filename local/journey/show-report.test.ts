import { describe, expect, it } from 'vitest';
import { createReportsClient } from '#client/index.ts';
import type { AttemptReport } from '#client/index.ts';
import { plain } from '#tools/terminal/paint.ts';
import { sampleReport, sampleRow, sampleRun } from '#test/support/sample-report.ts';
import { showReport } from './show-report.ts';

const engine = { run: sampleRun, studentId: 'student-1', answered: 3 };
const names = { component: () => undefined, item: () => undefined };
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
  withEvidence = false,
  run = sampleRun,
}: {
  report?: AttemptReport;
  answers?: Partial<Record<Routes, () => Response>>;
  closed?: readonly Routes[];
  withEvidence?: boolean;
  run?: typeof sampleRun;
} = {}): Promise<{ readonly result: unknown; readonly text: string; readonly asked: readonly string[] }> {
  const asked: string[] = [];
  let text = '';
  const result = await showReport(
    { ...engine, run },
    {
      connect: (administrationIds) =>
        createReportsClient({
          baseUrl: 'http://reports',
          token: administrationIds?.join('+'),
          fetch: (url) => {
            const name = url.endsWith(':materialize')
              ? 'materialize'
              : url.includes('?view')
                ? 'read'
                : 'list';
            if (closed.includes(name)) return Promise.resolve(problem(404, 'not-found'));
            if (administrationIds === undefined)
              return Promise.resolve(problem(401, 'authentication-required'));
            asked.push([name, ...administrationIds].join(' '));
            const own = {
              list: () => Response.json({ ...page, data: [{ ...report, mastery: [] }] }),
              materialize: () => Response.json({ operationId: 'op_1' }),
              read: () => Response.json(report),
            };
            return Promise.resolve((answers[name] ?? own[name])());
          },
        }),
      names,
      space: { width: 100, paint: plain },
      withEvidence,
      write: (piece) => {
        text += piece;
      },
    },
  );
  return { result, text, asked };
}

describe('showReport', () => {
  it('shows the whole report of the run’s results record, and that it says what the engine answered', async () => {
    const { result, text, asked } = await shown();
    expect(asked).toStrictEqual(['list', 'materialize administration-1', 'read']);
    expect(text).toMatch(/^\nmaterialized: .* \(operation op_1\)\n\n/);
    expect(text).toMatch(/^attempt report {2}adaptive_diagnostic, scored$/m);
    expect(text).toMatch(/^the report agrees with the engine: /m);
    expect(text).not.toContain('outcome-q2');
    expect(result).toStrictEqual({ ok: true, value: sampleReport() });
  });

  it('shows a report that differs, and fails with every difference', async () => {
    const { result, text } = await shown({
      report: sampleReport({ mastery: [sampleRow('k-mastered', 'mastered', 0.97, ['q1', 'q3'])] }),
    });
    expect(text).toMatch(/^attempt report/m);
    expect(text).not.toContain('the report says what the engine answered');
    expect(result).toMatchObject({
      ok: false,
      error: expect.stringMatching(
        /4 of 21 facts differ .*:\n {2}knowledge_component k-gap: state/,
      ) as string,
    });
  });

  it('fails when the attempt is refused, and shows no report', async () => {
    const { result, asked } = await shown({
      answers: { materialize: () => problem(409, 'idempotency-conflict') },
    });
    expect(asked.at(-1)).toBe('materialize administration-1');
    expect(result).toMatchObject({
      ok: false,
      error: expect.stringContaining('materializeAttemptReport: 409 idempotency-conflict') as string,
    });
  });

  it('says that the routes are closed, which is no failure of the run, and takes no hidden report for that', async () => {
    const { result, text } = await shown({ closed: ['list'] });
    expect(text).toMatch(/^\nno report: .* gates C, D .*\n$/);
    expect(result).toStrictEqual({ ok: true, value: undefined });
    const hidden = await shown({ answers: { list: () => problem(404, 'not-found') } });
    expect(hidden.result).toMatchObject({ ok: false, error: expect.stringContaining('404') as string });
  });

  it('fails when no report names the results record, and shows no other one', async () => {
    const { result, text } = await shown({ report: sampleReport({ resultRecordId: 'record-2' }) });
    expect(text).toBe('');
    expect(result).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^there is no report: none of .* \(1\) /) as string,
    });
  });
});
