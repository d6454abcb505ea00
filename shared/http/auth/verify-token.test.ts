import { createHmac } from 'node:crypto';
import { createLocalJWKSet, exportSPKI, generateKeyPair, type JSONWebKeySet } from 'jose';
import { beforeEach, expect, it } from 'vitest';
import { createTestIssuer, testAudience, testIssuer, testIssuerUrl, testNow } from '#test/support/lambda.ts';
import type { Principal } from '../operation.ts';
import { verifyToken } from './verify-token.ts';

// Every route with callers that are not known: test/lemmas/principals.contract.test.ts.

type Members = Readonly<Record<string, unknown>>;

const now = testNow / 1000;
const stranger = await createTestIssuer();
const keyOf = createLocalJWKSet(testIssuer.jwks as JSONWebKeySet);
let keysAsked = 0;
beforeEach(() => {
  keysAsked = 0;
});

/** The verified claims; undefined for a caller that cannot be authenticated. */
async function verify(
  authorization: string | readonly string[],
  issuedAtRequired = false,
): Promise<Principal | undefined> {
  const rules = {
    issuer: testIssuerUrl,
    audience: testAudience.mastery,
    algorithms: ['ES256'],
    issuedAtRequired,
  };
  const result = await verifyToken([authorization].flat(), rules, {
    keySet: (header, token) => {
      keysAsked += 1;
      return keyOf(header, token);
    },
    now: () => testNow,
    log: () => undefined,
  });
  return result.ok ? result.value : undefined;
}
const isTaken = async (token: string): Promise<boolean> => (await verify(`Bearer ${token}`)) !== undefined;
const areTaken = async (claims: readonly Members[]): Promise<readonly Members[]> => {
  const taken = await Promise.all(claims.map(async (one) => isTaken(await testIssuer.sign(one))));
  return claims.filter((_, at) => taken[at]);
};
const base64url = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

const good = await testIssuer.sign();
const [header = '', payload = '', signature = ''] = good.split('.');

it('takes one bearer token in one header, its scheme in any case [MA-044, RP-311]', async () => {
  for (const one of [`Bearer ${good}`, `bearer ${good}`]) expect(await verify(one)).toBeDefined();
  const refused = ['', ' ', 'Bearer', 'Bearer ', `Bearer  ${good}`, `Bearer ${good} `, `Bearer ${good},x`];
  for (const one of [...refused, good, 'Basic YTpi', `Basic ${good}`])
    expect([one, await verify(one)]).toEqual([one, undefined]);
  for (const several of [[], [`Bearer ${good}`, `Bearer ${good}`], ['', `Bearer ${good}`]])
    expect(await verify(several)).toBeUndefined();
});

it('refuses no signature, and an algorithm that the configuration does not name [MA-148, RP-312]', async () => {
  const other = await generateKeyPair('RS256');
  const confused = `${base64url({ alg: 'HS256', kid: 'key-1' })}.${payload}`;
  const publicPem = await exportSPKI(testIssuer.publicKey);
  const forged = [
    ...['none', 'None', 'nOnE'].flatMap((alg) =>
      ['', signature].map((end) => `${base64url({ alg, typ: 'JWT' })}.${payload}.${end}`),
    ),
    `${header}.${payload}.`,
    `${confused}.${createHmac('sha256', publicPem).update(confused).digest('base64url')}`,
    await testIssuer.sign({}, { alg: 'RS256' }, other.privateKey),
    await stranger.sign(),
  ];
  for (const token of forged) expect([token, await isTaken(token)]).toEqual([token, false]);
});

it('refuses a token that brings or names its own key, and looks for no key of it [MA-148, RP-312]', async () => {
  const address = 'https://attacker.example/keys.json';
  for (const own of [
    { jku: address },
    { x5u: address },
    { jwk: stranger.jwks.keys[0] },
    { x5c: ['MIIB'] },
    { crit: ['exp'], exp: 1 },
    { b64: false },
  ])
    for (const by of [testIssuer, stranger]) {
      const [, claims = '', seal = ''] = (await by.sign()).split('.');
      const token = `${base64url({ alg: 'ES256', kid: 'key-1', ...own })}.${claims}.${seal}`;
      expect([own, await isTaken(token)]).toEqual([own, false]);
    }
  expect(keysAsked).toBe(0);
});

it('is refused out of its time, with at most 60 s of skew [MA-044, RP-312]', async () => {
  const inTime = [{ exp: now - 59 }, { nbf: now + 60 }, { iat: now + 60 }];
  const out = [{ exp: now - 61 }, { exp: now - 60 }, { nbf: now + 61 }, { iat: now + 61 }];
  const malformed = [{ exp: `${now + 60}` }, { exp: undefined }, { iat: 'soon' }];
  expect(await areTaken([...inTime, ...out, ...malformed])).toEqual(inTime);
});

it('is refused for another issuer or audience; one audience of several suffices [MA-044, RP-311]', async () => {
  const taken = [{ aud: ['https://other.example', testAudience.mastery] }, { aud: testAudience.mastery }];
  const wrong = 'https://other.example';
  const refused = [
    { iss: `${testIssuerUrl}/` },
    { iss: undefined },
    { aud: wrong },
    { aud: [wrong] },
    { aud: undefined },
  ];
  expect(await areTaken([...taken, ...refused])).toEqual(taken);
});

it('is refused without a claim that it needs, or with one of a wrong type [MA-148, RP-312]', async () => {
  const values = [undefined, '', null, 7, ['tenant-aurora']];
  const missing = ['sub', 'role', 'tenantId'].flatMap((name) => values.map((value) => ({ [name]: value })));
  expect(await areTaken([...missing, { scope: ['mastery:read'] }, { studentIds: 'student-1' }])).toEqual([]);
});

it('needs `iat` on the reports service alone [MA-044, RP-312]', async () => {
  const token = `Bearer ${await testIssuer.sign({ iat: undefined })}`;
  expect(await verify(token)).toBeDefined();
  expect(await verify(token, true)).toBeUndefined();
});

it('may repeat neither a claim nor a header member [MA-148, RP-312]', async () => {
  const claims = Buffer.from(payload, 'base64url').toString();
  const isTakenAs = async (text: string): Promise<boolean> => isTaken(await testIssuer.signText(text));
  expect(await isTakenAs(claims)).toBe(true);
  expect(await isTakenAs(`{"tenantId":"tenant-borealis",${claims.slice(1)}`)).toBe(false);
  expect(await isTakenAs(`${claims.slice(0, -1)},"a":{"b":1,"b":2}}`)).toBe(false);
  expect(await isTakenAs('[]')).toBe(false);
  const repeated = base64url('{"alg":"ES256","kid":"key-1","kid":"key-1"}');
  expect(await isTaken(`${repeated}.${payload}.${signature}`)).toBe(false);
});

it('has no type or that of an access token, as a media type in any case, with or without its prefix [MA-148, RP-312]', async () => {
  const names = ['JWT', 'jwt', 'at+jwt', 'AT+JWT'];
  const good = [
    undefined,
    ...['', 'application/', 'Application/'].flatMap((kind) => names.map((name) => kind + name)),
  ];
  const other = ['', 7, null, ['JWT'], 'jwt ', 'application/jwt\n'];
  const odd = ['logout+jwt', 'dpop+jwt', '+jwt', 'at+jwt;v=1', 'x/at+jwt', '/jwt', 'text/jwt'];
  odd.push(...['', 'application/jwt', 'secevent+jwt'].map((end) => `application/${end}`));
  const types = [...good, ...other, ...odd];
  const taken = await Promise.all(types.map(async (typ) => isTaken(await testIssuer.sign({}, { typ }))));
  expect(types.filter((_, at) => taken[at])).toEqual(good);
});

it('needs one visible character in `sub` and in `role` [MA-148, RP-312]', async () => {
  const blank = ' |\t\n|\0|\u007f|\u00a0|\u3000|\u2028|\ufeff|\u200b\u2060|\u00ad|\u3164|\u2800'.split('|');
  const visible = ['0', ' a ', 'é', '学', '😀', '-'];
  const claimed = (values: readonly string[]): readonly Members[] =>
    ['sub', 'role'].flatMap((name) => values.map((value) => ({ [name]: value })));
  expect(await areTaken([...claimed(blank), ...claimed(visible)])).toEqual(claimed(visible));
});

it('gives the verified claims, an absent resource claim as none [MA-200]', async () => {
  const claims = { studentIds: ['s-1', 's-2'], role: 'anything at all', scope: ' mastery:run  reports:read' };
  expect(await verify(`Bearer ${await testIssuer.sign(claims)}`)).toEqual({
    tenantId: 'tenant-aurora',
    sub: 'client-1',
    role: 'anything at all',
    scopes: ['mastery:run', 'reports:read'],
    studentIds: ['s-1', 's-2'],
    classSourcedIds: [],
    schoolSourcedIds: [],
    administrationIds: [],
  });
});
