import type { ServiceName } from '#shared/contract/route.ts';
import type { Severity } from '#shared/observability/watches.ts';
import type { TableDefinition } from '#shared/stores/tables.ts';
import type { ReleaseKey } from '#shared/release/release-key.ts';

export type HttpsUrl = `https://${string}`;
export type RoleArn = `arn:${string}:iam::${number}:role/${string}`;
export type AddressRange = `${number}.${number}.${number}.${number}/${number}`;
export type SignatureAlgorithm = 'RS256' | 'ES256' | 'EdDSA';

/** A placeholder: no point of the curve, so that it trusts no signer. */
export const nobodysKey: ReleaseKey = { kty: 'EC', crv: 'P-256', x: 'fill-in', y: 'fill-in' };

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export const DEFAULT_KEY_ROTATION_DAYS = 30;

/** What a new table on demand takes at once, in units per second. */
export const WARM = { reads: 12_000, writes: 4_000 } as const;

/** The APIs: one per service, one that serves receipts to the holders of links, and the sandbox. */
export type ApiName = ServiceName | 'receipts' | 'sandbox';

/** The region of the stack with the site: CloudFront takes certificates and firewalls, and has its metrics, only there. */
export const SITE_REGION = 'us-east-1';

/** The path at which the site's origin forwards to the sandbox: the one way to the sandbox. */
export const SANDBOX_PATH = '/sandbox';

/** A host name, with its certificate from AWS Certificate Manager in the stage's account. */
interface CustomDomain<Region extends string> {
  readonly domain: string;
  readonly certificateArn: `arn:${string}:acm:${Region}:${string}`;
}

/** The host name of an API, with a certificate of the stage's region. */
export interface ApiDomain extends CustomDomain<string> {
  /** The zone in Route 53 that gets the record of the name. Absent: you create the record yourself. */
  readonly hostedZoneId?: string;
  /** Also keeps the address that AWS created, while clients migrate. */
  readonly keepsFormerAddress?: true;
}

/**
 * All settings in which deployments may differ. Each member's type is as narrow as the code that reads it, so that a value that the services cannot
 * run with does not compile; `stages.ts` contains the values.
 */
export interface StageConfig {
  /** The account and region that the stage is bound to; `agnostic` follows the caller's credentials and their region. */
  readonly environment: { readonly account: `${number}`; readonly region: string } | 'agnostic';
  /** Learners depend on this stage: stacks have termination protection, and alarms must have an `alarmsEmail` or `alarmsTopicArn`. Absent: false. */
  readonly production?: boolean;
  /** Termination protection of every stack. Absent: that of `production`. The stack of the stores always has it. */
  readonly terminationProtection?: boolean;
  /** The issuer whose tokens the services accept. */
  readonly token: {
    /** Compared with `iss` character by character: a trailing slash counts. */
    readonly issuer: HttpsUrl;
    readonly audience: string;
    readonly jwksUrl: HttpsUrl;
    readonly algorithms: readonly [SignatureAlgorithm, ...SignatureAlgorithm[]];
  };
  /** The key whose signature on a prerequisite manifest opens gates (docs/release.md); the private half is never here. */
  readonly releaseKey: ReleaseKey;
  /** Allowed hosts of the platform in service profiles, lower case, with a port only if it is not https's own [MA-008]. */
  readonly approvedHosts: readonly [string, ...string[]];
  /** Base of every problem's `type`, without a trailing slash. */
  readonly problemsUrl: HttpsUrl;
  /**
   * The own host name of the documentation site and, at `SANDBOX_PATH`, of the sandbox, with its certificate, which CloudFront requires in us-east-1.
   * Absent: a name of CloudFront's.
   */
  readonly documentation?: CustomDomain<typeof SITE_REGION>;
  /** Own host names of the APIs and of the receipts, which then replace those that AWS creates. Absent: those of AWS. The sandbox has none: its API serves no direct call. */
  readonly domains?: Readonly<Partial<Record<Exclude<ApiName, 'sandbox'>, ApiDomain>>>;
  /** The page whose anchors the alarms name: your operators' copy of docs/runbook.md. */
  readonly runbookUrl: HttpsUrl;
  /**
   * For each method of each API, over all its callers: requests per second, and how many may arrive at once. Beyond them: 429 `rate-limited`. An API
   * with ten methods can thus be sent ten times as many.
   */
  readonly throttle: { readonly ratePerSecond: number; readonly burst: number };
  /**
   * The most requests of one tenant in ten seconds, over all routes of both services; beyond them: 429 `rate-limited`. Absent: half of what `throttle`
   * lets pass on one route in that time.
   */
  readonly requestsPerTenant?: number;
  /** Requests in five minutes from one address, at least 10; a school behind one address needs a generous figure. */
  readonly requestsPerAddress: number;
  /**
   * Addresses that `requestsPerAddress` does not apply to: schools whose learners share one, as ranges of IPv4 from /16 to /32, at most 100. For
   * the APIs of the services, where `requestsPerTenant` binds their tenants. Absent: none.
   */
  readonly unlimitedAddresses?: readonly [AddressRange, ...AddressRange[]];
  /**
   * For how many minutes a new version of the functions that learners wait for gets only 10 % of their calls; it is rolled back if it fails.
   * CodeDeploy has these steps. Absent: all calls move at once, after the check of the version.
   */
  readonly canaryMinutes?: 5 | 10 | 15 | 30;
  /**
   * A tenant with only synthetic facts and without learners, for checks of the stage: the check of a new version opens its service profile before callers
   * reach the version. `run`: the test that the function `runCanary` starts and inspects every 15 minutes as `owner_conformance`, with the token in the
   * parameter `/<stage>/canary/token`. Absent: the check opens no profile, and the canary calls only the sandbox.
   */
  readonly canary?: {
    readonly tenantId: string;
    readonly run?: Readonly<
      Record<
        'selectionPolicyId' | 'scaleCalibrationId' | 'testSpecId' | 'testBankId' | 'bankOperationId',
        string
      >
    >;
  };
  readonly logLevel: LogLevel;
  /** The retention periods of CloudWatch Logs from two weeks to two years. */
  readonly logRetentionDays: 14 | 30 | 60 | 90 | 120 | 150 | 180 | 365 | 400 | 545 | 731;
  /**
   * For how many years S3 Object Lock keeps each version of a receipt or a manifest. Your law decides the number. A change applies to later writes.
   * GOVERNANCE (default): a person with `s3:BypassGovernanceRetention` can delete earlier. COMPLIANCE: no identity can, not even the root user.
   */
  readonly receiptRetention: {
    readonly mode?: 'GOVERNANCE' | 'COMPLIANCE';
    readonly years: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 10 | 15 | 20 | 25 | 30;
  };
  /** A bucket with versions and Object Lock, in another region, to which S3 copies every new receipt and manifest. Absent: no copy. */
  readonly receiptReplica?: `arn:${string}:s3:::${string}`;
  /**
   * The KMS key of the stage. Absent: a key of this region. `multi-region`: a key that KMS can replicate to other regions. An ARN: the replica of
   * such a key in this region, for a stage that takes over after the loss of another region. The first deployment fixes it.
   */
  readonly key?: 'multi-region' | `arn:${string}:kms:${string}:key/mrk-${string}`;
  /**
   * The mail addresses of alarms, which confirm their subscriptions once: `page` for those of the operator on call, `ticket` for those that
   * wait for a working day. Absent: no mail.
   */
  readonly alarmsEmail?: Readonly<Record<Severity, `${string}@${string}.${string}`>>;
  /** Your own topics for the alarms, whose policies let CloudWatch publish. Absent: the stage has topics of its own. */
  readonly alarmsTopicArn?: Readonly<Record<Severity, `arn:${string}:sns:${string}`>>;
  /**
   * Origins of web pages that may call the services from a browser, at most 10, each as a browser sends it in `Origin`
   * (`https://app.school.org`). Absent: no response has a CORS header.
   */
  readonly allowedOrigins?: readonly HttpsUrl[];
  /** Tenants that may read system-owned policies and calibrations; absent: every tenant with a service profile [MA-105]. */
  readonly systemRecordTenants?: readonly [string, ...string[]];
  /**
   * How many improvement runs are worked on at once; each reads from Analytics and Blueprint and delivers to Bank and Blueprint, one call after
   * another. Lambda accepts 2 to 1000. Absent: 2.
   */
  readonly runsAtOnce?: 2 | 3 | 4 | 5 | 10 | 20 | 50 | 100;
  /**
   * For how many days a key of continuations, cursors or receipt links seals before the schedule replaces it; what it sealed stays readable
   * until it has expired. Absent: `DEFAULT_KEY_ROTATION_DAYS`.
   */
  readonly keyRotationDays?: 1 | 7 | 14 | 30 | 60 | 90 | 180 | 365;
  /**
   * Limits of concurrency by operation id, to protect an upstream owner; `none`: the account's pool. Absent: the sandbox, which anyone may call, has
   * at most 10 executions at once, and every other function the account's pool.
   */
  readonly reservedConcurrency?: Readonly<Record<string, number | 'none'>>;
  /**
   * US dollars per month that the stage may cost, by the cost allocation tag `stage`. AWS reports a month that exceeds them, or will by its forecast, to
   * the address of tickets. Absent: no budget.
   */
  readonly monthlyBudgetUsd?: number;
  /** What the stage has to serve in a month; `npm run doctor` compares the account's quotas with it. Absent: it compares none. */
  readonly expected?: { readonly runsPerMonth: number; readonly reportsPerMonth: number };
  /**
   * Read and write units per second that a table takes at once, at least 12,000 and 4,000, which a new table takes anyway. DynamoDB never lowers them, and
   * bills each increase once. Absent: a table takes twice its former peak.
   */
  readonly warmThroughput?: Readonly<
    Partial<Record<TableDefinition['name'], { readonly reads: number; readonly writes: number }>>
  >;
  /**
   * The roles with which operators run `npm run release` and `npm run restore`: the policy of the table `records` rejects the writes of all others.
   * Absent: any identity whose own policies allow it can write records.
   */
  readonly recordWriters?: { readonly release: RoleArn; readonly restore?: RoleArn };
}

/** Deployments by name. None is called `local`: a rehearsal opens that one, and the commands look for it on this machine [RP-032]. */
export type StageConfigs = Readonly<Record<string, StageConfig>> & { readonly local?: never };
