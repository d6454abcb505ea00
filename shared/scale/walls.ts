import { REFRESH_MS as RING_MS } from '#shared/keys/key-states.ts';
import { FRESH_MS as PROFILE_MS } from '#shared/platform/service-profiles.ts';
import { FRESH_MS as RELEASE_MS } from '#shared/release/watch-release.ts';
import { LIFECYCLE_MS } from '#shared/records/find-record.ts';
import { WARM, type StageConfig } from '#shared/stage/stage.ts';
import { callOf, type RecordedCalls } from './recorded.ts';
import { sharesOf, sumOf, type Traffic } from './traffic.ts';

/** A limit that a stage meets when its traffic grows. */
export interface Wall {
  readonly name: string;
  /** What the traffic uses of it in its busiest second, and how much there is by default. */
  readonly used: number;
  readonly limit: number;
  readonly unit: string;
  /** What moves it. */
  readonly movedBy: string;
}

/** AWS's default quotas of an account and region, and DynamoDB's fixed limits (AWS's pages on the quotas of each service). */
const quotas = {
  /** Adjustable. A new account may have 10. */
  concurrentExecutions: 1_000,
  /** Adjustable; all REST APIs of the account and region together. Some newer regions have 2,500. */
  apiRequestsPerSecond: 10_000,
  /** What a table on demand takes at once when it is new; later twice its former peak. `warmThroughput` raises it. */
  newTableReads: WARM.reads,
  newTableWrites: WARM.writes,
  /** Fixed: one partition key's items can be in one partition. */
  partitionReads: 3_000,
  /** Adjustable; the lowest of all regions. */
  kmsPerSecond: 10_000,
} as const;

/** The quotas that `npm run doctor` reads. */
export type AccountQuotas = Readonly<Record<'concurrentExecutions' | 'apiRequestsPerSecond', number>>;

/** Keys and a profile that a cold container has KMS unwrap. */
const KMS_PER_START = 4;
/** The share of containers that may start in the busiest second, after a deployment. */
const STARTING = 0.1;

/** Returns every wall for a stage's traffic, the nearest first: the one with the greatest share of its limit in use. */
export function wallsOf(
  traffic: Traffic,
  recording: RecordedCalls,
  config: Pick<StageConfig, 'throttle' | 'warmThroughput'>,
  account: AccountQuotas = quotas,
): readonly Wall[] {
  const shares = sharesOf(traffic, recording);
  const perSecond = sumOf(shares, ({ peakPerSecond }) => peakPerSecond);
  const busiest = Math.max(0, ...shares.map(({ peakPerSecond }) => peakPerSecond));
  // A container handles one request at a time, so as many are busy as requests are under way (Little's law).
  const containers = sumOf(
    shares,
    ({ peakPerSecond, milliseconds }) => (peakPerSecond * milliseconds) / 1_000,
  );
  const uses = (of: (call: ReturnType<typeof callOf>) => number): number =>
    sumOf(shares, ({ operationId, peakPerSecond }) => peakPerSecond * of(callOf(recording, operationId)));
  const walls: readonly Wall[] = [
    {
      name: 'throttle of the busiest route',
      used: busiest,
      limit: config.throttle.ratePerSecond,
      unit: 'requests/s',
      movedBy: 'the setting `throttle`',
    },
    {
      name: 'requests to all APIs',
      used: perSecond,
      limit: account.apiRequestsPerSecond,
      unit: 'requests/s',
      movedBy: 'the quota “Throttle rate” of API Gateway',
    },
    {
      name: 'functions at once',
      used: containers,
      limit: account.concurrentExecutions,
      unit: 'executions',
      movedBy: 'the quota “Concurrent executions” of Lambda; faster owners',
    },
    {
      name: 'writes of a new table `control`',
      used: uses(({ writes }) => writes),
      limit: config.warmThroughput?.control?.writes ?? quotas.newTableWrites,
      unit: 'units/s',
      movedBy: 'the setting `warmThroughput`',
    },
    {
      name: 'reads of a new table `control`',
      used: uses(({ reads }) => reads),
      limit: config.warmThroughput?.control?.reads ?? quotas.newTableReads,
      unit: 'units/s',
      movedBy: 'the setting `warmThroughput`',
    },
    {
      name: 'reads of a new table `settings`',
      used: containers * (1_000 / RELEASE_MS + 2_000 / RING_MS + 1_000 / PROFILE_MS),
      limit: config.warmThroughput?.settings?.reads ?? quotas.newTableReads,
      unit: 'units/s',
      movedBy: 'the setting `warmThroughput`',
    },
    {
      name: 'release state, one item',
      used: (containers * 1_000) / RELEASE_MS,
      limit: quotas.partitionReads,
      unit: 'units/s',
      movedBy: 'a further cell only',
    },
    {
      name: 'one policy that every run uses, one item',
      used: (containers * 1_000) / LIFECYCLE_MS,
      limit: quotas.partitionReads,
      unit: 'units/s',
      movedBy: 'a further cell only',
    },
    {
      name: 'KMS, after a deployment',
      used: containers * STARTING * KMS_PER_START,
      limit: quotas.kmsPerSecond,
      unit: 'requests/s',
      movedBy: 'the quota of KMS for symmetric keys',
    },
  ];
  return walls.toSorted((a, b) => b.used / b.limit - a.used / a.limit);
}

/** Returns the calls that all owners together get in the busiest second. */
export function ownersPerSecond(traffic: Traffic, recording: RecordedCalls): number {
  return sumOf(
    sharesOf(traffic, recording),
    ({ operationId, peakPerSecond }) => peakPerSecond * callOf(recording, operationId).owners,
  );
}

/** Renders a number with two significant digits below 10, and whole above. */
export function figure(value: number): string {
  const rounded = value >= 10 ? Math.round(value) : Number(value.toPrecision(2));
  return rounded.toLocaleString('en-US', { maximumFractionDigits: 6 });
}
