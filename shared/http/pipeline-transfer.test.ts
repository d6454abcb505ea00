import type { Context } from 'aws-lambda';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { Route } from '#shared/contract/route.ts';
import { ok } from '#shared/kernel/result.ts';
import { lambdaFunction } from '#shared/lambda/lambda-function.ts';
import type { BufferedFunction } from '#shared/lambda/lambda-function.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createReadLambda } from '#shared/lambda/read-lambda.ts';
import { awsLambda, isStreaming } from '#local/gateway/response-stream.ts';
import { createTestIssuer, proxyEvent, testLambda } from '#test/support/lambda.ts';
import type { TestAnswer, TestIssuer } from '#test/support/lambda.ts';
import { actOnProbe, readProbe, streamedProbe } from '#test/support/probe-routes.ts';
import { checkBody } from './checked-body.ts';
import type { CheckedBody } from './checked-body.ts';

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await createTestIssuer();
});

const MEGABYTE = 1024 * 1024;
type Probe = ReturnType<typeof readProbe>;

function checkedFor(row: Route, seen: Readonly<Record<string, unknown>>): CheckedBody {
  const checked = checkBody(row, { seen });
  if (!checked.ok) throw new Error(checked.error.join());
  return checked.value;
}

async function answer(
  row: Probe,
  body: Parameters<typeof checkBody>[1],
): Promise<TestAnswer & { readonly lines: string }> {
  const lambda = await testLambda(row, () => Promise.resolve(ok({ body: body as CheckedBody })), { issuer });
  const given = await lambda.invoke({ path: { probeId: 'p' } });
  return { ...given, lines: lambda.lines.join('') };
}

describe('a body that its operation has checked', () => {
  it.each([readProbe('reports'), streamedProbe()])('goes out as it is ($success.transfer)', async (row) => {
    const mark = 'mark-3c9a';
    const body = checkedFor(row, { at: mark }).template([mark]).fill(['now']);
    expect(await answer(row, body)).toMatchObject({ status: 200, text: '{"seen":{"at":"now"}}' });
  });

  it('for another route is a defect: 500 [RP-228]', async () => {
    // Its schema is of the same form, but another one.
    const { schema } = readProbe('reports').success;
    const other = {
      ...actOnProbe('reports'),
      success: { ...readProbe('reports').success, schema: schema.clone() },
    };
    const given = await answer(readProbe('reports'), checkedFor(other, {}));
    expect(given.status).toBe(500);
    expect(given.lines).toContain('ANSWER_REFUSED');
  });
});

describe('a buffered answer', () => {
  const row = readProbe('reports');

  /** The bytes that a function returns for a text of this length, as Lambda counts them. */
  async function returned(text: string): Promise<{ readonly status: number; readonly bytes: number }> {
    const { status, headers, text: body } = await answer(row, { seen: { text } });
    const whole = lambdaFunction(
      row,
      () =>
        Promise.resolve({
          statusCode: status,
          headers: { ...headers },
          body,
          gzip: false,
          log: () => undefined,
        }),
      processRuntime(),
    ) as BufferedFunction;
    const result = await whole(proxyEvent(row, {}), {} as Context);
    return { status, bytes: Buffer.byteLength(JSON.stringify(result)) };
  }

  it.each([
    ['plain', 'x'],
    ['escaped twice', '"'],
    ['of more bytes than characters', '語'],
  ])(
    'of text that is %s never outgrows the 6 MB of a function: it is a 500 instead [RP-228]',
    async (_, unit) => {
      const perUnit = Buffer.byteLength(JSON.stringify(JSON.stringify(unit))) - '"\\"\\""'.length;
      const fitting = Math.floor((6 * MEGABYTE - 32 * 1024) / perUnit);
      const fits = await returned(unit.repeat(fitting));
      expect(fits.status).toBe(200);
      expect(fits.bytes).toBeGreaterThan(5.9 * MEGABYTE);
      expect(fits.bytes).toBeLessThanOrEqual(6 * MEGABYTE);
      const over = Math.ceil((6 * MEGABYTE) / perUnit);
      expect((await returned(unit.repeat(over))).status).toBe(500);
    },
  );

  it('that is too large is told in the log', async () => {
    const { lines, body } = await answer(row, { seen: { text: 'canary'.repeat(MEGABYTE) } });
    expect(body['type']).toBe('https://docs.example/problems/internal-error');
    expect(lines).toContain('larger than 6 MB');
    expect(lines).not.toContain('canary');
  });

  it('may be of any size where the route streams it', async () => {
    const given = await answer(streamedProbe(), { seen: { text: 'x'.repeat(7 * MEGABYTE) } });
    expect(given.status).toBe(200);
    expect(given.headers['Vary']).toBe('Accept-Encoding');
  });

  it('does not vary with what its caller accepts', async () => {
    expect((await answer(row, { seen: {} })).headers).not.toHaveProperty('Vary');
  });
});

describe('the function of a route', () => {
  it('streams exactly where the row says so', () => {
    vi.stubGlobal('awslambda', awsLambda);
    const operation = () => () => Promise.resolve(ok({ body: { seen: {} } }));
    expect(isStreaming(createReadLambda(streamedProbe(), operation)(processRuntime()))).toBe(true);
    expect(isStreaming(createReadLambda(readProbe('reports'), operation)(processRuntime()))).toBe(false);
    vi.unstubAllGlobals();
  });
});
