import { COUNT_PREFIX, RATE_WINDOW_S } from '#shared/contract/tenant-rate.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { randomFraction } from '#shared/kernel/random.ts';
import { nameOf } from '#shared/observability/describe-error.ts';
import type { Log } from '#shared/observability/logger.ts';
import type { Runtime } from '#shared/runtime/runtime.ts';

/** Adds one to a count, which may be deleted some time after `purgeAt` (epoch seconds), and returns the sum. */
export type AddOne = (id: string, purgeAt: number) => Promise<number>;

/** Counts a request of a tenant. Returns undefined if it is admitted, else the seconds to wait: at once if it need not be counted. Never rejects. */
export type TenantRate = (tenantId: string, log: Log) => number | Promise<number | undefined>;

const WINDOW_MS = RATE_WINDOW_S * 1_000;
/** An item of DynamoDB takes 1,000 writes per second, and all requests of a window may arrive in one. */
const MOST_PER_ITEM = 1_000;
/** A request waits no longer for its count. The first of a container also has to open the connection. */
const COUNT_MS = 250;
const FIRST_COUNT_MS = 1_000;
const KEPT_S = 300;
/** Clients that were refused together must not all return in the first second of the next window. */
const JITTER_S = 3;

/**
 * Creates the bound on the requests of each tenant: at most `bound` per window, over all containers of all functions. The count of a window is
 * divided among as many items as it takes that none is written too often; a request draws one of them, and each admits its share. A container
 * that has found a share used up refuses without counting. A request whose count fails or is late is admitted, and logged: the bound protects the
 * tenants from one another, and must not stop them together. The container learns from a late count, too.
 */
export function createTenantRate(
  bound: number,
  add: AddOne,
  { now, sleep, random }: Pick<Runtime, 'now' | 'sleep' | 'random'>,
): TenantRate {
  const items = Math.ceil(bound / MOST_PER_ITEM);
  const share = Math.ceil(bound / items);
  let used: { readonly window: number; readonly up: Set<string> } = { window: 0, up: new Set() };
  let limit = FIRST_COUNT_MS;

  return (tenantId, log) => {
    const window = Math.floor(now() / WINDOW_MS);
    if (used.window !== window) used = { window, up: new Set() };
    // A plain hash: the tenant's id is no secret, and most functions may unwrap no key for an HMAC.
    const tenant = sha256Hex(`rate ${tenantId}`);
    const id = `${COUNT_PREFIX}${tenant}#${window}#${Math.floor(randomFraction(random) * items)}`;
    const end = (window + 1) * WINDOW_MS;
    const wait = (): number =>
      Math.ceil((end - now()) / 1_000) + Math.floor(randomFraction(random) * JITTER_S);
    if (used.up.has(id)) return wait();

    const counting = add(id, end / 1_000 + KEPT_S).then((sum) => {
      if (sum <= share) return undefined;
      if (!used.up.has(id)) log('TENANT_RATE_LIMITED', { tenantHash: tenant });
      used.up.add(id);
      return Math.max(1, wait());
    });
    const ended = new AbortController();
    const late = sleep(limit, ended.signal).then(() =>
      Promise.reject(new DOMException('late', 'TimeoutError')),
    );
    limit = COUNT_MS;
    return Promise.race([counting, late])
      .catch((error: unknown) => {
        log('REQUEST_UNCOUNTED', { error: nameOf(error) });
        return undefined;
      })
      .finally(() => ended.abort());
  };
}
