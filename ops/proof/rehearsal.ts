import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { sandboxIds } from '#shared/contract/reports/sandbox-fixtures.ts';
import { localIssuer } from '#shared/stage/local-issuer.ts';
import type { Transcript } from './transcript.ts';
import type { Target } from './target.ts';
import type { Tenant } from './tenant-file.ts';

/** Returns whether a target is the synthetic sandbox, which returns a fixture without a token and cannot be tested. */
export async function isSandbox(target: Target): Promise<boolean> {
  const { status } = await target.get(`/v1/attempt-reports/${sandboxIds.masteryGateAttempt}`);
  return status === 200;
}

/**
 * Returns what makes a run a rehearsal: stubs, sandboxes and tokens that anyone can issue prove nothing [RP-032]. Each is a clause about the target;
 * empty for a deployment.
 */
export async function rehearsalMarks(
  url: string,
  tenants: readonly Tenant[],
  transcript: Pick<Transcript, 'reservedHosts'>,
  resolve = addressesOf,
): Promise<readonly string[]> {
  const { protocol, hostname } = new URL(url);
  const hosts = transcript.reservedHosts();
  return [
    ...(await loopbackMarks(hostname, resolve)),
    ...(protocol === 'https:' ? [] : ['it is not reached over TLS']),
    ...(tenants.some(({ issuer }) => issuer === localIssuer) ? ['its tokens are from the local issuer'] : []),
    ...(hosts.length === 0
      ? []
      : [`its responses link to ${hosts.join(' and ')}, reserved names that only an emulator uses`]),
  ];
}

/** Returns whether a name or an address is one of this machine; undefined if the name cannot be looked up. */
export async function isLoopback(
  hostname: string,
  resolve: typeof addressesOf = addressesOf,
): Promise<boolean | undefined> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) !== 0) return isLoopbackAddress(host);
  if (/(?:^|\.)localhost$/i.test(host)) return true;
  try {
    return (await resolve(host)).some(({ address }) => isLoopbackAddress(address));
  } catch {
    return undefined;
  }
}

const addressesOf = (host: string) => lookup(host, { all: true });

async function loopbackMarks(hostname: string, resolve: typeof addressesOf): Promise<readonly string[]> {
  const found = await isLoopback(hostname, resolve);
  // What cannot be looked up may be this machine: it is no proof of a deployment.
  if (found === undefined) return ['its name cannot be looked up'];
  return found ? ['it is on the loopback interface'] : [];
}

/** Addresses of this machine; an IPv4-mapped IPv6 address counts as its IPv4 address. */
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('0.0.0.0');
loopback.addAddress('::1', 'ipv6');
loopback.addAddress('::', 'ipv6');

function isLoopbackAddress(address: string): boolean {
  return loopback.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}
