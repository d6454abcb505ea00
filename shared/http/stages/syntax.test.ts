import { beforeAll, describe, expect, it } from 'vitest';
import type { ServiceName } from '#shared/contract/route.ts';
import { ok } from '#shared/kernel/result.ts';
import { createTestIssuer, testLambda } from '#test/support/lambda.ts';
import type { TestAnswer, TestIssuer, TestLambda, TestRequest } from '#test/support/lambda.ts';
import { actOnProbe, analyzeProbe, readProbe } from '#test/support/probe-routes.ts';

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await createTestIssuer();
});

/** Type suffix and every place with its reason, whichever envelope carries them. */
function findings({ body }: TestAnswer): readonly string[] {
  const places = (body['invalidParams'] ?? body['fieldErrors'] ?? []) as readonly Record<string, string>[];
  return places.map(
    (place) => `${place['name'] ?? place['pointer'] ?? ''} ${place['reason'] ?? place['code'] ?? ''}`,
  );
}
const suffix = ({ body }: TestAnswer): string =>
  String(body['type']).replace('https://docs.example/problems/', '');

const services: readonly ServiceName[] = ['mastery', 'reports'];

describe.each(services)('the syntax of a request on %s', (service) => {
  const isMastery = service === 'mastery';
  const invalidRequest = isMastery ? 'invalid-request' : 'validation';
  const seen: unknown[] = [];

  const reading = (): Promise<TestLambda> =>
    testLambda(
      readProbe(service),
      ({ path, query }) => {
        seen.push({ path, query });
        return Promise.resolve(ok({ body: { seen: {} } }));
      },
      { issuer },
    );
  const acting = (): Promise<TestLambda> =>
    testLambda(
      actOnProbe(service),
      ({ path, body, ifMatch }) => {
        seen.push({ path, body, ifMatch });
        return Promise.resolve(ok({ body: { seen: {} } }));
      },
      { issuer },
    );
  const read = async (request: TestRequest): Promise<TestAnswer> =>
    (await reading()).invoke({ path: { probeId: 'p' }, ...request });
  const act = async (request: TestRequest): Promise<TestAnswer> =>
    (await acting()).invoke({ path: { probeId: 'p' }, body: { attemptId: 'a' }, ...request });
  const refused = async (answer: Promise<TestAnswer>): Promise<readonly string[]> => {
    const before = seen.length;
    const got = await answer;
    expect(got.status).toBe(400);
    expect(got.body['retryable']).toBe(false);
    expect(seen.length, 'the operation did not run').toBe(before);
    return [suffix(got), ...findings(got)];
  };

  it(`hands a path id over byte for byte, decoded exactly once ${isMastery ? '[MA-040]' : ''}`, async () => {
    for (const probeId of ['a/b', '..', '%2F', '100%', 'é', 'a+b', "'", 'ID', 'id', 'x'.repeat(255)]) {
      expect((await read({ path: { probeId } })).status).toBe(200);
      expect(seen.at(-1)).toEqual({ path: { probeId }, query: { view: 'summary' } });
    }
  });

  it(`refuses a malformed path id ${isMastery ? '[MA-187]' : '[RP-281]'}`, async () => {
    for (const probeId of ['%', '%2', '%zz', '%C3', '%ED%A0%80', '%ff'])
      expect(await refused(read({ path: {}, rawPath: { probeId } })), probeId).toEqual([
        invalidRequest,
        '/path/probeId malformed-encoding',
      ]);
    expect(await refused(read({ path: { probeId: '' } }))).toEqual([
      invalidRequest,
      '/path/probeId out-of-range',
    ]);
    expect(await refused(read({ path: {} }))).toEqual([invalidRequest, '/path/probeId required']);
  });

  if (!isMastery)
    it('refuses what is no Platform reference: over 255 bytes, white space, NUL [RP-281]', async () => {
      for (const probeId of ['x'.repeat(256), 'é'.repeat(128), 'a b', 'a\tb', 'a\0', '\u00a0'])
        expect(await refused(read({ path: { probeId } }))).toEqual([
          invalidRequest,
          '/path/probeId invalid-format',
        ]);
    });

  it('refuses a query value that is not exactly one of those allowed', async () => {
    for (const view of ['Summary', '', ' summary', 'summary,evidence'])
      expect(await refused(read({ query: { view } })), view).toEqual([
        invalidRequest,
        '/query/view not-allowed',
      ]);
    expect((await read({ query: { view: 'evidence' } })).status).toBe(200);
  });

  it('refuses a repeated query name, also when both values agree', async () => {
    for (const view of [
      ['summary', 'evidence'],
      ['summary', 'summary'],
      ['', ''],
    ])
      expect(await refused(read({ query: { view } }))).toEqual([invalidRequest, '/query/view repeated']);
  });

  it(`refuses every query name that the route does not know, and names it ${isMastery ? '[MA-187, MA-200]' : '[RP-307]'}`, async () => {
    const code = isMastery ? 'invalid-request' : 'unsupported-parameter';
    for (const name of ['testId', 'foo', 'tenantId', 'VIEW', 'view[]', '__proto__', 'toString']) {
      const [type, place] = await refused(read({ query: { [name]: '1' } }));
      expect(type).toBe(code);
      expect(place).toBe(
        name === 'view[]' ? '/query unsupported-parameter' : `/query/${name} unsupported-parameter`,
      );
    }
    expect(await refused(act({ query: { view: 'summary' } }))).toEqual([
      code,
      '/query/view unsupported-parameter',
    ]);
  });

  it('does not repeat a query name that may be data [MA-210]', async () => {
    const answer = await read({
      query: { 'eyJhbGciOiJkaXIifQ..48V1.5eym8TW.XFBo-and-so-on-and-on-and-on-and-on-and-on': '' },
    });
    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain('5eym8TW');
  });

  it(
    isMastery
      ? 'reports every finding of path, query, headers and body at once [MA-187, MA-210]'
      : 'says unsupported-parameter alone when invalid values stand beside it, and for a sort order [RP-307, RP-308]',
    async () => {
      if (isMastery) {
        const answer = await act({
          path: { probeId: '' },
          query: { foo: '1' },
          headers: { 'Idempotency-Key': 'a b' },
          body: { attemptId: 7, view: 'all', extra: 1, counts: [{ n: 10, m: 1 }, {}, { n: 1.5 }] },
        });
        expect(await refused(Promise.resolve(answer))).toEqual([
          'invalid-request',
          '/path/probeId out-of-range',
          '/query/foo unsupported-parameter',
          '/headers/idempotency-key invalid-format',
          '/body/attemptId wrong-type',
          '/body/view not-allowed',
          '/body/counts/0/n out-of-range',
          '/body/counts/0/m unknown-field',
          '/body/counts/1/n required',
          '/body/counts/2/n wrong-type',
          '/body/extra unknown-field',
        ]);
      } else {
        expect(await refused(read({ query: { foo: '1', view: 'Summary' } }))).toEqual([
          'unsupported-parameter',
          '/query/foo unsupported-parameter',
        ]);
        for (const sort of ['modifiedAt', '-createdAt', ''])
          expect(await refused(read({ query: { sort } }))).toEqual([
            'unsupported-parameter',
            '/query/sort unsupported-parameter',
          ]);
        expect(await refused(read({ query: { sort: ['-modifiedAt', '-modifiedAt'] } }))).toEqual([
          'validation',
          '/query/sort repeated',
        ]);
      }
    },
  );

  it(`names at most 100 findings ${isMastery ? '' : '[RP-329]'}`, async () => {
    const weights = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`k${n}`, '']));
    const row = { ...actOnProbe(service), request: { ...actOnProbe(service).request, maxBodyBytes: 10_000 } };
    const lambda = await testLambda(row, () => Promise.resolve(ok({ body: { seen: {} } })), { issuer });
    const answer = await lambda.invoke({ path: { probeId: 'p' }, body: { attemptId: 'a', weights } });
    expect(findings(answer)).toHaveLength(100);
  });

  it(`demands one Idempotency-Key of 1-255 visible ASCII characters ${isMastery ? '[MA-045]' : '[RP-291]'}`, async () => {
    const withKey = (key: string | readonly string[] | undefined): Promise<TestAnswer> =>
      act({ headers: { 'Idempotency-Key': key } });
    const reason = async (key: string | readonly string[] | undefined): Promise<readonly string[]> =>
      (await refused(withKey(key))).slice(1);
    expect(await reason(undefined)).toEqual(['/headers/idempotency-key required']);
    expect(await reason(['k', 'k'])).toEqual(['/headers/idempotency-key repeated']);
    for (const key of ['', 'x'.repeat(256), 'a b', 'a\tb', 'ключ', 'a\u007f', 'a\r\nX-Evil: 1'])
      expect(await reason(key), key).toEqual(['/headers/idempotency-key invalid-format']);
    for (const key of ['x', '"quoted"', 'x'.repeat(255), '!~'])
      expect((await withKey(key)).status, key).toBe(201);
  });

  it('refuses a body that is not said to be JSON in UTF-8, without parsing it', async () => {
    const withType = (type: string | readonly string[] | undefined): Promise<TestAnswer> =>
      act({ rawBody: 'not json', headers: { 'Content-Type': type } });
    for (const type of [
      'text/plain',
      'application/xml',
      'application/json; charset=utf-16',
      'application/json; charset=utf-8; charset=utf-16',
      'application/problem+json',
      'application/jsonx',
      'application/json, text/plain',
      '',
    ])
      expect(await refused(withType(type)), type).toEqual([
        invalidRequest,
        '/headers/content-type not-allowed',
      ]);
    expect(await refused(withType(undefined))).toEqual([invalidRequest, '/headers/content-type required']);
    expect(await refused(withType(['application/json', 'application/json']))).toEqual([
      invalidRequest,
      '/headers/content-type repeated',
    ]);
    for (const type of [
      'application/json',
      'Application/JSON;charset=UTF-8',
      'application/json; charset="utf-8"',
    ])
      expect((await act({ headers: { 'Content-Type': type, Accept: 'text/html' } })).status, type).toBe(201);
  });

  it(`refuses a body that is no strict JSON: repeated names, depth, encoding, nonsense ${isMastery ? '[MA-187]' : '[RP-331]'}`, async () => {
    const withBody = (rawBody: string | Uint8Array): Promise<readonly string[]> => refused(act({ rawBody }));
    const deep = `{"attemptId":${'['.repeat(70)}${']'.repeat(70)}}`;
    expect(await withBody('{"attemptId":"a","attemptId":"b"}')).toEqual([
      invalidRequest,
      '/body repeated-member',
    ]);
    expect(await withBody('{"attemptId":"a","counts":[{"n":1,"\\u006e":2}]}')).toEqual([
      invalidRequest,
      '/body/counts/0 repeated-member',
    ]);
    expect(await withBody(deep)).toEqual([invalidRequest, '/body too-deep']);
    expect(await withBody('{"attemptId":"\\ud800"}')).toEqual([invalidRequest, '/body not-i-json']);
    expect(await withBody('{"attemptId":"a","weights":{"a":1e999}}')).toEqual([
      invalidRequest,
      '/body not-i-json',
    ]);
    expect(await withBody(Buffer.from([0x22, 0xff, 0x22]))).toEqual([
      invalidRequest,
      '/body invalid-encoding',
    ]);
    for (const text of [
      '',
      ' ',
      '{',
      '{"attemptId":"a"}{',
      '\ufeff{"attemptId":"a"}',
      "{'attemptId':'a'}",
      '{"attemptId":NaN}',
    ])
      expect(await withBody(text), text).toEqual([invalidRequest, '/body malformed-json']);
    for (const text of ['null', '[]', '"x"', '7'])
      expect(await withBody(text)).toEqual([invalidRequest, '/body wrong-type']);
    expect((await act({ rawBody: Buffer.from('{"attemptId":"é"}') })).status).toBe(201);
  });

  it(`refuses unknown and learner fields without showing what they hold ${isMastery ? '[MA-187, MA-210]' : '[RP-331]'}`, async () => {
    const lambda = await acting();
    const answer = await lambda.invoke({
      path: { probeId: 'p' },
      body: {
        attemptId: 'canary-attempt',
        tenantId: 'canary-tenant',
        studentName: 'canary-name',
        responses: ['canary-response'],
        'canary/with a space': 1,
        view: 'canary-view',
        weights: { k: 'canary-weight' },
      },
      headers: { 'Idempotency-Key': 'canary key' },
    });
    expect(await refused(Promise.resolve(answer))).toEqual([
      invalidRequest,
      '/headers/idempotency-key invalid-format',
      '/body/view not-allowed',
      '/body/weights/k wrong-type',
      '/body/tenantId unknown-field',
      '/body/studentName unknown-field',
      '/body/responses unknown-field',
      '/body unknown-field',
    ]);
    expect(answer.text).not.toContain('canary');
    expect(lambda.lines.join('')).not.toContain('canary');
  });

  it('refuses a body over the limit before anything else of it is looked at: 413', async () => {
    const padding = (bytes: number): string => `{"attemptId":"${'x'.repeat(bytes - 16)}"}`;
    expect((await act({ rawBody: padding(512) })).status).toBe(201);
    for (const request of [
      { rawBody: padding(513) },
      { rawBody: Buffer.from(padding(513)) },
      { rawBody: `{"attemptId":"${'é'.repeat(250)}"}` },
      { rawBody: '['.repeat(600), headers: { 'Content-Type': 'text/plain' } },
    ]) {
      const answer = await act(request);
      expect(answer.status).toBe(413);
      expect(suffix(answer)).toBe('payload-too-large');
    }
  });

  it('refuses any body, even one space, on a route that takes none', async () => {
    const row = analyzeProbe(service);
    const lambda = await testLambda(row, () => Promise.resolve(ok({ body: { seen: {} } })), { issuer });
    const send = (request: TestRequest): Promise<TestAnswer> =>
      lambda.invoke({ path: { probeId: 'p' }, ...request });
    for (const rawBody of ['{}', ' ', 'x'.repeat(9000)])
      expect(await refused(send({ rawBody }))).toEqual([invalidRequest, '/body not-allowed']);
    expect((await send({})).status).toBe(201);
    expect((await send({ rawBody: '' })).status).toBe(201);
    expect(await refused(read({ rawBody: '{}' }))).toEqual([invalidRequest, '/body not-allowed']);
  });

  it('hands If-Match over as it was sent, a list as a list', async () => {
    const ifMatch = async (value: string | readonly string[] | undefined): Promise<unknown> => {
      expect(
        (await act({ headers: { 'If-Match': value, 'Idempotency-Key': crypto.randomUUID() } })).status,
      ).toBe(201);
      return (seen.at(-1) as { ifMatch: unknown }).ifMatch;
    };
    expect(await ifMatch(undefined)).toBeUndefined();
    expect(await ifMatch('W/"x"')).toBe('W/"x"');
    expect(await ifMatch('')).toBe('');
    expect(await ifMatch(['"a"', '"b"'])).toBe('"a", "b"');
  });
});
