import type { ServiceName } from '#shared/contract/route.ts';
import type { ReleaseKey } from '#shared/release/release-key.ts';

export type HttpsUrl = `https://${string}`;
export type RoleArn = `arn:${string}:iam::${number}:role/${string}`;
export type SignatureAlgorithm = 'RS256' | 'ES256' | 'EdDSA';

/** A place to fill in: no point of the curve, so that it trusts nobody. */
export const nobodysKey: ReleaseKey = { kty: 'EC', crv: 'P-256', x: 'fill-in', y: 'fill-in' };

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export const DEFAULT_KEY_ROTATION_DAYS = 30;

/** The APIs that there are: one per service, one that serves receipts to the holders of links, and the sandbox. */
export type ApiName = ServiceName | 'receipts' | 'sandbox';

/** A host name, with its certificate from AWS Certificate Manager in the stage's account. */
interface CustomDomain<Region extends string> {
  readonly domain: string;
  readonly certificateArn: `arn:${string}:acm:${Region}:${string}`;
}

/** The host name of an API, with a certificate of the stage's region. */
export interface ApiDomain extends CustomDomain<string> {
  /** The zone in Route 53 that gets the record of the name. Absent: you create it yourself. */
  readonly hostedZoneId?: string;
  /** Keeps the address that AWS made, too, while clients move. */
  readonly keepsFormerAddress?: true;
}

/**
 * Everything in which one deployment may differ from another. Each member is typed as narrowly as the thing that reads it, so that what
 * the services could not run with does not compile; `stages.ts` holds the values.
 */
export interface StageConfig {
  /** The account and region that the stage is bound to; `agnostic` follows the caller's credentials and their region. */
  readonly environment: { readonly account: `${number}`; readonly region: string } | 'agnostic';
  /**
   * Learners depend on this stage: every stack has termination protection, and alarms must reach someone (`alarmsEmail` or
   * `alarmsTopicArn`). Absent: false.
   */
  readonly production?: boolean;
  /** Termination protection of every stack. Absent: that of `production`. The stack of the stores always has it. */
  readonly terminationProtection?: boolean;
  /** Whose tokens the services accept. */
  readonly token: {
    /** Compared with `iss` character for character: a trailing slash counts. */
    readonly issuer: HttpsUrl;
    readonly audience: string;
    readonly jwksUrl: HttpsUrl;
    readonly algorithms: readonly [SignatureAlgorithm, ...SignatureAlgorithm[]];
  };
  /** Whose signature under a prerequisite manifest opens gates (docs/release.md); the private half is never here. */
  readonly releaseKey: ReleaseKey;
  /** Hosts at which service profiles may have the platform, lower case, with a port only if it is not https's own [MA-008]. */
  readonly approvedHosts: readonly [string, ...string[]];
  /** Base of every problem's `type`, without a trailing slash. */
  readonly problemsUrl: HttpsUrl;
  /** The documentation site's own host name, with its certificate, which CloudFront wants in us-east-1. Absent: a name of CloudFront's. */
  readonly documentation?: CustomDomain<'us-east-1'>;
  /** Own host names of the APIs and of the receipts, which then no longer have the ones that AWS makes. Absent: those of AWS. */
  readonly domains?: Readonly<Partial<Record<ApiName, ApiDomain>>>;
  /** The page whose anchors the alarms name: docs/runbook.md as your operators read it. */
  readonly runbookUrl: HttpsUrl;
  /** Requests per second over all callers, and how many may come at once. Beyond them: 429 `rate-limited`. */
  readonly throttle: { readonly ratePerSecond: number; readonly burst: number };
  /** Requests in five minutes from one address, from 10 on; a school behind one address needs a generous figure. */
  readonly requestsPerAddress: number;
  /**
   * For how many minutes a new version of the functions that learners wait for gets only 10 % of their calls, and goes back if it fails.
   * CodeDeploy has these steps. Absent: all calls move at once, after the check of the version.
   */
  readonly canaryMinutes?: 5 | 10 | 15 | 30;
  readonly logLevel: LogLevel;
  /** The periods that CloudWatch Logs knows from two weeks to two years. */
  readonly logRetentionDays: 14 | 30 | 60 | 90 | 120 | 150 | 180 | 365 | 400 | 545 | 731;
  /**
   * For how many years S3 Object Lock keeps each version of a receipt or a manifest. Your law decides the number. A change applies to what is
   * written from then on. GOVERNANCE (default): a person with `s3:BypassGovernanceRetention` can delete earlier. COMPLIANCE: nobody can, not
   * even the account's root user.
   */
  readonly receiptRetention: {
    readonly mode?: 'GOVERNANCE' | 'COMPLIANCE';
    readonly years: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 10 | 15 | 20 | 25 | 30;
  };
  /** A bucket with versions and Object Lock, in another region, that S3 copies every new receipt and manifest to. Absent: no copy. */
  readonly receiptReplica?: `arn:${string}:s3:::${string}`;
  /**
   * The KMS key of the stage. Absent: a key of this region. `multi-region`: one that KMS can replicate to other regions. An ARN: the replica of
   * such a key in this region, for a stage that takes over after the loss of another region. Fixed by the first deployment.
   */
  readonly key?: 'multi-region' | `arn:${string}:kms:${string}:key/mrk-${string}`;
  /** Where alarms are mailed; the address confirms its subscription once. Absent: no mail. */
  readonly alarmsEmail?: `${string}@${string}.${string}`;
  /** A topic of yours for the alarms, whose policy lets CloudWatch publish. Absent: the stage has a topic of its own. */
  readonly alarmsTopicArn?: `arn:${string}:sns:${string}`;
  /**
   * Origins of web pages that may call the services from a browser, at most 10, each as a browser sends it in `Origin`
   * (`https://app.school.org`). Absent: no response has a CORS header.
   */
  readonly allowedOrigins?: readonly HttpsUrl[];
  /** Tenants that may read system-owned policies and calibrations; absent: every tenant with a service profile [MA-105]. */
  readonly systemRecordTenants?: readonly [string, ...string[]];
  /**
   * How many improvement runs are worked on at once; each reads from Analytics and Blueprint and delivers to Bank and Blueprint, one call
   * after another. Lambda takes 2 to 1000. Absent: 2.
   */
  readonly runsAtOnce?: 2 | 3 | 4 | 5 | 10 | 20 | 50 | 100;
  /**
   * For how many days a key of continuations, cursors or receipt links seals before the schedule replaces it; what it sealed stays readable
   * until it has expired. Absent: `DEFAULT_KEY_ROTATION_DAYS`.
   */
  readonly keyRotationDays?: 1 | 7 | 14 | 30 | 60 | 90 | 180 | 365;
  /**
   * Caps of concurrency by operation id, where an upstream owner must be protected; `none`: the account's pool. Absent: the sandbox, which
   * anyone may call, has at most 10 executions at once, and every other function the account's pool.
   */
  readonly reservedConcurrency?: Readonly<Record<string, number | 'none'>>;
  /**
   * The roles under which operators run `npm run release` and `npm run restore`: the policy of the table `records` refuses the writes of
   * all others. Absent: any identity writes records whose own policies allow it.
   */
  readonly recordWriters?: { readonly release: RoleArn; readonly restore?: RoleArn };
}

/** Deployments by their names. None is called `local`: a rehearsal opens that one, and the commands look for it on this machine [RP-032]. */
export type StageConfigs = Readonly<Record<string, StageConfig>> & { readonly local?: never };
