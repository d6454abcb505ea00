import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { readAttemptReportOperation } from '#functions/reports/endpoints/read-attempt-report/operation.ts';
import { awsLambda, ResponseStream } from '#local/gateway/response-stream.ts';
import type { AttemptReport } from '#shared/contract/reports/attempt-report.ts';
import { readAttemptReport } from '#shared/contract/reports/routes/read-attempt-report.ts';
import { sendAnswer } from '#shared/lambda/answer-stream.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { testIssuer, testLambda } from '#test/support/lambda.ts';
import { anExampleOf, attemptFacts, withRows } from '#test/support/report-facts.ts';
import { dependenciesOver, scriptedOwners, scriptOf } from '#test/support/scripted-owners.ts';

// The largest report, through the whole function but for its network. Larger ones: functions/reports/composition.

beforeAll(() => vi.stubGlobal('awslambda', awsLambda));
afterEach(() => vi.restoreAllMocks());

it.each(['identity', 'gzip'])(
  'a report of 250,000 pieces of evidence goes out whole, written as its rows are taken (%s) [RP-001, RP-224]',
  async (coding) => {
    const facts = withRows(anExampleOf(attemptFacts(fc.constant('formative'))), Array(500).fill(500));
    const { candidateSourcedId, attemptId } = facts.evidence.value;
    const operation = readAttemptReportOperation(dependenciesOver(() => scriptedOwners(scriptOf(facts))));
    const lambda = await testLambda(readAttemptReport, operation);
    const token = await testIssuer.sign({ studentIds: [candidateSourcedId] });
    const events: ('row' | 'sent')[] = [];
    const stringify = JSON.stringify;
    vi.spyOn(JSON, 'stringify').mockImplementation((value: unknown) => {
      if (typeof value === 'object' && value !== null && 'evidence' in value) events.push('row');
      return stringify(value);
    });
    const answer = await lambda.answer({
      path: { attemptId },
      query: { view: 'evidence' },
      headers: { Authorization: `Bearer ${token}`, 'Accept-Encoding': coding },
    });
    expect(events).toEqual([]);
    const chunks: Uint8Array[] = [];
    const stream = new ResponseStream((chunk) => {
      events.push('sent');
      chunks.push(chunk);
      return new Promise((resolve) => setImmediate(resolve));
    });
    await sendAnswer(answer, stream, 60_000, processRuntime().sleep);
    expect(events.filter((event) => event === 'row')).toHaveLength(500);
    expect(events.indexOf('sent')).toBeLessThan(events.lastIndexOf('row') / 2);

    const bytes = Buffer.concat(chunks);
    const end = bytes.indexOf(Buffer.alloc(8));
    expect(JSON.parse(bytes.toString('utf8', 0, end))).toMatchObject({ statusCode: 200 });
    const body = bytes.subarray(end + 8);
    const text = coding === 'gzip' ? gunzipSync(body) : body;
    expect(text.length).toBeGreaterThan(25_000_000);
    const { mastery } = JSON.parse(text.toString()) as AttemptReport;
    expect(mastery.map(({ caseGuid, evidence }) => [caseGuid, evidence?.length])).toEqual(
      facts.record.value.mastery.map(({ caseGuid }) => [caseGuid, 500]),
    );
  },
  60_000,
);
