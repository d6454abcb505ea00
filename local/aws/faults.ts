import { err } from '#shared/kernel/result.ts';
import { localTableName } from '#shared/stage/local-stage.ts';
import { tables } from '#shared/stores/tables.ts';
import type { AwsServiceName, Refusal } from './wire.ts';

/** What a function stores things in: a table of DynamoDB, or a whole service. */
export const storeNames = [...tables.map(({ name }) => name), 'kms', 'ssm', 's3', 'sqs'] as const;
export type StoreName = (typeof storeNames)[number];

/**
 * `stalls`: the response begins, and does not end. `is late`: the call takes effect, and its response comes when nothing waits for it. `is wrong`: the
 * response is well-formed, and about something else that the store holds.
 */
export const storeFaults = ['hangs', 'stalls', 'is late', 'throttles', 'is down', 'is wrong'] as const;
export type StoreFault = (typeof storeFaults)[number];

/** Failures on demand, for tests. Note that the SDK itself tries a throttled or failed call three times. */
export interface AwsFaults {
  /** The next `count` calls of an operation (`PutItem`, `Decrypt`, …) are refused for their rate. */
  throttle(operation: string, count: number): void;
  /** The next `count` calls of an operation are refused for this reason (`AccessDenied`, …). */
  refuse(operation: string, type: string, count: number): void;
  /** The next `count` calls of a service end with status 500. */
  unavailable(service: AwsServiceName, count: number): void;
  /** The next `count` calls of PutObject meet another write of the same key that is under way. */
  conflict(count: number): void;
  /** Until the reset, every call of a store goes wrong in this way, or only those of one operation. */
  break(store: StoreName, how: StoreFault, operation?: string): void;
  /**
   * After `skip` more calls, of any service, one neither takes effect nor is ever answered: its caller can be ended there. Resolves
   * once it is there.
   */
  hold(skip: number): Promise<void>;
  /** Forgets what is still to fail. A call that is held stays so. */
  reset(): void;
}

type Disturbance = Exclude<StoreFault, 'throttles' | 'is down'>;

export interface FaultPlan extends AwsFaults {
  /** Resolves at once, but never for the call that is to be held. */
  pass(): Promise<void>;
  /** The failure that is due for this call, if any; it is then used up. */
  take(service: AwsServiceName, operation: string, request?: Buffer): Refusal | undefined;
  /** How this call goes wrong without a refusal, if it does. */
  disturbance(service: AwsServiceName, operation: string, request?: Buffer): Disturbance | undefined;
}

export function createFaults(): FaultPlan {
  const throttled = new Map<string, number>();
  const refused = new Map<string, { readonly type: string; readonly count: number }>();
  let conflicts = 0;
  const down = new Map<AwsServiceName, number>();
  const broken = new Map<StoreName, { readonly how: StoreFault; readonly operation: string | undefined }>();
  const brokenHow = (
    service: AwsServiceName,
    operation: string,
    request?: Buffer,
  ): StoreFault | undefined => {
    for (const [store, fault] of broken) {
      const table = tables.find(({ name }) => name === store);
      const isIts =
        table === undefined
          ? service === store
          : service === 'dynamodb' && request?.includes(`"TableName":"${localTableName(table.name)}"`);
      if (isIts && (fault.operation ?? operation) === operation) return fault.how;
    }
    return undefined;
  };
  let holding: { skip: number; readonly isHeld: () => void } | undefined;
  return {
    throttle: (operation, count) => void throttled.set(operation, count),
    refuse: (operation, type, count) => void refused.set(operation, { type, count }),
    unavailable: (service, count) => void down.set(service, count),
    conflict: (count) => void (conflicts = count),
    break: (store, how, operation) => void broken.set(store, { how, operation }),
    hold: (skip) => new Promise((resolve) => (holding = { skip, isHeld: resolve })),
    pass: () => {
      if (holding === undefined) return Promise.resolve();
      holding.skip -= 1;
      if (holding.skip >= 0) return Promise.resolve();
      holding.isHeld();
      holding = undefined;
      return new Promise(() => undefined);
    },
    reset: () => {
      holding = undefined;
      conflicts = 0;
      throttled.clear();
      refused.clear();
      down.clear();
      broken.clear();
    },
    disturbance: (service, operation, request) => {
      const how = brokenHow(service, operation, request);
      return how === 'throttles' || how === 'is down' ? undefined : how;
    },
    take: (service, operation, request) => {
      const how = brokenHow(service, operation, request);
      if (how === 'throttles') return tooMany(service);
      if (how === 'is down') return unavailable(service);
      if (use(down, service)) return unavailable(service);
      if (use(throttled, operation)) return tooMany(service);
      const refusal = refused.get(operation);
      if (refusal !== undefined && refusal.count > 0) {
        refused.set(operation, { ...refusal, count: refusal.count - 1 });
        return err({ status: 403, type: refusal.type, message: 'refused on demand' });
      }
      if (service !== 's3' || operation !== 'PutObject' || conflicts <= 0) return undefined;
      conflicts -= 1;
      return err({ status: 409, type: 'ConditionalRequestConflict', message: 'conflicting on demand' });
    },
  };
}

function unavailable(service: AwsServiceName): Refusal {
  const type = service === 's3' ? 'InternalError' : 'InternalServerError';
  return err({ status: 500, type, message: 'unavailable on demand' });
}

/** The code and status of a refusal for the rate of calls. */
const rateCodes: Readonly<Record<AwsServiceName, readonly [type: string, status: number]>> = {
  s3: ['SlowDown', 503],
  dynamodb: ['ProvisionedThroughputExceededException', 400],
  sqs: ['RequestThrottled', 400],
  apigateway: ['TooManyRequestsException', 429],
  cloudformation: ['Throttling', 400],
  iam: ['Throttling', 400],
  sns: ['Throttling', 400],
  acm: ['ThrottlingException', 400],
  kms: ['ThrottlingException', 400],
  lambda: ['TooManyRequestsException', 429],
  ssm: ['ThrottlingException', 400],
  sts: ['ThrottlingException', 400],
};

function tooMany(service: AwsServiceName): Refusal {
  const [type, status] = rateCodes[service];
  return err({ status, type, message: 'throttled on demand' });
}

function use<K>(counts: Map<K, number>, key: K): boolean {
  const left = counts.get(key) ?? 0;
  if (left <= 0) return false;
  counts.set(key, left - 1);
  return true;
}
