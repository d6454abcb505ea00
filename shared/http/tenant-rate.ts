import { COUNT_PREFIX, RATE_WINDOW_S } from '#shared/contract/tenant-rate.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { randomFraction } from '#shared/kernel/random.ts';
import { isWithin } from '#shared/kernel/shared-reading.ts';
import { nameOf } from '#shared/observability/describe-error.ts';
import type { Log } from '#shared/observability/logger.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';

/** Returns the name of a tenant in counts and log lines. A plain hash: its id is no secret, and most functions may unwrap no key for an HMAC. */
export function tenantHash(tenantId: string): string {
  return sha256Hex(`rate ${tenantId}`);
}

/** Adds one to a count, which may be deleted some time after `purgeAt` (epoch seconds), and returns the sum. */
export type AddOne = (id: string, purgeAt: number) => Promise<number>;

/** Counts a request of a tenant. Returns undefined if it is admitted, else the seconds to wait: at once if it need not be counted. Never rejects. */
export type TenantRate = (tenantId: string, log: Log) => number | Promise<number | undefined>;

const WINDOW_MS = RATE_WINDOW_S * 1_000;
/** An item of DynamoDB takes 1,000 writes per second, and all requests of a window may arrive in one. */
const MOST_PER_ITEM = 1_000;
/** A request waits no longer for its count. After a pause it may also have to open the connection. */
const COUNT_MS = 250;
const FIRST_COUNT_MS = 1_000;
const IDLE_MS = 5_000;
/** After so many failures in a row, requests are not counted for a while, and do not wait. */
const MOST_FAILURES = 3;
const UNCOUNTED_MS = 5_000;
const KEPT_S = 300;
/** Clients that were refused together must not all return in the first second of the next window. */
const JITTER_S = 3;

/**
 * Creates the bound on the requests of each tenant: at most `bound` per window, over all containers of all functions. The count of a window is
 * divided among as many items as it takes that none is written too often; a request draws one of them, and each admits its share. A container
 * that has found a share used up refuses without counting. A request whose count fails or is late is admitted, and logged: the bound protects the
 * tenants from one another, and must not stop them together. The container learns from a late count, too. What it has admitted itself bounds it also
 * while counts fail.
 */
export function createTenantRate(
  bound: number,
  add: AddOne,
  { now, sleep, random }: Pick<Runtime, 'now' | 'sleep' | 'random'>,
): TenantRate {
  const items = Math.ceil(bound / MOST_PER_ITEM);
  const share = Math.ceil(bound / items);
  let used = { window: 0, up: new Set<string>(), admitted: new Map<string, number>() };
  let [countedAt, failures] = [-Infinity, 0];
  let pause = { at: -Infinity, milliseconds: 0 };

  function meet(id: string, tenant: string, log: Log): void {
    if (!used.up.has(id)) log('TENANT_RATE_LIMITED', { tenantHash: tenant });
    used.up.add(id);
  }

  return (tenantId, log) => {
    const window = Math.floor(now() / WINDOW_MS);
    if (used.window !== window) used = { window, up: new Set(), admitted: new Map() };
    const tenant = tenantHash(tenantId);
    const id = `${COUNT_PREFIX}${tenant}#${window}#${Math.floor(randomFraction(random) * items)}`;
    const end = (window + 1) * WINDOW_MS;
    const wait = (): number =>
      Math.ceil((end - now()) / 1_000) + Math.floor(randomFraction(random) * JITTER_S);
    const admitted = used.admitted.get(id) ?? 0;
    if (admitted >= share) meet(id, tenant, log);
    if (used.up.has(id)) return wait();
    used.admitted.set(id, admitted + 1);
    if (isWithin(pause.milliseconds, pause.at, now())) return Promise.resolve(undefined);

    const ended = new AbortController();
    const counting = add(id, end / 1_000 + KEPT_S).then((sum) => {
      // A table that is always late must not make every request wait.
      if (!ended.signal.aborted) [countedAt, failures] = [now(), 0];
      if (sum <= share) return undefined;
      meet(id, tenant, log);
      return Math.max(1, wait());
    });
    const limit = isWithin(IDLE_MS, countedAt, now()) ? COUNT_MS : FIRST_COUNT_MS;
    const late = sleep(limit, ended.signal).then(() =>
      Promise.reject(new DOMException('late', 'TimeoutError')),
    );
    return Promise.race([counting, late])
      .catch((error: unknown) => {
        log('REQUEST_UNCOUNTED', { error: nameOf(error) });
        failures += 1;
        if (failures >= MOST_FAILURES)
          pause = { at: now(), milliseconds: UNCOUNTED_MS * (1 + randomFraction(random)) };
        return undefined;
      })
      .finally(() => ended.abort());
  };
}
