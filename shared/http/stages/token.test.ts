import { createHmac } from 'node:crypto';
import { CompactSign, exportJWK, exportSPKI, generateKeyPair } from 'jose';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ok } from '#shared/kernel/result.ts';
import type { ServiceName } from '#shared/contract/route.ts';
import { createTestIssuer, testAudience, testLambda, testNow } from '#test/support/lambda.ts';
import type { TestAnswer, TestIssuer, TestLambda, TestLambdaOptions } from '#test/support/lambda.ts';
import { readProbe } from '#test/support/probe-routes.ts';
import type { Principal } from '../operation.ts';

type Members = Readonly<Record<string, unknown>>;

const now = testNow / 1000;
let issuer: TestIssuer;
let stranger: TestIssuer;
beforeAll(async () => {
  issuer = await createTestIssuer();
  stranger = await createTestIssuer();
});

const base64url = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

const services: readonly ServiceName[] = ['mastery', 'reports'];

describe.each(services)('a token on %s', (service) => {
  let seen: Principal[] = [];
  beforeEach(() => {
    seen = [];
  });
  const bind = (options: Partial<TestLambdaOptions> = {}): Promise<TestLambda> =>
    testLambda(
      readProbe(service),
      ({ principal }) => {
        seen.push(principal);
        return Promise.resolve(ok({ body: { seen: {} } }));
      },
      { issuer, ...options },
    );
  const send = async (
    authorization: string | readonly string[] | undefined,
    options: Partial<TestLambdaOptions> = {},
  ): Promise<TestAnswer> =>
    (await bind(options)).invoke({ path: { probeId: 'p' }, headers: { Authorization: authorization } });
  const sendToken = async (claims: Members, header: Members = {}): Promise<TestAnswer> =>
    send(`Bearer ${await issuer.sign(claims, header)}`);
  /** Everything but what must differ between two requests. */
  const comparable = ({ status, headers, body }: TestAnswer): unknown => ({
    status,
    headers: { ...headers, 'X-Request-Id': '' },
    body: { ...body, requestId: '', traceId: '', instance: '' },
  });

  const rule = service === 'mastery' ? '[MA-044, MA-148]' : '[RP-311, RP-312]';

  it(`is refused in one way when it is missing, empty, not Bearer, or sent twice ${rule}`, async () => {
    const token = await issuer.sign();
    const absent = await send(undefined);
    expect(absent).toMatchObject({
      status: 401,
      headers: { 'WWW-Authenticate': 'Bearer' },
      body: { retryable: false },
    });
    expect(absent.body['type']).toBe('https://docs.example/problems/authentication-required');
    expect(absent.headers).not.toHaveProperty('Retry-After');
    const hostile = [
      '',
      ' ',
      'Bearer',
      'Bearer ',
      `Bearer  ${token}`,
      `Bearer ${token} `,
      `Bearer ${token},x`,
      token,
      'Basic YTpi',
      `Basic ${token}`,
    ];
    for (const header of [...hostile, [`Bearer ${token}`, `Bearer ${token}`], ['', `Bearer ${token}`]])
      expect(comparable(await send(header)), String(header)).toEqual(comparable(absent));
    expect(seen).toHaveLength(0);
  });

  it(`is refused when a second one hides behind another spelling of the header ${rule}`, async () => {
    const token = `Bearer ${await issuer.sign()}`;
    const answer = await (await bind()).invoke({ path: { probeId: 'p' }, headers: { authorization: token } });
    expect(answer.status).toBe(401);
  });

  it(`is refused with no signature, or an algorithm that the configuration does not name ${rule}`, async () => {
    const [header = '', payload = '', signature = ''] = (await issuer.sign()).split('.');
    for (const alg of ['none', 'None', 'nOnE', 'NONE'])
      for (const end of ['', signature])
        expect((await send(`Bearer ${base64url({ alg, typ: 'JWT' })}.${payload}.${end}`)).status, alg).toBe(
          401,
        );
    expect((await send(`Bearer ${header}.${payload}.`)).status).toBe(401);

    const publicPem = await exportSPKI(issuer.publicKey);
    const confused = `${base64url({ alg: 'HS256', kid: 'key-1' })}.${payload}`;
    const mac = createHmac('sha256', publicPem).update(confused).digest('base64url');
    expect((await send(`Bearer ${confused}.${mac}`)).status).toBe(401);

    const other = await generateKeyPair('RS256');
    expect((await send(`Bearer ${await issuer.sign({}, { alg: 'RS256' }, other.privateKey)}`)).status).toBe(
      401,
    );
    expect((await send(`Bearer ${await stranger.sign()}`)).status).toBe(401);
  });

  it(`is refused when it brings or names its own key; nothing that it names is fetched ${rule}`, async () => {
    const attacker = 'https://attacker.example/keys.json';
    const own = stranger.jwks.keys[0] as object;
    for (const header of [
      { jku: attacker },
      { x5u: attacker },
      { jwk: own },
      { x5c: ['MIIB'] },
      { crit: ['exp'], exp: 1 },
    ]) {
      for (const by of [issuer, stranger]) {
        const lambda = await bind();
        const forged = base64url({ alg: 'ES256', kid: 'key-1', ...header });
        const [, payload = '', signature = ''] = (await by.sign()).split('.');
        const answer = await lambda.invoke({
          path: { probeId: 'p' },
          headers: { Authorization: `Bearer ${forged}.${payload}.${signature}` },
        });
        expect(answer.status, JSON.stringify(header)).toBe(401);
        expect(lambda.fetched).toEqual([]);
      }
    }
  });

  it(`is refused out of its time, with at most 60 s of skew ${rule}`, async () => {
    const statuses = async (list: readonly Members[]): Promise<readonly number[]> =>
      Promise.all(list.map(async (claims) => (await sendToken(claims)).status));
    expect(
      await statuses([
        { exp: now - 61 },
        { exp: now - 60 },
        { nbf: now + 61 },
        { iat: now + 61 },
        { exp: `${now + 60}` },
        { exp: undefined },
        { iat: 'soon' },
      ]),
    ).toEqual([401, 401, 401, 401, 401, 401, 401]);
    expect(await statuses([{ exp: now - 59 }, { nbf: now + 60 }, { iat: now + 60 }])).toEqual([
      200, 200, 200,
    ]);
  });

  it(`is refused for another issuer or audience; one audience of several suffices ${rule}`, async () => {
    for (const claims of [
      { iss: 'https://issuer.example/' },
      { iss: undefined },
      { aud: 'https://other.example' },
      { aud: ['https://other.example'] },
      { aud: undefined },
    ])
      expect((await sendToken(claims)).status, JSON.stringify(claims)).toBe(401);
    expect((await sendToken({ aud: ['https://other.example', testAudience[service]] })).status).toBe(200);
    expect((await sendToken({ aud: testAudience[service] })).status).toBe(200);
  });

  it(`is refused without a claim that it needs, or with one of a wrong type ${rule}`, async () => {
    for (const name of ['sub', 'role', 'tenantId'])
      for (const value of [undefined, '', null, 7, ['tenant-aurora']])
        expect((await sendToken({ [name]: value })).status, `${name} ${String(value)}`).toBe(401);
    expect((await sendToken({ scope: ['mastery:read'] })).status).toBe(401);
    expect((await sendToken({ studentIds: 'student-1' })).status).toBe(401);
  });

  it(service === 'reports' ? 'needs `iat` [RP-312]' : 'needs no `iat` [MA-044]', async () => {
    expect((await sendToken({ iat: undefined })).status).toBe(service === 'reports' ? 401 : 200);
  });

  it(`is refused when it repeats a claim or a header member ${rule}`, async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'key-1', alg: 'ES256' }] };
    const claims = JSON.stringify({
      iss: 'https://issuer.example',
      aud: testAudience[service],
      sub: 'c',
      role: 'r',
      scope: 'mastery:read reports:read',
      iat: now,
      exp: now + 60,
      tenantId: 'tenant-aurora',
    });
    const fetchKeys: typeof fetch = () => Promise.resolve(new Response(JSON.stringify(jwks)));
    const status = async (payload: string): Promise<number> => {
      const token = await new CompactSign(Buffer.from(payload))
        .setProtectedHeader({ alg: 'ES256', kid: 'key-1' })
        .sign(privateKey);
      return (await send(`Bearer ${token}`, { fetch: fetchKeys })).status;
    };
    expect(await status(claims)).toBe(200);
    expect(await status(`{"tenantId":"tenant-borealis",${claims.slice(1)}`)).toBe(401);
    expect(await status(`${claims.slice(0, -1)},"a":{"b":1,"b":2}}`)).toBe(401);
    expect(await status('[]')).toBe(401);
    const [, payload = '', signature = ''] = (await issuer.sign()).split('.');
    const repeated = base64url('{"alg":"ES256","kid":"key-1","kid":"key-1"}');
    expect((await send(`Bearer ${repeated}.${payload}.${signature}`)).status).toBe(401);
  });

  it(`may have no type or one of an access token, but not that of another thing ${rule}`, async () => {
    for (const typ of [undefined, 'JWT', 'jwt', 'at+jwt', 'AT+JWT'])
      expect((await sendToken({}, { typ })).status, String(typ)).toBe(200);
    for (const typ of ['logout+jwt', 'dpop+jwt', ''])
      expect((await sendToken({}, { typ })).status, typ).toBe(401);
  });

  it('gives its verified claims to the operation, an absent resource claim as none, and the tenant from nowhere else [MA-200]', async () => {
    const lambda = await bind();
    const token = await issuer.sign({ studentIds: ['s-1', 's-2'], role: 'anything at all' });
    const answer = await lambda.invoke({
      path: { probeId: 'p' },
      headers: {
        Authorization: `bearer ${token}`,
        'X-Tenant-Id': 'tenant-borealis',
        'X-Forwarded-Host': 'evil.example',
        'X-HTTP-Method-Override': 'DELETE',
      },
    });
    expect(answer.status).toBe(200);
    expect(seen.at(-1)).toEqual({
      tenantId: 'tenant-aurora',
      sub: 'client-1',
      role: 'anything at all',
      scopes: ['mastery:run', 'mastery:read', 'mastery:simulate', 'reports:read', 'reports:write'],
      studentIds: ['s-1', 's-2'],
      classSourcedIds: [],
      schoolSourcedIds: [],
      administrationIds: [],
    });
  });

  it('meets an outage as an outage, not as the caller’s fault, while no key is known', async () => {
    const answer = await send(`Bearer ${await issuer.sign()}`, {
      fetch: () => Promise.reject(new TypeError('down')),
    });
    expect(answer.headers['Retry-After']).toBe('5');
    expect(answer.body['retryable']).toBe(true);
    if (service === 'mastery')
      expect(answer).toMatchObject({
        status: 424,
        body: {
          code: 'upstream-unavailable',
          upstream: { service: 'platform_auth', operation: 'platform_auth.read_key_set' },
        },
      });
    else
      expect(answer).toMatchObject({
        status: 503,
        body: { type: 'https://docs.example/problems/dependency-unavailable', dependency: 'unknown' },
      });
  });
});
