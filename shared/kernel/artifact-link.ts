import { BlockList, isIP } from 'node:net';

/** Addresses that lead to no host, or to the reader’s own machine: loopback, link-local, private and unspecified ones. */
const unreachable = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  unreachable.addSubnet(network, prefix, 'ipv4');
unreachable.addAddress('::', 'ipv6');
unreachable.addAddress('::1', 'ipv6');
unreachable.addSubnet('fc00::', 7, 'ipv6');
unreachable.addSubnet('fe80::', 10, 'ipv6');

/** Query parameters that turn a URL into a credential, in lower case. */
const credentials: ReadonlySet<string> = new Set([
  'signature',
  'sig',
  'token',
  'access_token',
  'x-amz-signature',
  'x-amz-credential',
  'x-amz-security-token',
  'x-goog-signature',
  'awsaccesskeyid',
  'key-pair-id',
]);

/**
 * Returns whether an https URL may be shown as the place of an artifact: without user information, without a credential in its query, and not to an
 * address that is the reader’s own or leads to no host. It does not resolve names.
 */
export function isArtifactLink(text: string): boolean {
  const url = URL.parse(text);
  // URL parsing drops white space: the text would show one address and open another.
  if (/[\s\p{Cc}]/u.test(text)) return false;
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
  if ([...url.searchParams.keys()].some((name) => credentials.has(name.toLowerCase()))) return false;
  // A final dot names the root of DNS.
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (host === 'localhost' || host.endsWith('.localhost')) return false;
  const family = isIP(host);
  return family === 0 || !unreachable.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
