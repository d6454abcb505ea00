import { describe, expect, it } from 'vitest';
import {
  createMasteryClient,
  createReportsClient,
  createSandboxClient,
  type ClientOptions,
  type RetryEvent,
} from './client.ts';
import { BaseUrlError, ConnectionError, ProblemError, UnexpectedAnswerError } from './errors.ts';
import { pages } from './pages.ts';

interface Sent {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string;
}

function answer(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers });
}

function problem(status: number, code: string, retryable: boolean, more: object = {}): object {
  return {
    ...{ type: `https://docs.example/problems/${code}`, title: 't', status, detail: 'Why.', instance: 'i' },
    ...{ requestId: 'request-1', retryable },
    ...more,
  };
}

const run = answer.bind(undefined, 200, { status: 'in_progress' }, { etag: '"1"' });
const start = {
  selectionPolicyId: 'p',
  scaleCalibrationId: 'c',
  testSpecId: 's',
  testBankId: 'b',
  bankOperationId: 'o',
  runMode: 'owner_conformance',
} as const;

/** Both clients over answers in their order. */
function clientsFor(answers: (Response | Error)[], options: Partial<ClientOptions> = {}) {
  const sent: Sent[] = [];
  const waits: number[] = [];
  const retries: RetryEvent[] = [];
  const all: ClientOptions = {
    baseUrl: 'https://service.example/',
    token: 'jwt',
    fetch: async (url, init) => {
      const request = new Request(url, init);
      const { method, headers } = request;
      sent.push({ url: request.url, method, headers, body: await request.text() });
      const next = answers.shift();
      if (next === undefined) throw new Error('one request too many');
      if (next instanceof Error) throw next;
      return next;
    },
    sleep: (milliseconds) => {
      waits.push(milliseconds);
      return Promise.resolve();
    },
    random: () => 0.5,
    onRetry: (event) => void retries.push(event),
    ...options,
  };
  return { mastery: createMasteryClient(all), reports: createReportsClient(all), sent, waits, retries };
}

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );
const message = (text: string | RegExp) => ({ message: expect.stringMatching(text) as string });

describe('a request', () => {
  it('puts each member of its input where the operation takes it', async () => {
    const { mastery, reports, sent } = clientsFor([run(), answer(200, {}), answer(200, {}), answer(200, {})]);
    await mastery.advanceAdaptiveRun(
      { continuationToken: 'token', ifMatch: '"7"' },
      { idempotencyKey: 'key-1', traceparent: '00-1' },
    );
    await reports.listCandidateReports({ candidateSourcedId: 'a/b', limit: 5, cursor: undefined });
    await reports.analyzeAdministration({ administrationId: 'x' });
    await reports.materializeAttemptReport({ attemptId: 'a', administrationId: 'x' }, { token: 'other' });
    expect(sent.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['POST', 'https://service.example/v1/adaptive-runs:advance', '{"continuationToken":"token"}'],
      ['GET', 'https://service.example/v1/candidates/a%2Fb/attempt-reports?limit=5', ''],
      ['POST', 'https://service.example/v1/administrations/x/improvement-runs:analyze', ''],
      [
        'POST',
        'https://service.example/v1/attempt-reports:materialize',
        '{"attemptId":"a","administrationId":"x"}',
      ],
    ]);
    expect(Object.fromEntries(sent[0]!.headers)).toMatchObject({
      authorization: 'Bearer jwt',
      'content-type': 'application/json',
      'idempotency-key': 'key-1',
      'if-match': '"7"',
      traceparent: '00-1',
    });
    expect(sent[1]!.headers.has('idempotency-key')).toBe(false);
    expect(sent[2]!.headers.get('idempotency-key')).toMatch(/^[0-9a-f-]{36}$/);
    expect(sent[3]!.headers.get('authorization')).toBe('Bearer other');
  });

  it('returns the body as it is, with values and members of later versions, and what the headers say [MA-020, RP-046]', async () => {
    const body = { status: 'paused', news: 1 };
    const headers = { etag: '"2"', 'x-request-id': 'r', 'retry-after': '3', 'idempotent-replayed': 'true' };
    const { mastery } = clientsFor([answer(200, body, headers)]);
    expect(
      await mastery.inspectAdaptiveRun({ continuationToken: 't' }, { idempotencyKey: 'k' }),
    ).toMatchObject({
      ...{ data: body, etag: '"2"', requestId: 'r', retryAfter: 3, replayed: true, idempotencyKey: 'k' },
    });
  });

  it('refuses a path without its id', async () => {
    const { reports, sent } = clientsFor([]);
    await expect(reports.readReadiness({ attemptId: '' })).rejects.toThrow('attemptId');
    expect(sent).toEqual([]);
  });
});

describe('a base URL', () => {
  it.each([
    ['empty', ' ', 'pass the service'],
    ['empty', undefined, 'pass the service'],
    ['not-a-url', '/reports', 'https://'],
    ['not-a-url', 'reports.example.org', 'https://'],
    ['scheme', 'localhost:4010/reports', 'https://'],
    ['credentials', 'https://user:secret@service.example', 'pass `token`'],
    ['insecure', 'http://service.example', 'use https'],
    ['insecure', 'http://172.32.0.1', 'use https'],
    ['insecure', 'http://10.evil.example', 'use https'],
    ['query', 'https://service.example/?key=secret', 'remove it'],
    ['query', 'https://service.example/#', 'remove it'],
    ['version', 'https://service.example/v1/', 'before /v1'],
    ['version', 'https://service.example/v1/adaptive-runs', 'before /v1'],
    ['stage', 'https://a1b2.execute-api.eu-west-1.amazonaws.com/', 'path of its stage'],
  ])('that is wrong (%s: %s) is a typed error before any request', (reason, baseUrl, advice) => {
    for (const create of [createMasteryClient, createReportsClient, createSandboxClient]) {
      const creating = () => create({ baseUrl: baseUrl as string });
      expect(creating).toThrow(BaseUrlError);
      expect(creating).toThrow(expect.objectContaining({ reason, ...message(advice) }));
      expect(creating).not.toThrow(/secret/);
    }
  });

  it.each([
    ['https://service.example/prod//', 'https://service.example/prod'],
    ['https://a1b2.execute-api.eu-west-1.amazonaws.com/prod', undefined],
    ['http://localhost:4010/reports', undefined],
    ['http://127.0.0.1:4010/reports/', 'http://127.0.0.1:4010/reports'],
    ['http://[::1]:4010', undefined],
    ['http://gateway:4010', undefined],
    ['http://reports.internal', undefined],
    ['http://192.168.1.7', undefined],
  ])('of %s is taken as it is', async (baseUrl, base = baseUrl) => {
    const { reports, sent } = clientsFor([answer(200, {})], { baseUrl });
    await reports.readReadiness({ attemptId: 'a' });
    expect(sent[0]!.url).toBe(`${base}/v1/attempt-reports/a/readiness`);
  });

  it('of the root of a gateway is suspected where nothing is found, and no other', async () => {
    const messageAt = async (baseUrl: string) => {
      const { reports } = clientsFor([answer(404, problem(404, 'not-found', false))], { baseUrl });
      return (await failureOf(reports.readReadiness({ attemptId: 'a' }))) as Error;
    };
    expect(await messageAt('http://127.0.0.1:4010')).toMatchObject(message('add the service.s path'));
    expect((await messageAt('http://127.0.0.1:4010/reports')).message).not.toMatch('baseUrl');
    expect((await messageAt('https://service.example')).message).not.toMatch('baseUrl');
  });
});

describe('retries', () => {
  it('repeat the same bytes under the same key, no sooner than the service asks, with a token for each try [MA-219, MA-220]', async () => {
    let tokens = 0;
    const { mastery, sent, waits, retries } = clientsFor(
      [
        answer(424, problem(424, 'upstream-unavailable', true), { 'retry-after': '5' }),
        answer(424, problem(424, 'finalization-incomplete', true), { 'retry-after': '2' }),
        new TypeError('fetch failed'),
        answer(502, '<html>'),
        run(),
      ],
      { token: () => `jwt-${(tokens += 1)}` },
    );
    await mastery.advanceAdaptiveRun({ continuationToken: 't', ifMatch: '"1"' });
    const same = sent.map(
      ({ headers, body }) => `${headers.get('idempotency-key')} ${headers.get('if-match')} ${body}`,
    );
    expect(new Set(same).size).toBe(1);
    expect(waits).toEqual([5250, 2500, 1000, 2000]);
    expect(sent.map(({ headers }) => headers.get('authorization'))).toEqual(
      [1, 2, 3, 4, 5].map((number) => `Bearer jwt-${number}`),
    );
    expect(retries.map(({ operation, wait }) => [operation, wait])).toEqual(
      waits.map((wait) => ['advanceAdaptiveRun', wait]),
    );
  });

  it.each([
    ['a problem that is not retryable', 422, problem(422, 'calibration-invalid', false), {}],
    ['a stale tag', 412, problem(412, 'stream-conflict', true), { 'retry-after': '1' }],
    ['a finalization without Retry-After', 424, problem(424, 'finalization-incomplete', true), {}],
    ['a wait of over 70 s', 424, problem(424, 'upstream-unavailable', true), { 'retry-after': '70' }],
    [
      'a date far away',
      429,
      problem(429, 'rate-limited', true),
      { 'retry-after': '9 Nov 2999 00:00:00 GMT' },
    ],
    ['an answer that breaks the contract', 200, 'text', {}],
  ])('are not made after %s', async (_name, status, body, headers) => {
    const { mastery, sent } = clientsFor([answer(status, body, headers)]);
    expect(
      await failureOf(mastery.advanceAdaptiveRun({ continuationToken: 't', ifMatch: '"1"' })),
    ).toMatchObject({ status });
    expect(sent).toHaveLength(1);
  });

  it.each([
    ['of the service', problem(429, 'rate-limited', true)],
    ['of something in between', '<html>'],
  ])('wait at a rate limit %s as long as it asks, and not all for the same time', async (_whose, body) => {
    const limited = () => answer(429, body, { 'retry-after': '60' });
    const { mastery, sent, waits } = clientsFor([limited(), run()], { random: () => 0.9 });
    await mastery.inspectAdaptiveRun({ continuationToken: 't' });
    expect(waits).toEqual([60_450]);
    expect(sent).toHaveLength(2);
    const other = clientsFor([limited()], { maxWaiting: 3000 });
    expect(await failureOf(other.mastery.inspectAdaptiveRun({ continuationToken: 't' }))).toMatchObject({
      ...{ status: 429, retryAfter: 60 },
    });
    expect(other.waits).toEqual([]);
  });

  it('end with the last failure after four of them, or as many as the call allows', async () => {
    const failing = () => Array.from({ length: 6 }, () => answer(500, problem(500, 'internal-error', true)));
    const four = clientsFor(failing());
    expect(await failureOf(four.mastery.startAdaptiveRun(start))).toMatchObject({ status: 500 });
    expect(four.sent).toHaveLength(5);
    const none = clientsFor(failing());
    await failureOf(none.mastery.startAdaptiveRun(start, { maxRetries: 0 }));
    expect(none.sent).toHaveLength(1);
  });

  it('take a renewed token once after a 401, and give up with the same one', async () => {
    const refused = () => answer(401, problem(401, 'authentication-required', false));
    const tokens = ['old', 'new', 'newer'];
    const renewed = clientsFor([refused(), answer(200, {})], { token: () => tokens.shift()! });
    await renewed.reports.readReadiness({ attemptId: 'a' });
    expect(renewed.sent.map(({ headers }) => headers.get('authorization'))).toEqual([
      'Bearer old',
      'Bearer new',
    ]);
    const same = clientsFor([refused()]);
    expect(await failureOf(same.reports.readReadiness({ attemptId: 'a' }))).toMatchObject({ status: 401 });
  });
});

describe('a failure', () => {
  it('is the whole problem, typed, with what to do about it', async () => {
    const document = problem(400, 'invalid-request', false, {
      code: 'invalid-request',
      invalidParams: [{ name: '/body/testSpecId', reason: 'invalid', message: 'is missing' }],
      receiptId: 'receipt-1',
      later: 1,
    });
    const { mastery } = clientsFor([answer(400, document)]);
    const failure = await failureOf(mastery.startAdaptiveRun(start, { idempotencyKey: 'key-1' }));
    expect(failure).toBeInstanceOf(ProblemError);
    expect(failure).toMatchObject({
      ...{ operation: 'startAdaptiveRun', idempotencyKey: 'key-1', status: 400, code: 'invalid-request' },
      ...{ retryable: false, retryAfter: undefined, requestId: 'request-1', receiptId: 'receipt-1' },
      problem: document,
      ...message(
        /^startAdaptiveRun: 400 invalid-request: Why\. \(\/body\/testSpecId: is missing\) Correct .* \(request request-1\)$/,
      ),
    });
  });

  it('of the reports service has the code that ends its type, and names the owner', async () => {
    const more = { dependency: 'results', traceId: 'trace' };
    const { reports } = clientsFor([answer(503, problem(503, 'dependency-unavailable', true, more))]);
    expect(await failureOf(reports.readReadiness({ attemptId: 'a' }, { maxRetries: 0 }))).toMatchObject({
      ...{ code: 'dependency-unavailable', traceId: 'trace' },
      ...message('\\[results\\]'),
    });
  });

  it('keeps a type that is no URL', async () => {
    const odd = { ...problem(418, 'teapot', false), type: 'https://[/teapot?x#y' };
    const { reports } = clientsFor([answer(418, odd)]);
    expect(await failureOf(reports.readReadiness({ attemptId: 'a' }))).toMatchObject({ code: 'teapot' });
  });

  it('has a remedy even if it is of a later version', async () => {
    const { reports } = clientsFor([answer(418, problem(418, 'teapot', false))]);
    expect(await failureOf(reports.readReadiness({ attemptId: 'a' }))).toMatchObject({
      remedy: 'Read https://docs.example/problems/teapot and correct the request.',
    });
  });

  it.each([
    ['is a web page', answer(200, '\n<!doctype html>')],
    ['is not JSON', answer(200, 'ok')],
    ['is not a JSON object', answer(200, 'null')],
    ['is no problem document', answer(404, { message: 'x' })],
    ['has no ETag', answer(200, {})],
  ])('says that an answer %s', async (what, odd) => {
    const { mastery } = clientsFor([odd]);
    const failure = await failureOf(mastery.inspectAdaptiveRun({ continuationToken: 't' }));
    expect(failure).toBeInstanceOf(UnexpectedAnswerError);
    expect(failure).toMatchObject(message(what));
  });

  it('without an answer keeps the key, to repeat the write with', async () => {
    const { mastery } = clientsFor([new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') })]);
    const failure = await failureOf(mastery.startAdaptiveRun(start, { maxRetries: 0, idempotencyKey: 'k' }));
    expect(failure).toBeInstanceOf(ConnectionError);
    expect(failure).toMatchObject({ idempotencyKey: 'k', ...message('fetch failed: ECONNREFUSED') });
  });
});

describe('an aborted call', () => {
  const reason = new Error('the user left');
  /** A service that never answers. */
  const silent = (asked: () => void = () => undefined): Partial<ClientOptions> => ({
    fetch: (_url, { signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('aborted')));
        asked();
      }),
  });

  it('ends while it waits for an answer', async () => {
    const ending = new AbortController();
    const { reports } = clientsFor(
      [],
      silent(() => ending.abort(reason)),
    );
    const call = reports.readReadiness({ attemptId: 'a' }, { signal: ending.signal });
    expect(await failureOf(call)).toBe(reason);
  });

  it('ends while it waits for a retry, and before it has begun', async () => {
    const ending = new AbortController();
    const options = { onRetry: () => ending.abort(reason), sleep: undefined };
    const { reports, sent } = clientsFor([answer(500, problem(500, 'internal-error', true))], options);
    const call = () => reports.readReadiness({ attemptId: 'a' }, { signal: ending.signal });
    expect([await failureOf(call()), await failureOf(call())]).toEqual([reason, reason]);
    expect(sent).toHaveLength(1);
  });

  it('fails as one without an answer when a try takes too long', async () => {
    const call = clientsFor([], silent()).reports.readReadiness(
      { attemptId: 'a' },
      { timeout: 1, maxRetries: 0 },
    );
    expect(await failureOf(call)).toBeInstanceOf(ConnectionError);
  });
});

it('a page that has no next cursor, not even null, ends the iteration with an error', async () => {
  const { reports, sent } = clientsFor([answer(200, { data: [] }), answer(200, { data: [] })]);
  const reading = pages(reports.listRevisionOrders, { improvementRunId: 'r' });
  await reading.next();
  expect(await failureOf(reading.next())).toMatchObject(message('neither a next cursor nor null'));
  expect(sent).toHaveLength(1);
});

it('a list is iterated row after row or page after page, with the same filters', async () => {
  const page = (rows: number[], nextCursor: string | null) => answer(200, { data: rows, nextCursor });
  const rows = clientsFor([page([1, 2], 'next'), page([3], null)]);
  const read: unknown[] = [];
  for await (const row of rows.reports.iterateRevisionOrders({ improvementRunId: 'r', status: 'accepted' }))
    read.push(row);
  expect(read).toEqual([1, 2, 3]);
  expect(rows.sent.map(({ url }) => new URL(url).search)).toEqual([
    '?status=accepted',
    '?status=accepted&cursor=next',
  ]);
  const whole = clientsFor([page([1, 2], 'next'), page([3], null)]);
  const lengths: number[] = [];
  for await (const { data } of pages(whole.reports.listRevisionOrders, { improvementRunId: 'r' }))
    lengths.push(data.data.length);
  expect(lengths).toEqual([2, 1]);
});
