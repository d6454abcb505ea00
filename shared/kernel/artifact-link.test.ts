import { expect, it } from 'vitest';
import { isArtifactLink } from './artifact-link.ts';

it.each([
  'https://analytics.example/studies/1?page=2&signed=no#results',
  'https://analytics.example:8443/a',
  'https://localhost.example/a',
  'https://203.0.113.7/a',
  'https://172.32.0.1/a',
  'https://[2001:db8::1]/a',
])('shows %s', (url) => {
  expect(isArtifactLink(url)).toBe(true);
});

it.each([
  'http://analytics.example/a',
  'https://',
  ' https://analytics.example/a',
  'https://analytics.example/a\tb',
  'https://user@analytics.example/a',
  'https://:pass@analytics.example/a',
  ...['signature', 'Sig', 'TOKEN', 'access_token', 'X-Amz-Signature', 'x-amz-credential'].map(
    (name) => `https://analytics.example/a?b=c&${name}=x`,
  ),
  ...['X-Amz-Security-Token', 'X-Goog-Signature', 'AWSAccessKeyId', 'Key-Pair-Id', '%73ig'].map(
    (name) => `https://analytics.example/a?${name}=`,
  ),
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    '127.0.0.1',
    '127.1',
    '0x7f000001',
    '2130706433',
  ],
  ...['0.0.0.0', '10.1.2.3', '169.254.169.254', '172.31.255.255', '192.168.0.1', '[::]', '[::1]'],
  ...['[fe80::1]', '[fd00::1]', '[::ffff:127.0.0.1]', '[::ffff:a00:1]'],
])('does not show %s [RP-126]', (url) => {
  expect(isArtifactLink(url.includes(':/') ? url : `https://${url}/a`)).toBe(false);
});
