import { describe, expect, it } from 'vitest';
import { EnvironmentError, readEnvironment } from './environment.ts';

/** A coordinate of a key. */
const X = 'x'.repeat(43);
const key = (members: string): string => `{"kty":"EC",${members}}`;

// Which variables a function has: test/infra/functions.test.ts.
describe('readEnvironment', () => {
  it('gives exactly the named variables, or names every one that is missing or malformed, and no value', () => {
    const source = {
      STAGE: 'prod',
      RECORDS_TABLE: 'records',
      OTHER: 'x',
      TOKEN_JWKS_URL: 'http://canary.example',
    };
    expect(readEnvironment(['STAGE', 'RECORDS_TABLE'], source)).toEqual({
      STAGE: 'prod',
      RECORDS_TABLE: 'records',
    });
    const attempt = (): unknown =>
      readEnvironment(['STAGE', 'CONTROL_TABLE', 'TOKEN_JWKS_URL', 'RECORDS_TABLE'], {
        ...source,
        STAGE: '',
      });
    expect(attempt).toThrow(new EnvironmentError(['STAGE', 'CONTROL_TABLE', 'TOKEN_JWKS_URL']));
    expect(attempt).not.toThrow(/canary/);
  });

  it.each([
    [
      'TOKEN_JWKS_URL',
      ['https://a.example/k', 'http://127.0.0.1:4010/k', 'http://localhost/k', 'http://[::1]:1/k'],
      ['http://a.example', 'http://127.0.0.1.a.example', 'keys', 'file:///k', ''],
    ],
    [
      'TOKEN_ALGORITHMS',
      ['ES256', 'RS256,EdDSA'],
      ['none', 'HS256', 'ES256,HS256', 'ES256, RS256', 'es256', ''],
    ],
    [
      'PROBLEMS_URL',
      ['https://a.example/p'],
      ['https://a.example/', 'http://a.example/p', 'https://a.example/p?x', 'https://'],
    ],
    ['REQUESTS_PER_TENANT', ['1', '2500'], ['0', '01', '-1', '1.5', '1e3', '']],
    [
      'RELEASE_KEY',
      [key(`"crv":"P-256","x":"${X}","y":"${X}"`)],
      [
        'key',
        key(`"crv":"P-384","x":"${X}","y":"${X}"`),
        key(`"crv":"P-256","x":"fill-in","y":"${X}"`),
        // A private key is in no environment.
        key(`"crv":"P-256","x":"${X}","y":"${X}","d":"${X}"`),
      ],
    ],
  ] as const)('takes %s in its form only', (name, good, bad) => {
    for (const value of good) expect(readEnvironment([name], { [name]: value })).toEqual({ [name]: value });
    for (const value of bad)
      expect(() => readEnvironment([name], { [name]: value }), value).toThrow(EnvironmentError);
  });
});
