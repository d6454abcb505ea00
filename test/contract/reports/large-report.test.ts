import { gunzipSync } from 'node:zlib';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { readAttemptReportOperation } from '#functions/reports/endpoints/read-attempt-report/operation.ts';
import { awsLambda, ResponseStream } from '#local/gateway/response-stream.ts';
import type { AttemptReport } from '#shared/contract/reports/attempt-report.ts';
import { readAttemptReport } from '#shared/contract/reports/routes.ts';
import { sendAnswer } from '#shared/lambda/answer-stream.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import type { Fetch } from '#shared/network/http-client.ts';
import * as operations from '#shared/platform/operations.ts';
import { createTestIssuer, testLambda } from '#test/support/lambda.ts';
import type { TestIssuer, TestRequest } from '#test/support/lambda.ts';
import { componentAt, large, ownersOf } from '#test/support/large-attempt.ts';
import { dependenciesOver } from '#test/support/report-owners.ts';

// Reports at their limits and beyond, through the whole function but for its network.

let issuer: TestIssuer;
beforeAll(async () => {
  vi.stubGlobal('awslambda', awsLambda);
  issuer = await createTestIssuer();
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** A container over the owners of a large attempt. */
async function containerOver(fetch: Fetch) {
  const operation = readAttemptReportOperation(dependenciesOver(large.tenantId, fetch));
  const lambda = await testLambda(readAttemptReport, operation, { issuer });
  const token = await issuer.sign({ studentIds: [large.candidateSourcedId] });
  const requestOf = (view: string, coding?: string): TestRequest => ({
    path: { attemptId: large.attemptId },
    query: { view },
    headers: { Authorization: `Bearer ${token}`, 'Accept-Encoding': coding },
  });
  return {
    /** The answer in one line: status, and the problem with the owner that it names. */
    ask: async (view: string): Promise<string> => {
      const { status, body } = await lambda.invoke(requestOf(view));
      if (status === 200) return `200 ${(body['mastery'] as readonly unknown[]).length} rows`;
      return `${status} ${String(body['type']).split('/').at(-1)} ${String(body['dependency'])}`;
    },
    /** The answer before its first byte. `send` hands out each chunk as it arrives at the other end. */
    begin: async (coding?: string) => {
      const answer = await lambda.answer(requestOf('evidence', coding));
      return {
        send: (take: (chunk: Uint8Array) => void): Promise<void> => {
          const stream = new ResponseStream((chunk) => {
            take(chunk);
            return new Promise((resolve) => setImmediate(resolve));
          });
          // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- declared as a class that the runtime has no instances of
          return sendAnswer(answer, stream, 60_000, processRuntime().sleep);
        },
      };
    },
  };
}

/** What stands before the eight NUL bytes, and behind them. */
function partsOf(bytes: Buffer): {
  readonly prelude: { readonly statusCode: number; readonly headers: Readonly<Record<string, string>> };
  readonly body: Buffer;
} {
  const end = bytes.indexOf(Buffer.alloc(8));
  return {
    prelude: JSON.parse(bytes.toString('utf8', 0, end)) as ReturnType<typeof partsOf>['prelude'],
    body: bytes.subarray(end + 8),
  };
}

const times = (count: number, evidence: number): readonly number[] =>
  Array.from({ length: count }, () => evidence);
const views = ['summary', 'standards', 'evidence'] as const;

describe('a report', () => {
  it('has up to 5,000 rows, and is none beyond, in any view [RP-064, RP-075]', async () => {
    const most = await containerOver(ownersOf(times(5_000, 1)));
    expect(await Promise.all(views.map(most.ask))).toEqual(['200 0 rows', '200 5000 rows', '200 5000 rows']);
    const more = await containerOver(ownersOf(times(5_001, 1)));
    const refused = '503 dependency-incomplete results';
    expect(await Promise.all(views.map(more.ask))).toEqual([refused, refused, refused]);
  });

  it('has up to 500 pieces of evidence in a row, and is none beyond, in any view [RP-075, RP-095]', async () => {
    const most = await containerOver(ownersOf([1, 500, 1]));
    expect(await Promise.all(views.map(most.ask))).toEqual(['200 0 rows', '200 3 rows', '200 3 rows']);
    const more = await containerOver(ownersOf([1, 501, 1]));
    const refused = '503 dependency-incomplete results';
    expect(await Promise.all(views.map(more.ask))).toEqual([refused, refused, refused]);
  });

  it('has up to 250,000 pieces of evidence, all of which go out, and gzip makes next to nothing of them [RP-001, RP-224]', async () => {
    const { begin } = await containerOver(ownersOf(times(500, 500)));
    const { send } = await begin('gzip');
    const chunks: Uint8Array[] = [];
    await send((chunk) => chunks.push(chunk));
    const { prelude, body } = partsOf(Buffer.concat(chunks));
    expect(prelude).toMatchObject({
      statusCode: 200,
      headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
    });
    const text = gunzipSync(body);
    expect(text.length).toBeGreaterThan(30_000_000);
    // All of it is the same over and over; half a percent is what level 1 makes of that.
    expect(body.length).toBeLessThan(text.length / 100);
    const { mastery, omitted } = JSON.parse(text.toString()) as AttemptReport;
    expect(mastery.map(({ caseGuid }) => caseGuid)).toEqual(times(500, 0).map((_, row) => componentAt(row)));
    expect(mastery.map(({ evidence }) => evidence?.length)).toEqual(times(500, 500));
    expect(omitted).toEqual(['readiness']);
  }, 60_000);

  it('is none with one piece of evidence more, rather than less than its owner holds [RP-028, RP-233]', async () => {
    const { ask } = await containerOver(ownersOf([...times(500, 500), 1]));
    expect(await ask('evidence')).toBe('503 dependency-incomplete results');
  }, 60_000);

  it('is none when its record is larger than is read at all, of which no more is read; the next one is [RP-017, RP-233]', async () => {
    const megabyte = new Uint8Array(1024 * 1024).fill(0x20);
    const read = { megabytes: 0, cancelled: false };
    let respond: (() => Response) | undefined = () => {
      const endless = new ReadableStream<Uint8Array>({
        pull(controller) {
          read.megabytes += 1;
          controller.enqueue(megabyte);
        },
        cancel() {
          read.cancelled = true;
        },
      });
      return new Response(endless, { headers: { 'content-type': 'application/json' } });
    };
    const sound = ownersOf([1]);
    const flooding = ownersOf([1], () => respond!());
    const { ask } = await containerOver((url, init) => (respond === undefined ? sound : flooding)(url, init));
    expect(await ask('evidence')).toBe('503 dependency-unavailable results');
    expect(read.cancelled).toBe(true);
    const most = operations.readSettledRecord.maxAnswerBytes / megabyte.length;
    expect(read.megabytes - most).toBeLessThanOrEqual(2);
    respond = undefined;
    expect(await ask('evidence')).toBe('200 1 rows');
  });
});

describe('the text of a large report', () => {
  const rows = 5_000;
  const stringify = JSON.stringify;

  /** Calls back for the text of every mastery row that is written. */
  function onRow(written: (text: string) => void): void {
    vi.spyOn(JSON, 'stringify').mockImplementation((value: unknown) => {
      const text = stringify(value);
      if (typeof value === 'object' && value !== null && 'evidence' in value) written(text);
      return text;
    });
  }

  it('is not made before it is sent', async () => {
    const { begin } = await containerOver(ownersOf(times(rows, 5)));
    let characters = 0;
    onRow((text) => (characters += text.length));
    await begin();
    expect(characters).toBe(0);
  });

  it.each(['identity', 'gzip'])(
    'is made row by row as the rows before have been taken: the first byte goes out before the last row is written (%s)',
    async (coding) => {
      const { begin } = await containerOver(ownersOf(times(rows, 5)));
      const { send } = await begin(coding);
      const events: ('row' | 'sent')[] = [];
      /** Characters of rows that are written and not sent. */
      const ahead = { now: 0, most: 0 };
      onRow((text) => {
        events.push('row');
        ahead.now += text.length;
        ahead.most = Math.max(ahead.most, ahead.now);
      });
      await send((chunk) => {
        events.push('sent');
        ahead.now -= chunk.length;
      });
      expect(events.filter((event) => event === 'row')).toHaveLength(rows);
      expect(events.indexOf('sent')).toBeLessThan(events.lastIndexOf('row') / 2);
      if (coding === 'identity') expect(ahead.most).toBeLessThan(256 * 1024);
    },
  );
});
