import { createPublicKey } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { startAdaptiveRunRequest } from '#shared/contract/mastery/adaptive-run.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { ReleaseKey } from '#shared/release/release-key.ts';
import {
  nobodysKey,
  SANDBOX_PATH,
  SITE_REGION,
  WARM,
  type ApiDomain,
  type ApiName,
  type StageConfig,
  type StageConfigs,
} from './stage.ts';

/** The stages of this deployment. Addresses under `.example` (RFC 2606) and `nobodysKey` are placeholders, whose templates CloudFormation rejects. */
export const stages = {
  'sandbox-dev': {
    environment: 'agnostic',
    token: {
      issuer: 'https://identity.dev.example',
      audience: 'mastery-reports',
      jwksUrl: 'https://identity.dev.example/.well-known/jwks.json',
      algorithms: ['RS256', 'ES256', 'EdDSA'],
    },
    releaseKey: nobodysKey,
    approvedHosts: ['platform.dev.example'],
    problemsUrl: 'https://docs.mastery-reports.example/problems',
    runbookUrl: 'https://docs.mastery-reports.example/docs/runbook',
    throttle: { ratePerSecond: 20, burst: 40 },
    requestsPerAddress: 3000,
    requestsPerTenant: 1_000,
    logLevel: 'debug',
    logRetentionDays: 14,
    receiptRetention: { years: 1 },
  },
  staging: {
    environment: 'agnostic',
    token: {
      issuer: 'https://identity.staging.example',
      audience: 'mastery-reports',
      jwksUrl: 'https://identity.staging.example/.well-known/jwks.json',
      algorithms: ['RS256', 'ES256'],
    },
    releaseKey: nobodysKey,
    approvedHosts: ['platform.staging.example'],
    problemsUrl: 'https://docs.mastery-reports.example/problems',
    runbookUrl: 'https://docs.mastery-reports.example/docs/runbook',
    throttle: { ratePerSecond: 100, burst: 200 },
    requestsPerAddress: 10_000,
    requestsPerTenant: 5_000,
    logLevel: 'info',
    logRetentionDays: 30,
    receiptRetention: { years: 1 },
  },
  prod: {
    environment: 'agnostic',
    production: true,
    token: {
      issuer: 'https://identity.example',
      audience: 'mastery-reports',
      jwksUrl: 'https://identity.example/.well-known/jwks.json',
      algorithms: ['RS256', 'ES256'],
    },
    releaseKey: nobodysKey,
    approvedHosts: ['platform.example'],
    problemsUrl: 'https://docs.mastery-reports.example/problems',
    runbookUrl: 'https://docs.mastery-reports.example/docs/runbook',
    throttle: { ratePerSecond: 500, burst: 1000 },
    requestsPerAddress: 20_000,
    canaryMinutes: 5,
    logLevel: 'info',
    logRetentionDays: 365,
    receiptRetention: { years: 7 },
    alarmsEmail: { page: 'on-call@school.example', ticket: 'operators@school.example' },
  },
} as const satisfies StageConfigs;

export type StageName = keyof typeof stages;

/** A stage with its name, from which every stack is built. */
export interface Stage {
  readonly name: StageName;
  readonly config: StageConfig;
}

const stageNames = Object.keys(stages) as readonly StageName[];

/** Returns the stage of that name, or a sentence: the existing names, or the setting that is wrong. */
export function stageNamed(
  name: string,
  configs: Readonly<Record<StageName, StageConfig>> = stages,
): Result<Stage, string> {
  const known = stageNames.find((candidate) => candidate === name);
  if (known === undefined)
    return err(
      `unknown stage ${JSON.stringify(name)}: expected ${stageNames.join(', ')} (shared/stage/stages.ts)`,
    );
  const config = configs[known];
  const defect = settingsDefect(config);
  return defect === undefined ? ok({ name: known, config }) : err(`stage ${known}: ${defect}`);
}

/** Returns what types cannot check: a sentence about the first wrong setting. A stage without a place of its own has to be checked again in one. */
export function settingsDefect(config: StageConfig): string | undefined {
  return (
    originsDefect(config.allowedOrigins ?? []) ??
    rateDefect(config) ??
    addressesDefect(config.unlimitedAddresses ?? []) ??
    alarmsDefect(config) ??
    budgetDefect(config) ??
    writersDefect(config) ??
    domainsDefect(config) ??
    throughputDefect(config) ??
    expectedDefect(config) ??
    canaryDefect(config)
  );
}

/** The gateway compares each of them with every preflight request. */
const MAX_ORIGINS = 10;

/** Returns what is wrong with `allowedOrigins`, if anything: a browser sends exactly this form, and the gateway compares text. */
function originsDefect(origins: readonly string[]): string | undefined {
  const wrong = origins.find(
    (origin) => !/^https:\/\/[a-z0-9.:-]+$/.test(origin) || URL.parse(origin)?.origin !== origin,
  );
  if (wrong !== undefined)
    return `allowedOrigins contains ${JSON.stringify(wrong)}: expected an https origin such as "https://app.school.org", in lower case, without path, slash at the end, wildcard or port 443`;
  if (new Set(origins).size < origins.length) return 'allowedOrigins contains an origin twice: remove one';
  if (origins.length > MAX_ORIGINS)
    return `allowedOrigins contains ${origins.length} origins: expected at most ${MAX_ORIGINS}`;
  return undefined;
}

/** Returns what is wrong with `requestsPerTenant`, if anything. */
function rateDefect({ requestsPerTenant = 10 }: StageConfig): string | undefined {
  return Number.isInteger(requestsPerTenant) && requestsPerTenant >= 10 && requestsPerTenant <= 1_000_000
    ? undefined
    : `requestsPerTenant is ${requestsPerTenant}: expected a whole number of requests in ten seconds, from 10 to 1000000`;
}

const MAX_ADDRESS_RANGES = 100;

/** Returns what is wrong with `unlimitedAddresses`, if anything: AWS WAF takes a range by its first address only. */
function addressesDefect(ranges: readonly string[]): string | undefined {
  const wrong = ranges.find((range) => !isAddressRange(range));
  if (wrong !== undefined)
    return `unlimitedAddresses contains ${JSON.stringify(wrong)}: expected a range of IPv4 from /16 to /32 by its first address, such as "203.0.113.0/24"`;
  if (new Set(ranges).size < ranges.length) return 'unlimitedAddresses contains a range twice: remove one';
  if (ranges.length > MAX_ADDRESS_RANGES)
    return `unlimitedAddresses contains ${ranges.length} ranges: expected at most ${MAX_ADDRESS_RANGES}`;
  return undefined;
}

function isAddressRange(range: string): boolean {
  const [, address = '', length = ''] = /^(.*)\/(1[6-9]|2\d|3[0-2])$/.exec(range) ?? [];
  if (!isIPv4(address)) return false;
  const bits = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  return bits % 2 ** (32 - Number(length)) === 0;
}

/** Returns what is wrong with the alarms, if anything: alarms that only CloudWatch shows are seen too late if learners wait. */
function alarmsDefect({ production, alarmsEmail, alarmsTopicArn }: StageConfig): string | undefined {
  return production === true && alarmsEmail === undefined && alarmsTopicArn === undefined
    ? 'production needs alarmsEmail or alarmsTopicArn: otherwise alarms reach no operator'
    : undefined;
}

/** Returns what is wrong with `monthlyBudgetUsd`, if anything. */
function budgetDefect({ monthlyBudgetUsd, alarmsEmail, alarmsTopicArn }: StageConfig): string | undefined {
  if (monthlyBudgetUsd === undefined) return undefined;
  if (!(Number.isFinite(monthlyBudgetUsd) && monthlyBudgetUsd >= 1))
    return `monthlyBudgetUsd is ${monthlyBudgetUsd}: expected an amount from 1`;
  return alarmsEmail === undefined && alarmsTopicArn === undefined
    ? 'monthlyBudgetUsd needs alarmsEmail or alarmsTopicArn: otherwise AWS has no address to report to'
    : undefined;
}

/** Returns what is wrong with `recordWriters`, if anything: a policy compares a role's ARN as a whole, so a wildcard would name no role. */
function writersDefect({ environment, recordWriters }: StageConfig): string | undefined {
  const account = environment === 'agnostic' ? String.raw`\d{12}` : environment.account;
  const role = new RegExp(`^arn:aws[a-z-]*:iam::${account}:role/[\\w+=,.@/-]+$`);
  const wrong = Object.entries(recordWriters ?? {}).find(([, arn]) => !role.test(arn));
  return wrong === undefined
    ? undefined
    : `recordWriters.${wrong[0]} is ${JSON.stringify(wrong[1])}: expected the ARN of a role of ${environment === 'agnostic' ? 'the stage’s account' : `account ${account}`}, without a wildcard`;
}

/** Returns what is wrong with the host names, if anything: AWS accepts only a certificate of the account, and of one region. */
function domainsDefect({ environment, documentation, domains = {} }: StageConfig): string | undefined {
  const place =
    environment === 'agnostic' ? { account: String.raw`\d{12}`, region: '[a-z0-9-]+' } : environment;
  const named: readonly (readonly [string, ApiDomain, string])[] = [
    ...Object.entries(domains).map(([name, domain]) => [`domains.${name}`, domain, place.region] as const),
    ...(documentation ? [['documentation', documentation, SITE_REGION] as const] : []),
  ];
  for (const [setting, { domain, certificateArn, hostedZoneId = 'Z00000' }, region] of named) {
    if (!/^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]+$/.test(domain))
      return `${setting} has the domain ${JSON.stringify(domain)}: expected a host name in lower case, such as "reports.school.org"`;
    if (
      !new RegExp(`^arn:aws[a-z-]*:acm:${region}:${place.account}:certificate/[\\w-]+$`).test(certificateArn)
    )
      return `${setting} has the certificate ${JSON.stringify(certificateArn)}: expected the ARN of a certificate of ${environment === 'agnostic' ? 'the stage’s account' : `account ${place.account}`} in ${region === '[a-z0-9-]+' ? 'the stage’s region' : region}`;
    if (!/^Z[0-9A-Z]{5,31}$/.test(hostedZoneId))
      return `${setting} has the hosted zone ${JSON.stringify(hostedZoneId)}: expected an id such as "Z0123456789ABCDEFGHIJ"`;
  }
  const twice = named.find(
    ([, { domain }], at) => named.findIndex(([, other]) => other.domain === domain) < at,
  );
  return twice === undefined
    ? undefined
    : `${twice[0]} has the domain of another setting: each needs its own`;
}

/** Returns what is wrong with `expected`, if anything. */
function expectedDefect({
  expected = { runsPerMonth: 0, reportsPerMonth: 0 },
}: StageConfig): string | undefined {
  const wrong = Object.entries(expected).find(([, count]) => !(count >= 0 && Number.isFinite(count)));
  return wrong === undefined
    ? undefined
    : `expected.${wrong[0]} is ${wrong[1]}: expected a number of at least 0`;
}

/** Returns what is wrong with `canary`, if anything. */
function canaryDefect({ canary }: StageConfig): string | undefined {
  if (canary === undefined) return undefined;
  const { tenantId, run } = canary;
  if (tenantId === '') return 'canary.tenantId is empty: expected the id of a tenant without learners';
  if (run === undefined) return undefined;
  const wrong = startAdaptiveRunRequest.safeParse({ ...run, runMode: 'owner_conformance' }).error?.issues[0];
  return wrong && `canary.run.${wrong.path.join('.')} cannot be an id of a start: ${wrong.message}`;
}

/** Returns what is wrong with `warmThroughput`, if anything: DynamoDB takes no less than what a new table has. */
function throughputDefect({ warmThroughput = {} }: StageConfig): string | undefined {
  const wrong = Object.entries(warmThroughput).find(
    ([, { reads, writes }]) => !(reads >= WARM.reads && writes >= WARM.writes),
  );
  return wrong === undefined
    ? undefined
    : `warmThroughput.${wrong[0]} is ${JSON.stringify(wrong[1])}: expected at least ${WARM.reads} reads and ${WARM.writes} writes, which a new table takes anyway`;
}

/** Returns the addresses of a stage's APIs under names of its own, without a slash at their end. */
export function domainsOf({
  documentation,
  domains = {},
}: StageConfig): Readonly<Partial<Record<ApiName, string>>> {
  return {
    ...Object.fromEntries(Object.entries(domains).map(([name, { domain }]) => [name, `https://${domain}`])),
    ...(documentation && { sandbox: `https://${documentation.domain}${SANDBOX_PATH}` }),
  };
}

/** Returns what must be filled in before the stage can be deployed: the settings with a host below `.example`, and a key that is none. */
export function placeholders({ config }: Stage): readonly string[] {
  const unfilled = Object.entries({
    'token.issuer': config.token.issuer,
    'token.jwksUrl': config.token.jwksUrl,
    ...config,
    token: [],
    // Ids, not hosts.
    systemRecordTenants: [],
    canary: [],
  })
    .filter(([, value]) => /(?:"|@|\/\/)[^"/?#:]*\.example["/?#:]/i.test(JSON.stringify(value)))
    .map(([setting]) => setting);
  return isPoint(config.releaseKey) ? unfilled : [...unfilled, 'releaseKey'];
}

/** Returns whether a key exists: its coordinates are those of a point of the curve. */
function isPoint({ kty, crv, x, y }: ReleaseKey): boolean {
  try {
    createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' });
    return true;
  } catch {
    return false;
  }
}
