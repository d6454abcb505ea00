import { expect, it } from 'vitest';
import { localIssuer } from '#shared/stage/local-issuer.ts';
import { openTranscript } from './transcript.ts';
import { rehearsalMarks } from './rehearsal.ts';
import type { Tenant } from './tenant-file.ts';

const tenant = (side: 'A' | 'B', issuer: string): Tenant => ({
  side,
  tenantId: side,
  full: `token-${side}`,
  withoutClaims: undefined,
  reports: undefined,
  mastery: undefined,
  issuer,
  claimed: new Set(),
  fixturesSha256: '',
});
const marksOf = (
  url: string,
  issuer = 'https://issuer.school.org',
  links: readonly string[] = [],
  resolve?: Parameters<typeof rehearsalMarks>[3],
) => {
  const tenants = [tenant('A', issuer), tenant('B', issuer)];
  const transcript = openTranscript(tenants);
  transcript.listen(
    { status: 200, headers: new Headers(), text: JSON.stringify({ links }) },
    { token: 'token-A' },
  );
  return rehearsalMarks(url, tenants, transcript, resolve);
};

// An address, so that no name has to be looked up.
const DEPLOYED = 'https://192.0.2.7';

it('takes a deployment for one [RP-032]', async () => {
  expect(await marksOf(DEPLOYED, undefined, ['https://docs.school.org/problems/not-found'])).toEqual([]);
});

it.each([
  'https://127.0.0.1/reports',
  'https://127.1.2.3',
  'https://[::1]:4010',
  'https://localhost',
  'https://api.localhost',
  'https://[::ffff:127.0.0.1]',
  'https://0.0.0.0',
])('knows the loopback interface: %s [RP-032]', async (url) => {
  expect(await marksOf(url)).toEqual(['it is on the loopback interface']);
});

it('takes a name for no deployment if it cannot be looked up, or is one of this machine [RP-032]', async () => {
  const marks = (resolve: () => Promise<{ address: string; family: number }[]>) =>
    marksOf('https://api.school.org', undefined, [], resolve);
  expect(await marks(() => Promise.reject(new Error('EAI_AGAIN')))).toEqual(['its name cannot be looked up']);
  expect(await marks(() => Promise.resolve([{ address: '127.0.0.1', family: 4 }]))).toEqual([
    'it is on the loopback interface',
  ]);
  expect(await marks(() => Promise.resolve([{ address: '192.0.2.7', family: 4 }]))).toEqual([]);
});

it('knows what else no deployment has [RP-032]', async () => {
  expect(await marksOf('http://192.0.2.7')).toEqual(['it is not reached over TLS']);
  expect(await marksOf(DEPLOYED, localIssuer)).toEqual(['its tokens are from the local issuer']);
  expect(
    await marksOf(DEPLOYED, undefined, ['https://analytics.platform.example/a', 'https://x.test']),
  ).toEqual([
    expect.stringMatching(
      /^its responses link to analytics\.platform\.example and x\.test, reserved names that only an emulator uses/,
    ),
  ]);
});
