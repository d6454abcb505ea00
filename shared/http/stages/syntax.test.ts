import { expect, it } from 'vitest';
import { testIssuer, type TestRequest } from '#test/support/lambda.ts';
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

const bodied = (body: object): TestRequest => ({ body: { attemptId: 'a', ...body } });
const raw = (members: string): TestRequest => ({ rawBody: `{"attemptId":"a",${members}}` });
it.each<[string, TestRequest, ...string[]]>([
  [
    'places inside lists',
    bodied({ counts: [{ n: 10, m: 1 }, {}, { n: 1.5 }] }),
    '/body/counts/0/n out-of-range',
    '/body/counts/0/m unknown-field',
    '/body/counts/1/n required',
    '/body/counts/2/n wrong-type',
  ],
  [
    'a list that is too long',
    bodied({ counts: [1, 2, 3, 4].map((n) => ({ n })) }),
    '/body/counts out-of-range',
  ],
  ['a repeated member', raw('"counts":[{"n":1,"\\u006e":2}]'), '/body/counts/0/n repeated-member'],
  ['a number too small for a double', raw('"weights":{"a/b~c":1e-400}'), '/body/weights/a~1b~0c not-i-json'],
  ['a number that is too large', raw('"counts":[{"n":1},{"n":1e400}]'), '/body/counts/1/n not-i-json'],
  ['half a character', raw('"weights":{"\\ud83d":1}'), '/body/weights/\ufffd not-i-json'],
  ['a byte order mark', { rawBody: '\ufeff{"attemptId":"a"}' }, '/body malformed-json'],
  [
    'members with any name',
    bodied({ größe: 1, 'a/b~c': 1, '': 1, counts: [{ n: 1, '$top[]': 1 }] }),
    ...['counts/0/$top[]', 'größe', 'a~1b~0c', ''].map((name) => `/body/${name} unknown-field`),
  ],
  [
    'the first hundred characters of a long name, and no half of one',
    bodied({ ['x'.repeat(100)]: 1, ['/'.repeat(101)]: 1, [`${'y'.repeat(99)}😀z`]: 1 }),
    ...['x'.repeat(100), `${'~1'.repeat(100)}…`, `${'y'.repeat(99)}…`].map(
      (name) => `/body/${name} unknown-field`,
    ),
  ],
])('names %s [MA-187, RP-329, RP-331]', async (_, request, ...places) => {
  expect(await findings(request)).toEqual([400, ...places]);
});

it('counts bytes and not characters [MA-187, RP-331]', async () => {
  expect(await findings({ rawBody: '{"attemptId":"é"}' })).toEqual([201]);
  for (const rawBody of [`{"attemptId":"${'é'.repeat(250)}"}`, ' '.repeat(513)])
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
