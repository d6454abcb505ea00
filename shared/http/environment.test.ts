import { describe, expect, it } from 'vitest';
import { analyzeRun, readReceipt } from '#shared/contract/background.ts';
import { routes } from '#shared/contract/routes.ts';
import { EnvironmentError, readEnvironment, variablesOf, variablesOfBackground } from './environment.ts';

/** A coordinate of a key. */
const X = 'x'.repeat(43);
const key = (members: string): string => `{"kty":"EC",${members}}`;

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
    ['PROFILES_PATH', ['/a', '/a/b-c'], ['a', '/', '/a/']],
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

describe('variablesOf', () => {
  it('names the variables of the pipeline and of the grants of a route, and no others', () => {
    const own = new Map(
      routes.map((route) => [route.operationId, variablesOf(route).filter((name) => /TABLE/.test(name))]),
    );
    expect(own.get('startAdaptiveRun')).toEqual(['RECORDS_TABLE', 'CONTROL_TABLE', 'SETTINGS_TABLE']);
    expect(own.get('readSelectionPolicy')).toEqual(['RECORDS_TABLE']);
    expect(own.get('readAttemptReport')).toEqual(['SETTINGS_TABLE']);
  });

  it('names the key of the release for routes that wait for gates, and for no other', () => {
    for (const route of routes)
      expect(variablesOf(route).includes('RELEASE_KEY'), route.operationId).toBe(route.gates.length > 0);
  });
});

describe('variablesOfBackground', () => {
  it('names those of the grants and, of the pipeline, what a background function needs', () => {
    expect(variablesOfBackground(analyzeRun)).toEqual([
      'STAGE',
      'IMPROVEMENT_TABLE',
      'IMPROVEMENT_QUEUE_URL',
      'RECEIPTS_BUCKET',
      'RECORDS_TABLE',
      'SETTINGS_TABLE',
      'RELEASE_KEY',
    ]);
    expect(variablesOfBackground(readReceipt)).toEqual([
      'STAGE',
      'PROBLEMS_URL',
      'RECEIPTS_BUCKET',
      'SETTINGS_TABLE',
      'RELEASE_KEY',
    ]);
  });
});
