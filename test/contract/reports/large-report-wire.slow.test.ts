import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AttemptReport } from '#shared/contract/reports/attempt-report.ts';
import { readAttemptReport } from '#shared/contract/reports/routes.ts';
import { openReportsCaller } from '#test/support/reports-call.ts';
import { asBuilt, startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

// The largest report of the seed over the bundled function and the gateway, without any decoding on the way.

const tenantId = 'tenant-aurora';
const ROWS = 5_000;
const EVIDENCE = 25_000;

let stack: TestStack;
let url: string;
let authorization: string;
beforeAll(async () => {
  stack = await startTestStack({ bundled: asBuilt });
  const { attempts, students } = openReportsCaller(stack).fixtures(tenantId);
  url = `${stack.urls.reportsUrl}/v1/attempt-reports/${attempts.large}?view=evidence`;
  authorization = `Bearer ${await stack.tokenFor(tenantId, ['reports:read'], { studentIds: students })}`;
});
afterAll(() => stack.close());

/** Asks; the body is still to be read. */
function ask(coding = 'identity'): Promise<IncomingMessage> {
  const headers = { Authorization: authorization, 'Accept-Encoding': coding };
  return new Promise((resolve, reject) => {
    request(url, { headers }, resolve).on('error', reject).end();
  });
}

/** Reads an answer to its end: a whole report, with the request's own id. */
async function reportOf(response: IncomingMessage): Promise<{ bytes: Buffer; report: AttemptReport }> {
  expect(response.statusCode).toBe(200);
  const bytes = await buffer(response);
  const text = response.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
  const report = readAttemptReport.success.schema.parse(JSON.parse(text.toString()));
  expect(report.requestId).toBe(response.headers['x-request-id']);
  expect(report.mastery).toHaveLength(ROWS);
  expect(report.mastery.reduce((sum, { evidence = [] }) => sum + evidence.length, 0)).toBe(EVIDENCE);
  return { bytes, report };
}

/** The log lines of one kind so far. */
function linesOf(code: string): readonly Readonly<Record<string, unknown>>[] {
  return stack
    .logs()
    .map(({ line }) => line as Readonly<Record<string, unknown>>)
    .filter((line) => line['code'] === code);
}

describe('a large report', () => {
  it('goes out whole, compressed or not, with exactly the rows of its owner in their order [RP-001, RP-224]', async () => {
    const plain = await ask();
    expect(plain.headers).toMatchObject({
      'content-type': 'application/json',
      'transfer-encoding': 'chunked',
      vary: 'Accept-Encoding',
    });
    expect(plain.headers['content-encoding']).toBeUndefined();
    const { bytes, report } = await reportOf(plain);
    expect(bytes.length).toBeGreaterThan(6 * 1024 * 1024);
    const record = stack.seededTenants
      .get(tenantId)
      ?.platform.reports.generated.records.get(report.resultRecordId)?.();
    expect(
      report.mastery.map(({ kind, caseGuid, evidence = [] }) => [
        kind,
        caseGuid,
        evidence.map(({ qtiItemId, contribution }) => [qtiItemId, contribution]),
      ]),
    ).toEqual(
      record?.mastery.map(({ kind, caseGuid, evidence }) => [
        kind,
        caseGuid,
        evidence.map(({ qtiItemId, contribution }) => [qtiItemId, contribution]),
      ]),
    );

    const compressed = await ask('gzip');
    expect(compressed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    const again = await reportOf(compressed);
    expect(again.bytes.length).toBeLessThan(bytes.length / 4);
    expect(again.report.mastery).toEqual(report.mastery);
  });

  it('is right for the next caller of an environment whose last one has hung up half way', async () => {
    const response = await ask();
    await new Promise<void>((resolve) => {
      let arrived = 0;
      response.on('data', (chunk: Buffer) => {
        arrived += chunk.length;
        if (arrived < 1024 * 1024) return;
        response.destroy();
        resolve();
      });
    });
    await expect.poll(() => linesOf('ANSWER_ABANDONED').length).toBe(1);
    await reportOf(await ask());
    // One environment has served everything so far.
    expect(linesOf('REQUEST_COMPLETED').filter((line) => line['cold_start'] === true)).toHaveLength(1);
    expect(linesOf('ANSWER_BROKEN')).toEqual([]);
  });

  it('can go out twice at once, to each caller its own', async () => {
    const [one, other] = await Promise.all(
      ['identity', 'gzip'].map(async (coding) => reportOf(await ask(coding))),
    );
    expect(one?.report.requestId).not.toBe(other?.report.requestId);
    expect(one?.report.mastery).toEqual(other?.report.mastery);
  });
});
