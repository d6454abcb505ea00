import { beforeAll, describe, expect, it } from 'vitest';
import type { ServiceName } from '#shared/contract/route.ts';
import { ok } from '#shared/kernel/result.ts';
import { createTestIssuer, testLambda } from '#test/support/lambda.ts';
import type { TestAnswer, TestIssuer, TestRequest } from '#test/support/lambda.ts';
import { actOnProbe } from '#test/support/probe-routes.ts';

// What no gateway lets through, or no route has yet. Every route with every defect: test/lemmas/requests.contract.test.ts.

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await createTestIssuer();
});

describe.each<ServiceName>(['mastery', 'reports'])('the syntax of a request on %s', (service) => {
  const seen: unknown[] = [];
  async function act(request: TestRequest): Promise<TestAnswer> {
    const lambda = await testLambda(
      actOnProbe(service),
      ({ ifMatch }) => {
        seen.push(ifMatch);
        return Promise.resolve(ok({ body: { seen: {} } }));
      },
      { issuer },
    );
    return lambda.invoke({ path: { probeId: 'p' }, body: { attemptId: 'a' }, ...request });
  }
  /** Status, and every place with its reason, whichever envelope carries them. */
  function findings({ status, body }: TestAnswer): readonly unknown[] {
    const places = (body['invalidParams'] ?? body['fieldErrors'] ?? []) as readonly Record<string, string>[];
    return [
      status,
      ...places.map(({ name, pointer, reason, code }) => `${name ?? pointer ?? ''} ${reason ?? code ?? ''}`),
    ];
  }

  it('names places inside lists, and a list that is too long [MA-187, RP-329]', async () => {
    const counts = [{ n: 10, m: 1 }, {}, { n: 1.5 }];
    expect(findings(await act({ body: { attemptId: 'a', counts } }))).toEqual([
      400,
      '/body/counts/0/n out-of-range',
      '/body/counts/0/m unknown-field',
      '/body/counts/1/n required',
      '/body/counts/2/n wrong-type',
    ]);
    expect(
      findings(await act({ body: { attemptId: 'a', counts: [1, 2, 3, 4].map((n) => ({ n })) } })),
    ).toEqual([400, '/body/counts out-of-range']);
    expect(findings(await act({ rawBody: '{"attemptId":"a","counts":[{"n":1,"\\u006e":2}]}' }))).toEqual([
      400,
      '/body/counts/0 repeated-member',
    ]);
  });

  it('reads a body as UTF-8, and refuses bytes that are not [MA-187, RP-331]', async () => {
    expect(findings(await act({ rawBody: Buffer.from('{"attemptId":"é"}') }))).toEqual([201]);
    expect(findings(await act({ rawBody: Buffer.from([0x22, 0xff, 0x22]) }))).toEqual([
      400,
      '/body invalid-encoding',
    ]);
  });

  it('counts the bytes of a body, and not its characters: 413', async () => {
    for (const rawBody of [`{"attemptId":"${'é'.repeat(250)}"}`, Buffer.alloc(513, ' ')])
      expect(findings(await act({ rawBody }))).toEqual([413]);
  });

  it('hands If-Match over as it was sent, a list as a list', async () => {
    for (const [sent, taken] of [
      [undefined, undefined],
      ['W/"x"', 'W/"x"'],
      ['', ''],
      [['"a"', '"b"'], '"a", "b"'],
    ] as const) {
      await act({ headers: { 'If-Match': sent, 'Idempotency-Key': crypto.randomUUID() } });
      expect(seen.at(-1)).toBe(taken);
    }
  });
});
