import { expect, it } from 'vitest';
import { testIssuer } from '#test/support/lambda.ts';
import type { TestRequest } from '#test/support/lambda.ts';
import { actOnProbe, readProbe, seen, testProbe } from '#test/support/probe-routes.ts';

// What no gateway lets through, or no route has yet. Every route with every defect: test/lemmas/requests.contract.test.ts.

const taken: unknown[] = [];
const lambda = await testProbe(actOnProbe('mastery'), ({ ifMatch }) => {
  taken.push(ifMatch);
  return seen();
});

/** Status, and every place with its reason. */
async function findings(request: TestRequest): Promise<readonly unknown[]> {
  const headers = { 'Idempotency-Key': crypto.randomUUID(), ...request.headers };
  const { status, body } = await lambda.invoke({ ...request, headers });
  const places = (body['invalidParams'] ?? []) as readonly Record<string, string>[];
  return [status, ...places.map(({ name, reason }) => `${name ?? ''} ${reason ?? ''}`)];
}

it.each<[string, TestRequest, readonly string[]]>([
  [
    'places inside lists',
    { body: { attemptId: 'a', counts: [{ n: 10, m: 1 }, {}, { n: 1.5 }] } },
    [
      '/body/counts/0/n out-of-range',
      '/body/counts/0/m unknown-field',
      '/body/counts/1/n required',
      '/body/counts/2/n wrong-type',
    ],
  ],
  [
    'a list that is too long',
    { body: { attemptId: 'a', counts: [1, 2, 3, 4].map((n) => ({ n })) } },
    ['/body/counts out-of-range'],
  ],
  [
    'a repeated member',
    { rawBody: '{"attemptId":"a","counts":[{"n":1,"\\u006e":2}]}' },
    ['/body/counts/0 repeated-member'],
  ],
  ['bytes that are no UTF-8', { rawBody: Buffer.from([0x22, 0xff, 0x22]) }, ['/body invalid-encoding']],
  ['a byte order mark', { rawBody: Buffer.from('\ufeff{"attemptId":"a"}') }, ['/body malformed-json']],
])('names %s [MA-187, RP-329, RP-331]', async (_, request, places) => {
  expect(await findings(request)).toEqual([400, ...places]);
});

it('reads bytes as UTF-8, and counts them and not characters [MA-187, RP-331]', async () => {
  expect(await findings({ rawBody: Buffer.from('{"attemptId":"é"}') })).toEqual([201]);
  for (const rawBody of [`{"attemptId":"${'é'.repeat(250)}"}`, Buffer.alloc(513, ' ')])
    expect(await findings({ rawBody })).toEqual([413]);
});

it('hands If-Match over as it was sent, a list as a list', async () => {
  const sent = [undefined, 'W/"x"', '', ['"a"', '"b"']];
  taken.length = 0;
  for (const value of sent) await findings({ headers: { 'If-Match': value } });
  expect(taken).toEqual([undefined, 'W/"x"', '', '"a", "b"']);
});

it('finds a second Authorization header behind another spelling of its name [MA-044, RP-311]', async () => {
  const reading = await testProbe(readProbe('reports'), seen);
  const authorization = `Bearer ${await testIssuer.sign()}`;
  expect((await reading.invoke({ headers: { Authorization: authorization } })).status).toBe(200);
  expect((await reading.invoke({ headers: { authorization } })).status).toBe(401);
});
