import { describe, expect, it } from 'vitest';
import { createRunClient, describeFailure } from './run-client.ts';
import type { Retry, RunClient } from './run-client.ts';

const run = {
  continuationToken: 'a..b.c.d',
  status: 'in_progress',
  selectionPolicyId: 'policy-1',
  scaleCalibrationId: 'calibration-1',
  offeredItem: { deliverySessionId: 's1', artifactVersionId: 'v1', sequence: 1 },
  kcClassifications: [],
  scaleReportability: 'pending',
  scale: null,
  stopReason: null,
  remainingUncertainty: 1,
  receiptId: 'r',
};

function answer(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers });
}

function problem(status: number, code: string, retryable: boolean): object {
  return {
    type: 'https://x/y',
    title: 't',
    status,
    detail: 'd',
    instance: 'i',
    code,
    requestId: 'q',
    retryable,
  };
}

interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

function clientFor(answers: (Response | Error)[]): {
  client: RunClient;
  sent: Sent[];
  waits: number[];
  retries: Retry[];
} {
  const sent: Sent[] = [];
  const waits: number[] = [];
  const retries: Retry[] = [];
  let keys = 0;
  const client = createRunClient({
    masteryUrl: 'http://mastery',
    token: () => Promise.resolve('jwt'),
    fetch: async (input, init) => {
      const request = new Request(input, init);
      sent.push({ url: request.url, headers: request.headers, body: await request.text() });
      const next = answers.shift();
      if (next === undefined) throw new Error('one call too many');
      if (next instanceof Error) throw next;
      return next;
    },
    newKey: () => `key-${(keys += 1)}`,
    sleep: (milliseconds) => {
      waits.push(milliseconds);
      return Promise.resolve();
    },
    random: () => 0.5,
    onRetry: (retry) => retries.push(retry),
  });
  return { client, sent, waits, retries };
}

describe('createRunClient', () => {
  it('sends what each call needs and reads the run with its tag', async () => {
    const { client, sent } = clientFor([
      answer(201, run, { etag: '"1"' }),
      answer(200, run, { etag: '"2"' }),
      answer(200, run, { etag: '"3"' }),
    ]);
    expect(await client.start({ a: 1 })).toMatchObject({ ok: true, value: { etag: '"1"', run } });
    expect(await client.inspect('t')).toMatchObject({ ok: true, value: { etag: '"2"' } });
    expect(await client.advance('t', '"2"')).toMatchObject({ ok: true, value: { etag: '"3"' } });
    expect(sent.map(({ url, body }) => [url, body])).toStrictEqual([
      ['http://mastery/v1/adaptive-runs', '{"a":1}'],
      ['http://mastery/v1/adaptive-runs:inspect', '{"continuationToken":"t"}'],
      ['http://mastery/v1/adaptive-runs:advance', '{"continuationToken":"t"}'],
    ]);
    expect(sent.map(({ headers }) => headers.get('idempotency-key'))).toStrictEqual([
      'key-1',
      'key-2',
      'key-3',
    ]);
    expect(sent.map(({ headers }) => headers.get('if-match'))).toStrictEqual([null, null, '"2"']);
    expect(sent.map(({ headers }) => headers.get('authorization'))).toStrictEqual(
      Array(3).fill('Bearer jwt') as string[],
    );
  });

  it('tolerates members and enumeration values that it does not know [MA-020]', async () => {
    const { client } = clientFor([answer(200, { ...run, status: 'paused', news: 1 }, { etag: '"1"' })]);
    expect(await client.inspect('t')).toMatchObject({ ok: true, value: { run: { status: 'paused' } } });
  });

  it('repeats a retryable failure with the same key and body, no sooner than it was told [MA-219, MA-220]', async () => {
    const { client, sent, waits, retries } = clientFor([
      answer(424, problem(424, 'upstream-unavailable', true), { 'retry-after': '5' }),
      new TypeError('fetch failed'),
      answer(500, problem(500, 'internal-error', true)),
      answer(200, run, { etag: '"2"' }),
    ]);
    expect(await client.advance('t', '"1"')).toMatchObject({ ok: true });
    expect(
      new Set(sent.map(({ headers, body }) => `${headers.get('idempotency-key') ?? ''} ${body}`)).size,
    ).toBe(1);
    expect(waits).toStrictEqual([5000, 500, 1000]);
    expect(retries.map(({ call, why }) => [call, why.kind])).toStrictEqual([
      ['advance', 'problem'],
      ['advance', 'unreachable'],
      ['advance', 'problem'],
    ]);
  });

  it('gives up after five tries', async () => {
    const { client, sent } = clientFor(
      Array.from({ length: 6 }, () => answer(500, problem(500, 'internal-error', true))),
    );
    expect(await client.start({})).toMatchObject({ ok: false, error: { problem: { status: 500 } } });
    expect(sent).toHaveLength(5);
  });

  it.each([
    ['a final problem', answer(422, problem(422, 'calibration-invalid', false))],
    ['a stale tag', answer(412, { ...problem(412, 'stream-conflict', true), currentEtag: '"2"' })],
  ])('does not repeat after %s', async (_name, refused) => {
    const { client, sent } = clientFor([refused]);
    expect(await client.advance('t', '"1"')).toMatchObject({ ok: false, error: { kind: 'problem' } });
    expect(sent).toHaveLength(1);
  });

  it.each([
    ['no JSON', answer(502, '<html>')],
    ['no problem document', answer(502, { message: 'x' })],
    ['no run', answer(200, {}, { etag: '"1"' })],
    ['no ETag', answer(200, run)],
  ])('says so when the answer is %s', async (_name, odd) => {
    expect(await clientFor([odd]).client.inspect('t')).toMatchObject({
      ok: false,
      error: { kind: 'unexpected' },
    });
  });
});

describe('describeFailure', () => {
  it('names problem, owner and request', () => {
    expect(
      describeFailure({
        kind: 'problem',
        problem: {
          code: 'upstream-unavailable',
          status: 424,
          detail: 'A required owner gave no usable answer.',
          requestId: 'q',
          retryable: true,
          upstream: { service: 'bank', operation: 'bank.read' },
        },
      }),
    ).toBe('424 upstream-unavailable: A required owner gave no usable answer. [bank: bank.read] (request q)');
  });
});
