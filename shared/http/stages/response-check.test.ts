import type { Context } from 'aws-lambda';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ServiceName } from '#shared/contract/route.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { problem } from '#shared/problems/registry.ts';
import { lambdaFunction } from '#shared/lambda/lambda-function.ts';
import type { BufferedFunction } from '#shared/lambda/lambda-function.ts';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { createTestIssuer, proxyEvent, testLambda } from '#test/support/lambda.ts';
import type { TestAnswer, TestIssuer, TestLambdaOptions, TestRequest } from '#test/support/lambda.ts';
import { readProbe, streamedProbe } from '#test/support/probe-routes.ts';
import type { Operation, OperationAnswer } from '../operation.ts';

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await createTestIssuer();
});

const MEGABYTE = 1024 * 1024;
type Probe = ReturnType<typeof readProbe>;
const services: readonly ServiceName[] = ['mastery', 'reports'];

async function answer(
  row: Probe,
  body: OperationAnswer<Probe>['body'],
): Promise<TestAnswer & { readonly lines: string }> {
  const lambda = await testLambda(row, () => Promise.resolve(ok({ body })), { issuer });
  const given = await lambda.invoke({ path: { probeId: 'p' } });
  return { ...given, lines: lambda.lines.join('') };
}

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

describe.each(services)('an answer of %s', (service) => {
  const isMastery = service === 'mastery';
  const row = readProbe(service);
  const bind = (operation: Operation<Probe>, options: Partial<TestLambdaOptions> = {}) =>
    testLambda(row, operation, { issuer, ...options });
  const answering = async (answer: unknown, request: TestRequest = {}): Promise<TestAnswer> =>
    (await bind(() => Promise.resolve(ok(answer as OperationAnswer<Probe>)))).invoke({
      path: { probeId: 'p' },
      ...request,
    });
  const suffix = ({ body }: TestAnswer): string =>
    String(body['type']).replace('https://docs.example/problems/', '');

  it(`is never one with an undeclared, missing or malformed part: 500 instead ${isMastery ? '[MA-224]' : ''}`, async () => {
    const hostile: readonly unknown[] = [
      { body: { seen: {}, canary: 'canary' } },
      { body: {} },
      { body: { seen: 'canary' } },
      { body: null },
      { body: { seen: {} }, headers: { 'X-Canary': 'canary' } },
      { body: { seen: {} }, headers: { ETag: 'W/"canary"' } },
      { body: { seen: {} }, headers: { Link: 'canary\r\nSet-Cookie: canary' } },
    ];
    for (const answer of hostile) {
      const lambda = await bind(() => Promise.resolve(ok(answer as OperationAnswer<Probe>)));
      const got = await lambda.invoke({ path: { probeId: 'p' } });
      expect(got.status, JSON.stringify(answer)).toBe(500);
      expect(suffix(got)).toBe('internal-error');
      expect(got.text + JSON.stringify(got.headers)).not.toContain('canary');
      expect(lambda.lines.join('')).toContain('ANSWER_REFUSED');
      expect(lambda.lines.join('')).not.toContain('canary');
    }
  });

  it('keeps the deprecation headers of its resource, a problem too [MA-049, MA-050]', async () => {
    const headers = { Deprecation: '@1767225600', Sunset: 'Fri, 01 Jan 2027 00:00:00 GMT' };
    expect((await answering({ body: { seen: {} }, headers })).headers).toMatchObject(headers);
    const failure = isMastery
      ? problem('mastery', 'calibration-invalid', 422, { headers })
      : problem('reports', 'dependency-incomplete', 503, { dependency: 'content', headers });
    const lambda = await bind(() => Promise.resolve(err(failure)));
    expect((await lambda.invoke({ path: { probeId: 'p' } })).headers).toMatchObject(headers);
  });
});
