import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTenantRate, type AddOne, type TenantRate } from './tenant-rate.ts';

const T0 = Date.UTC(2026, 0, 31, 9, 30);

/** The table, and the containers of one stage that count in it. */
function stage(bound: number, add?: AddOne) {
  const clock = { now: T0 };
  const counts = new Map<string, number>();
  const written: string[] = [];
  const lines: (readonly [code: string, fields: unknown])[] = [];
  const limits: number[] = [];
  const counting: AddOne = (id) => {
    written.push(id);
    const sum = (counts.get(id) ?? 0) + 1;
    counts.set(id, sum);
    return Promise.resolve(sum);
  };
  const ports = {
    now: () => clock.now,
    random: (count: number) => randomBytes(count),
    sleep: (milliseconds: number) => {
      limits.push(milliseconds);
      return add === undefined ? new Promise(() => undefined) : Promise.resolve();
    },
  };
  const container = (): TenantRate => createTenantRate(bound, add ?? counting, ports);
  const ask = async (rate: TenantRate, tenantId = 'tenant-a'): Promise<number | undefined> =>
    rate(tenantId, (code, fields) => lines.push([code, fields]));
  return { clock, counts, written, lines, limits, container, ask };
}

describe('the bound of a tenant', () => {
  it('holds within 20 % in every window over any number of containers, and no item is written more often than one takes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(10, 100, 1_000, 1_001, 2_500, 12_000),
        fc.constantFrom(1, 3, 40),
        fc.constantFrom(0.8, 1, 1.2, 2),
        async (bound, containers, load) => {
          const { container, ask, counts } = stage(bound);
          const rates = Array.from({ length: containers }, container);
          const sent = Math.round(bound * load);
          const asked = Array.from({ length: sent }, (_, at) => ask(rates[at % containers]!));
          const admitted = (await Promise.all(asked)).filter((wait) => wait === undefined).length;
          expect(admitted).toBeGreaterThanOrEqual(0.8 * Math.min(sent, bound));
          // A share is rounded up.
          expect(admitted).toBeLessThanOrEqual(bound + counts.size);
          if (bound <= 1_000) expect(admitted).toBe(Math.min(sent, bound));
          // All in one second, of which an item takes 1,000 writes: its share, and one more of each container.
          const most = load > 1 ? 1_000 + sent - bound : 1_200;
          expect(Math.max(...counts.values())).toBeLessThanOrEqual(most);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('is each tenant’s own, and starts anew with each window; the wait ends in the first seconds of the next', async () => {
    const { clock, container, ask, lines } = stage(10);
    const [one, other] = [container(), container()];
    for (let sent = 0; sent < 10; sent += 1) expect(await ask(sent % 2 ? one : other)).toBeUndefined();
    clock.now = T0 + 3_400;
    const waits = new Set<unknown>();
    for (let sent = 0; sent < 100; sent += 1) waits.add(await ask(one));
    expect([...waits].toSorted()).toEqual([7, 8, 9]);
    expect(await ask(other, 'tenant-b')).toBeUndefined();
    clock.now = T0 + 10_000;
    expect(await ask(one)).toBeUndefined();
    expect(JSON.stringify(lines)).toMatch(/^\[\["TENANT_RATE_LIMITED",{"tenantHash":"[0-9a-f]{64}"}\]\]$/);
  });

  it('is known to a container that has met it: it refuses without a write, and at once', async () => {
    const { container, written, clock } = stage(10);
    const rate = container();
    for (let sent = 0; sent < 11; sent += 1) await rate('tenant-a', () => undefined);
    expect(rate('tenant-a', () => undefined)).toBeTypeOf('number');
    // What it has admitted itself is enough to know.
    expect(written).toHaveLength(10);
    expect(rate('tenant-b', () => undefined)).toBeInstanceOf(Promise);
    clock.now = T0 + 10_000;
    expect(rate('tenant-a', () => undefined)).toBeInstanceOf(Promise);
    // The id of a tenant is in no item.
    expect(written.join('')).not.toContain('tenant');
    expect(new Set(written.map((id) => id.split('#').slice(0, 2).join('#')))).toHaveLength(2);
  });

  it('is each container’s own while the table fails or hangs: a request passes in time, and the log says so', async () => {
    const failing = stage(10, () => Promise.reject(new TypeError('secret')));
    const hanging = stage(10, () => new Promise(() => undefined));
    for (const [error, { container, ask, lines, limits, clock }] of [
      ['TypeError', failing],
      ['TimeoutError', hanging],
    ] as const) {
      const rate = container();
      for (let sent = 0; sent < 10; sent += 1) expect(await ask(rate)).toBeUndefined();
      // After three failures it counts by itself for a while, up to the bound.
      expect(await ask(rate)).toBeGreaterThan(0);
      const uncounted = ['REQUEST_UNCOUNTED', { error }];
      expect(lines.slice(0, 3)).toEqual([uncounted, uncounted, uncounted]);
      expect(lines.slice(3).map(([code]) => code)).toEqual(['TENANT_RATE_LIMITED']);
      // A container that opens its connection first has longer.
      expect(limits).toEqual([1_000, 1_000, 1_000]);
      // Then it asks the table again.
      clock.now = T0 + 10_000;
      expect(await ask(rate)).toBeUndefined();
      expect(limits).toHaveLength(4);
    }
  });

  it('waits for a count no longer than the table of a warm container takes', async () => {
    const { container, ask, limits, clock } = stage(10);
    const rate = container();
    await ask(rate);
    await ask(rate);
    clock.now += 5_000;
    await ask(rate);
    expect(limits).toEqual([1_000, 250, 1_000]);
  });

  it('is learnt from counts that come too late for their own requests', async () => {
    // Another container has counted before.
    let sum = 8;
    let table: () => void = () => undefined;
    const { container, ask, lines } = stage(
      10,
      () => new Promise((resolve) => (table = () => resolve((sum += 1)))),
    );
    const rate = container();
    for (let sent = 0; sent < 3; sent += 1) {
      expect(await ask(rate)).toBeUndefined();
      table();
    }
    await Promise.resolve();
    expect(await ask(rate)).toBeGreaterThan(0);
    expect(lines.filter(([code]) => code === 'TENANT_RATE_LIMITED')).toHaveLength(1);
  });

  it('is not waited for after three counts that came too late, however they ended', async () => {
    let table: () => void = () => undefined;
    const { container, ask, limits } = stage(10, () => new Promise((resolve) => (table = () => resolve(1))));
    const rate = container();
    for (let sent = 0; sent < 5; sent += 1) {
      expect(await ask(rate)).toBeUndefined();
      table();
      await Promise.resolve();
    }
    expect(limits).toHaveLength(3);
  });
});
