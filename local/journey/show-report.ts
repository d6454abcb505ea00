import type { AttemptReport } from '#shared/contract/reports/attempt-report.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { compareReport, describeComparison } from './compare-report.ts';
import type { EngineResult } from './compare-report.ts';
import type { LineSpace } from '#tools/terminal/line.ts';
import { describeReportFailure } from '#client/report-client.ts';
import type { ReportClient } from '#client/report-client.ts';
import { renderEvidence, renderReport, rowsByNeed } from './report-view.ts';
import type { ReportNames } from './report-view.ts';

interface ShowReportOptions {
  readonly client: ReportClient;
  readonly names: ReportNames;
  readonly space: LineSpace;
  readonly withEvidence: boolean;
  readonly write: (text: string) => void;
}

/**
 * Has the attempt that a run has just made written through, then shows its report, and whether it says what the engine answered. The attempt
 * is the one whose report names the run's results record: none is ever guessed.
 * @returns the report; undefined where the service has no such route, which is said and is no failure; or what to tell the person
 */
export async function showReport(
  engine: EngineResult,
  { client, names, space, withEvidence, write }: ShowReportOptions,
): Promise<Result<AttemptReport | undefined, string>> {
  const { resultRecordRef } = engine.run;
  if (resultRecordRef === undefined)
    return err('there is no report: the completed run has no results record');
  const summary = await client.findReport(engine.studentId, resultRecordRef);
  if (summary.ok) {
    const materialized = await client.materialize(summary.value);
    if (!materialized.ok && materialized.error.kind !== 'closed')
      return err(`cannot materialize the attempt: ${describeReportFailure(materialized.error)}`);
    write(
      materialized.ok
        ? `\nmaterialized: Results and Caliper acknowledged the attempt (operation ${materialized.value})\n`
        : `\nnot materialized: ${describeReportFailure(materialized.error)}\n`,
    );
  }
  const report = summary.ok ? await client.readReport(summary.value.attemptId) : summary;
  if (!report.ok) {
    const why = describeReportFailure(report.error);
    if (report.error.kind !== 'closed') return err(`there is no report: ${why}`);
    write(`\nno report: ${why}\n`);
    return ok(undefined);
  }
  const comparison = compareReport(engine, report.value);
  const says = describeComparison(comparison);
  const agrees = comparison.differences.length === 0;
  const lines = [
    ...renderReport(report.value, names, space),
    ...(withEvidence
      ? rowsByNeed(report.value).flatMap((row) => ['', ...renderEvidence(row, names, space)])
      : []),
    ...(agrees ? ['', ...says] : []),
  ];
  write(`\n${lines.join('\n')}\n`);
  return agrees ? ok(report.value) : err(says.join('\n'));
}
