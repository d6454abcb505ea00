import { createServer } from 'node:http';
import { listen } from '#local/loopback.ts';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import { addressOf } from '#shared/platform/transport/address.ts';
import { secret } from '#shared/platform/transport/secret.ts';
import { makeAttempt, TENANT_ID } from './attempt.ts';
import { openFunction } from './function.ts';
import type { Invocation } from './function-process.ts';
import { verdict, table, type Part, type Progress, type Report } from './measure.ts';
import { buildReportFunction, functionVariables, makeReportRequest } from './report-function.ts';
import { openBenchRelease } from './report-release.ts';

/** As many rows, and as much evidence, as a report can carry. */
const LIMIT = { rows: 5_000, evidencePerRow: 50 };
const QUICK = { rows: 500, evidencePerRow: 50 };
const INVOCATIONS = 2;
/** What Lambda leaves of a function's memory to the heap. */
const HEAP_SHARE = 0.9;
/** The share of the row's memory that the process may need: some of it is kept for frameworks, larger answers and what a re-read adds. */
const MEMORY_GUARD = 0.5;
/** The share of the row's time that the processors may need, as if all were one. */
const TIME_GUARD = 0.5;

/** The largest report in a process as large as the row's memory, its owners in another one. */
async function largestReport(progress: Progress, isQuick: boolean): Promise<Report> {
  progress('building');
  const file = await buildReportFunction();
  const { event, jwks } = await makeReportRequest({ 'Accept-Encoding': 'gzip' });
  progress('making the attempt');
  const size = isQuick ? QUICK : LIMIT;
  const answers = makeAttempt(size);
  const bodies = new Map([['/keys', Buffer.from(jwks)]]);
  const server = createServer(({ url = '' }, response) => {
    const body = bodies.get(url);
    if (body === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  const baseUrl = await listen(server, 0);
  const profile = { tenantId: TENANT_ID, baseUrl, credential: secret('credential') };
  for (const { operation, path, query, value } of answers) {
    const address = addressOf(operation, profile, path, query) ?? '';
    bodies.set(address.slice(baseUrl.length), Buffer.from(JSON.stringify(value)));
  }
  await using release = await openBenchRelease('local');
  const { memoryMb, timeoutSeconds } = readAttemptReport.lambda;
  progress('asking');
  try {
    await using report = await openFunction({
      file,
      variables: { ...functionVariables('local', `${baseUrl}/keys`, baseUrl), ...release.variables },
      heapMb: memoryMb * HEAP_SHARE,
    });
    const figures: Invocation[] = [];
    while (figures.length < INVOCATIONS) figures.push(await report.invoke(event));
    const read = Math.max(...[...bodies.values()].map(({ length }) => length));
    const most = (of: 'cpu' | 'peak'): number => Math.max(...figures.map((each) => each[of]));
    const isFast = most('cpu') <= timeoutSeconds * 1000 * TIME_GUARD;
    const isSmall = most('peak') <= memoryMb * MEMORY_GUARD;
    return {
      text: table(
        [
          `${(size.rows * size.evidencePerRow).toLocaleString('en')} evidence rows, a record of ${megabytes(read)}`,
          'gzip',
          'CPU',
          'first byte',
          'last byte',
          'peak',
          `aim: CPU ≤ ${timeoutSeconds * TIME_GUARD} s, peak ≤ ${(memoryMb * MEMORY_GUARD).toFixed(0)} MB`,
        ],
        figures.map(({ status, bytes, cpu, first, last, peak }, n) => [
          `${n === 0 ? 'cold' : 'warm'}, status ${status}`,
          megabytes(bytes),
          ...[cpu, first, last].map((ms) => `${(ms / 1000).toFixed(1)} s`),
          `${peak.toFixed(0)} MB`,
          verdict(isFast && isSmall),
        ]),
      ),
      missed: [
        ...(figures.every(({ status }) => status === 200) ? [] : ['report-limit: no report']),
        ...(isSmall ? [] : [`report-limit: ${most('peak').toFixed(0)} MB of ${memoryMb} MB`]),
      ],
    };
  } finally {
    server.close();
  }
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

export const limitPart: Part = {
  title:
    'Report at its limit: the function in a process of its own, as large as its row says, its owners over HTTP',
  run: largestReport,
};
