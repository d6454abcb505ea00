import { describe, expect, it } from 'vitest';
import type { AttemptReport } from '#shared/contract/reports/attempt-report.ts';
import { materializeAttemptReport, readAttemptReport } from '#shared/contract/reports/routes.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { plain } from '#tools/terminal/paint.ts';
import type { ReportFailure } from '#client/report-client.ts';
import { sampleReport, sampleRow, sampleRun } from '#test/support/sample-report.ts';
import { showReport } from './show-report.ts';

const engine = { run: sampleRun, studentId: 'student-1', answered: 3 };
const names = { component: () => undefined, item: () => undefined };

async function shown(
  report: AttemptReport | ReportFailure,
  {
    withEvidence = false,
    run = sampleRun,
    materialize = ok('op_1'),
  }: {
    withEvidence?: boolean;
    run?: typeof sampleRun;
    materialize?: Result<string, ReportFailure>;
  } = {},
): Promise<{ readonly result: unknown; readonly text: string; readonly asked: readonly string[] }> {
  const asked: string[] = [];
  let text = '';
  const result = await showReport(
    { ...engine, run },
    {
      client: {
        findReport: (student, record) => {
          asked.push(`find ${student} ${record}`);
          return Promise.resolve('object' in report ? ok({ ...report, mastery: [] }) : err(report));
        },
        materialize: ({ attemptId, administrationId }) => {
          asked.push(`materialize ${attemptId} ${administrationId}`);
          return Promise.resolve(materialize);
        },
        readReport: (attemptId) => {
          asked.push(`read ${attemptId}`);
          return Promise.resolve('object' in report ? ok(report) : err(report));
        },
      },
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
    const { result, text, asked } = await shown(sampleReport());
    expect(asked).toStrictEqual([
      'find student-1 record-1',
      'materialize attempt-1 administration-1',
      'read attempt-1',
    ]);
    expect(text).toMatch(/^\nmaterialized: .* \(operation op_1\)\n\n/);
    expect(text).toMatch(/^attempt report {2}adaptive_diagnostic, scored$/m);
    expect(text).toMatch(/^the report agrees with the engine: /m);
    expect(text).not.toContain('outcome-q2');
    expect(result).toStrictEqual({ ok: true, value: sampleReport() });
  });

  it('shows the evidence of every row when it is asked for, gaps first', async () => {
    const { text } = await shown(sampleReport(), { withEvidence: true });
    const places = ['outcome-q2', 'outcome-q1', 'outcome-q3'].map((id) => text.indexOf(id));
    expect(places).not.toContain(-1);
    expect(places).toStrictEqual(places.toSorted((a, b) => a - b));
  });

  it('shows a report that differs, and fails with every difference', async () => {
    const { result, text } = await shown(
      sampleReport({ mastery: [sampleRow('k-mastered', 'mastered', 0.97, ['q1', 'q3'])] }),
    );
    expect(text).toMatch(/^attempt report/m);
    expect(text).not.toContain('the report says what the engine answered');
    expect(result).toMatchObject({
      ok: false,
      error: expect.stringMatching(
        /4 of 21 facts differ .*:\n {2}knowledge_component k-gap: state/,
      ) as string,
    });
  });

  it('says that the attempt cannot be materialized where that route is closed, and shows the report all the same', async () => {
    const closed = err({ kind: 'closed', route: materializeAttemptReport } as const);
    const { result, text } = await shown(sampleReport(), { materialize: closed });
    expect(text).toMatch(/^\nnot materialized: .* gates B, C, D .*\n\nattempt report/);
    expect(result).toMatchObject({ ok: true });
  });

  it('fails when the attempt is refused, and shows no report', async () => {
    const refused = err({ kind: 'unexpected', message: 'the answer is not JSON' } as const);
    const { result, asked } = await shown(sampleReport(), { materialize: refused });
    expect(asked.at(-1)).toBe('materialize attempt-1 administration-1');
    expect(result).toStrictEqual(err('cannot materialize the attempt: the answer is not JSON'));
  });

  it('says that the routes are closed, which is no failure of the run', async () => {
    const { result, text } = await shown({ kind: 'closed', route: readAttemptReport });
    expect(text).toMatch(/^\nno report: .* gates C, D .*\n$/);
    expect(result).toStrictEqual({ ok: true, value: undefined });
  });

  it('fails when no report names the results record, and shows no other one', async () => {
    const { result, text } = await shown({ kind: 'absent', looked: 2, withheld: 0, hasMore: false });
    expect(text).toBe('');
    expect(result).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^there is no report: none of /) as string,
    });
  });

  it('asks for nothing when the run names no results record', async () => {
    const run = { ...sampleRun, resultRecordRef: undefined };
    const { result, asked } = await shown(sampleReport(), { run });
    expect(asked).toStrictEqual([]);
    expect(result).toMatchObject({ ok: false });
  });
});
