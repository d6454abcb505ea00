import { err } from '#shared/kernel/result.ts';
import type { AwsAnswer, AwsService, AwsServiceName } from './wire.ts';
import { refuse } from './wire.ts';

/** Failures on demand, for tests. Note that the SDK itself tries a throttled or failed call three times. */
export interface AwsFaults {
  /** The next `count` calls of an operation (`PutItem`, `Decrypt`, …) are refused for their rate. */
  throttle(operation: string, count: number): void;
  /** The next `count` calls of a service end with status 500. */
  unavailable(service: AwsServiceName, count: number): void;
  /** Forgets what is still to fail. */
  reset(): void;
}

export interface FaultPlan extends AwsFaults {
  /** The failure that is due for this call, if any; it is then used up. */
  take(service: AwsService, operation: string): Extract<AwsAnswer, { ok: false }> | undefined;
}

export function createFaults(): FaultPlan {
  const throttled = new Map<string, number>();
  const down = new Map<AwsServiceName, number>();
  return {
    throttle: (operation, count) => void throttled.set(operation, count),
    unavailable: (service, count) => void down.set(service, count),
    reset: () => {
      throttled.clear();
      down.clear();
    },
    take: (service, operation) => {
      if (use(down, service.name)) {
        return err({ status: 500, type: 'InternalServerError', message: 'unavailable on demand' });
      }
      if (!use(throttled, operation)) return undefined;
      return service.name === 'dynamodb'
        ? refuse('ProvisionedThroughputExceededException', 'throttled on demand')
        : refuse('ThrottlingException', 'throttled on demand');
    },
  };
}

function use<K>(counts: Map<K, number>, key: K): boolean {
  const left = counts.get(key) ?? 0;
  if (left <= 0) return false;
  counts.set(key, left - 1);
  return true;
}
