/** Takes an adaptive run and prints its report. Stop it with Ctrl-C and start it again: it goes on with the same run. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createMasteryClient, createReportsClient, ProblemError, runAdaptive } from 'mastery-reports-client';
import type { RetryEvent, SavedRun } from 'mastery-reports-client';
import { answer, masteryUrl, reportsUrl, start, studentId, token } from './local-stack.ts';

const file = join(import.meta.dirname, 'run.json');
const onRetry = ({ operation, wait, error }: RetryEvent): void =>
  console.error(`${operation} again in ${wait} ms: ${error.message}`);

try {
  const { data: run } = await runAdaptive(createMasteryClient({ baseUrl: masteryUrl, token, onRetry }), {
    start,
    play: async (item, { signal }) => {
      console.log(`item ${item.sequence}: ${item.artifactVersionId}`);
      await answer(item, signal);
    },
    store: {
      load: async () => {
        const saved = await readFile(file, 'utf8').catch(() => undefined);
        return saved === undefined ? undefined : (JSON.parse(saved) as SavedRun);
      },
      save: (saved) => writeFile(file, JSON.stringify(saved), { mode: 0o600 }),
    },
  });
  await rm(file);
  console.log(`completed: ${run.stopReason ?? 'no reason'}, scale score ${run.scale?.scaleScore ?? 'none'}`);

  const reports = createReportsClient({ baseUrl: reportsUrl, token, onRetry });
  for await (const summary of reports.iterateCandidateReports({ candidateSourcedId: studentId })) {
    if (summary.resultRecordId !== run.resultRecordRef) continue;
    const { data: report } = await reports.readAttemptReport({
      attemptId: summary.attemptId,
      view: 'evidence',
    });
    for (const row of report.mastery) console.log(`  ${row.caseGuid}: ${row.state}, ${row.estimate}`);
    break;
  }
} catch (error) {
  if (!(error instanceof ProblemError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
