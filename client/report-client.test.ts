import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { AttemptReport, AttemptReportPage } from '#shared/contract/reports/attempt-report.ts';
import type { ReportsProblem } from '#shared/contract/reports/problem.ts';
import { listCandidateReports, materializeAttemptReport } from '#shared/contract/reports/routes.ts';
import { createReportClient, describeReportFailure } from './report-client.ts';
import type { ReportClient, ReportFailure } from './report-client.ts';
import { sampleReport } from '#test/support/sample-report.ts';

/** One answer of the service; `cut` ends the connection in the middle of it. */
interface Scripted {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly cut?: true;
}

let close: (() => Promise<void>) | undefined;
async function stop(): Promise<void> {
  await close?.();
  close = undefined;
}
afterEach(stop);

/** A client of a service that gives these answers, one a request, whatever is asked. */
async function clientOf(...answers: Scripted[]): Promise<{
  readonly client: ReportClient;
  readonly asked: string[];
  readonly waits: number[];
  readonly retries: ReportFailure[];
}> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { authorization = 'nobody', 'idempotency-key': key } = request.headers;
    const words = [
      authorization,
      request.method,
      request.url,
      ...(key === undefined ? [] : [`key ${String(key)}`]),
    ];
    asked.push(words.join(' '));
    const next = answers.shift();
    if (next === undefined) throw new Error('one request too many');
    const body = typeof next.body === 'string' ? next.body : JSON.stringify(next.body ?? {});
    response.writeHead(next.status, {
      ...next.headers,
      ...(next.cut === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body) + 1) }),
    });
    if (next.cut === undefined) response.end(body);
    else response.write(body, () => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  close = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  // SAFETY: a TCP server that listens has an address of this form.
  const { port } = server.address() as AddressInfo;
  const waits: number[] = [];
  const retries: ReportFailure[] = [];
  const client = createReportClient({
    reportsUrl: `http://127.0.0.1:${port}`,
    token: ({ scope, administrationIds }) => Promise.resolve(['jwt', scope, ...administrationIds].join('+')),
    fetch,
    newKey: () => 'key-1',
    sleep: (milliseconds) => {
      waits.push(milliseconds);
      return Promise.resolve();
    },
    random: () => 0.5,
    onRetry: (why) => retries.push(why),
  });
  return { client, asked, waits, retries };
}

function refusal(status: number, code: string, change: Partial<ReportsProblem> = {}): Scripted {
  const body: ReportsProblem = {
    type: `https://problems.example/${code}`,
    title: 'Title',
    status,
    detail: 'Detail.',
    instance: 'urn:request:1',
    requestId: 'request-1',
    traceId: 'trace-1',
    retryable: false,
    dependency: null,
    fieldErrors: null,
    operationId: null,
    ...change,
  };
  return { status, body };
}

function page(
  reports: readonly AttemptReport[],
  nextCursor: string | null = null,
  more: Pick<AttemptReportPage, 'withheld'> = {},
): Scripted {
  const { observedAt, sources } = sampleReport();
  return {
    status: 200,
    body: { data: reports, nextCursor, hasMore: nextCursor !== null, observedAt, sources, ...more },
  };
}

const whole: Scripted = { status: 200, body: sampleReport() };
const other = (resultRecordId: string): AttemptReport =>
  sampleReport({ resultRecordId, mastery: [], omitted: ['mastery', 'itemEvidence', 'readiness'] });

describe('createReportClient', () => {
  it('finds the report of exactly the given results record, on whatever page it stands', async () => {
    const { client, asked } = await clientOf(
      page([other('record-9'), other('RECORD-1')], 'next/1', { withheld: [{ reason: 'stale', count: 1 }] }),
      page([], null, { withheld: [{ reason: 'unreleased', count: 2 }] }),
    );
    expect(await client.findReport('student 1', 'record-1')).toStrictEqual({
      ok: false,
      error: { kind: 'absent', looked: 2, withheld: 3, hasMore: false },
    });
    expect(asked).toStrictEqual([
      'Bearer jwt+reports:read GET /v1/candidates/student%201/attempt-reports?testKind=adaptive_diagnostic&limit=10',
      'Bearer jwt+reports:read GET /v1/candidates/student%201/attempt-reports?testKind=adaptive_diagnostic&limit=10&cursor=next%2F1',
    ]);
    await stop();

    const found = await clientOf(page([other('record-9')], 'next'), page([other('record-1')], 'more'));
    expect(await found.client.findReport('s', 'record-1')).toMatchObject({
      ok: true,
      value: { resultRecordId: 'record-1' },
    });
    expect(found.asked).toHaveLength(2);
  });

  it('gives up after twenty pages', async () => {
    const { client, asked } = await clientOf(
      ...Array.from({ length: 20 }, (_, at) => page([other(`other-${at}`)], `cursor-${at}`)),
    );
    expect(await client.findReport('s', 'record-1')).toStrictEqual({
      ok: false,
      error: { kind: 'absent', looked: 20, withheld: 0, hasMore: true },
    });
    expect(asked).toHaveLength(20);
  });

  it('reads a report with its evidence', async () => {
    const { client, asked } = await clientOf(whole);
    expect(await client.readReport('attempt/1')).toStrictEqual({ ok: true, value: sampleReport() });
    expect(asked).toStrictEqual([
      'Bearer jwt+reports:read GET /v1/attempt-reports/attempt%2F1?view=evidence',
    ]);
  });

  it('repeats what its problem calls retryable, no sooner than Retry-After', async () => {
    const unavailable = {
      ...refusal(503, 'dependency-unavailable', { retryable: true, dependency: 'results' }),
      headers: { 'Retry-After': '5' },
    };
    const { client, waits, retries } = await clientOf(unavailable, unavailable, whole);
    expect(await client.readReport('a')).toMatchObject({ ok: true });
    expect(waits).toStrictEqual([5000, 5000]);
    expect(retries.map(describeReportFailure)).toStrictEqual(
      Array(2).fill('503 dependency-unavailable: Detail. [results] (request request-1)'),
    );
  });

  it('gives up rather than ask sooner, when it is told to wait too long', async () => {
    const { client, waits } = await clientOf({
      ...refusal(503, 'dependency-incomplete', { retryable: true }),
      headers: { 'Retry-After': '3600' },
    });
    expect(await client.readReport('a')).toMatchObject({ ok: false, error: { problem: { status: 503 } } });
    expect(waits).toStrictEqual([]);
  });

  it('takes no final problem for a passing one', async () => {
    const { client, asked } = await clientOf(refusal(403, 'authorization-denied'));
    expect(await client.readReport('a')).toMatchObject({ ok: false, error: { problem: { status: 403 } } });
    expect(asked).toHaveLength(1);
  });

  it('asks again when the connection breaks in the middle of an answer', async () => {
    const { client, retries } = await clientOf({ ...whole, cut: true }, whole);
    expect(await client.readReport('a')).toMatchObject({ ok: true });
    expect(retries.map(({ kind }) => kind)).toStrictEqual(['unreachable']);
  });

  it('tells a route that is not served from a report that is not there', async () => {
    const hidden = await clientOf(refusal(404, 'not-found'), refusal(401, 'authentication-required'));
    expect(await hidden.client.readReport('a')).toMatchObject({
      ok: false,
      error: { kind: 'problem', problem: { status: 404 } },
    });
    expect(hidden.asked).toStrictEqual([
      'Bearer jwt+reports:read GET /v1/attempt-reports/a?view=evidence',
      'nobody GET /v1/attempt-reports/a?view=evidence',
    ]);
    await stop();

    const closed = await clientOf(refusal(404, 'not-found'), refusal(404, 'not-found'));
    expect(await closed.client.findReport('s', 'record-1')).toStrictEqual({
      ok: false,
      error: { kind: 'closed', route: listCandidateReports },
    });
  });

  it('keeps the key of a materialization over its repetitions, with the administration in the token', async () => {
    const { client, asked } = await clientOf(
      refusal(503, 'dependency-unavailable', { retryable: true, operationId: 'op_1' }),
      { status: 200, body: { operationId: 'op_1', report: sampleReport() } },
    );
    const attempt = { attemptId: 'attempt-1', administrationId: 'administration-1' };
    expect(await client.materialize(attempt)).toStrictEqual({ ok: true, value: 'op_1' });
    const request =
      'Bearer jwt+reports:write+administration-1 POST /v1/attempt-reports:materialize key key-1';
    expect(asked).toStrictEqual([request, request]);
  });

  it('tells where attempts cannot be materialized', async () => {
    const { client } = await clientOf(refusal(404, 'not-found'), refusal(404, 'not-found'));
    expect(await client.materialize({ attemptId: 'a', administrationId: 'b' })).toStrictEqual({
      ok: false,
      error: { kind: 'closed', route: materializeAttemptReport },
    });
  });

  it.each([
    ['no JSON', { status: 200, body: '<html>' }, /status 200 is not JSON$/],
    ['no report', { status: 200, body: {} }, /status 200 breaks the contract at \/object: /],
    ['a report with a defect', { status: 200, body: { ...sampleReport(), gate: {} } }, /contract at \/gate/],
    ['an error page', { status: 502, body: '<html>' }, /status 502 is not JSON$/],
    ['no problem document', { status: 503, body: { message: 'x' } }, /status 503 is no problem document$/],
    [
      'a problem of another status',
      { ...refusal(503, 'dependency-unavailable', { retryable: true }), status: 404 },
      /status 404 is no problem document$/,
    ],
  ] satisfies readonly (readonly [string, Scripted, RegExp])[])(
    'says so when the answer is %s, and does not repeat',
    async (_name, answer, message) => {
      const { client, asked } = await clientOf(answer);
      expect(await client.readReport('a')).toStrictEqual({
        ok: false,
        error: { kind: 'unexpected', message: expect.stringMatching(message) as string },
      });
      expect(asked).toHaveLength(1);
    },
  );

  it('says that nobody answers, after a few tries', async () => {
    const { client, retries } = await clientOf();
    await stop();
    expect(await client.readReport('a')).toMatchObject({ ok: false, error: { kind: 'unreachable' } });
    expect(retries).toHaveLength(4);
  });
});

describe('describeReportFailure', () => {
  it.each([
    [{ kind: 'closed', route: materializeAttemptReport }, /gates B, C, D/],
    [
      { kind: 'absent', looked: 3, withheld: 0, hasMore: false },
      /none of the learner's diagnostic reports \(3\) .* run$/,
    ],
    [{ kind: 'absent', looked: 3, withheld: 2, hasMore: false }, /; 2 attempts cannot be a report yet$/],
    [{ kind: 'absent', looked: 200, withheld: 0, hasMore: true }, /none of the learner's newest 200/],
    [{ kind: 'unreachable', message: 'ECONNREFUSED' }, /no answer .*ECONNREFUSED/],
  ] satisfies readonly (readonly [ReportFailure, RegExp])[])(
    'puts %j into a sentence',
    (failure, sentence) => {
      expect(describeReportFailure(failure)).toMatch(sentence);
    },
  );
});
