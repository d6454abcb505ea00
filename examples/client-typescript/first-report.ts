/** Prints a report of the sandbox. It needs no token. Usage: node first-report.ts [address of the sandbox] */
import { createSandboxClient } from 'mastery-reports-client';

const sandbox = createSandboxClient({ baseUrl: process.argv[2] ?? 'http://127.0.0.1:4010/sandbox' });
const { data: report } = await sandbox.readAttemptReport({
  attemptId: 'sandbox-attempt-mastery-gate',
  view: 'evidence',
});
console.log(`${report.testKind} of ${report.candidateSourcedId}: gate ${report.gate?.status ?? 'none'}`);
for (const row of report.mastery)
  console.log(`  ${row.caseGuid}: ${row.state}, ${row.estimate} of ${row.threshold}`);
