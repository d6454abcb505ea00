import * as z from 'zod';
import { startPlatform } from '#local/platform/platform.ts';
import type { PlatformOptions } from '#local/platform/platform.ts';
import { instantiateSeed } from '#local/seeds/instantiate.ts';
import type { SeededTenant } from '#local/seeds/instantiate.ts';
import type { Seed } from '#local/seeds/seed.ts';
import { localTenantIds } from '#local/seeds/tenants.ts';
import { soundSeed } from './sound-seed.ts';

const count = z.record(z.string(), z.number());
const state = z.object({
  counts: count,
  tenants: z.record(
    z.string(),
    z.object({ counts: count, entities: z.record(z.string(), z.record(z.string(), z.unknown())) }),
  ),
});
const calls = z.object({
  calls: z.array(
    z.object({
      operation: z.string().nullable(),
      method: z.string(),
      path: z.string(),
      tenantId: z.string().nullable(),
      requestId: z.string(),
      startedAt: z.number(),
      endedAt: z.number(),
      status: z.number().nullable(),
      fault: z.string().nullable(),
    }),
  ),
});

/** A platform emulator over HTTP that holds the default seed for the local tenants, and its control API as functions. */
export interface TestPlatform {
  readonly url: string;
  readonly seed: Seed;
  /** By tenant id. */
  readonly seededTenants: Readonly<Record<string, SeededTenant>>;
  readonly aurora: SeededTenant;
  readonly borealis: SeededTenant;
  /** Sends a control request; throws when it is refused, so that a test never goes on without its fault. */
  readonly control: (method: string, path: string, body?: unknown) => Promise<unknown>;
  readonly fault: (body: Readonly<Record<string, unknown>>) => Promise<void>;
  readonly reset: () => Promise<void>;
  readonly state: () => Promise<z.infer<typeof state>>;
  readonly calls: () => Promise<z.infer<typeof calls>['calls']>;
  /** Sets one member of an owner's entity. */
  readonly change: (
    tenantId: string,
    entity: string,
    id: string,
    pointer: string,
    value: unknown,
  ) => Promise<void>;
  /** Answers a delivered item, as the player does. */
  readonly score: (tenantId: string, deliverySessionId: string, outcome: 0 | 1) => Promise<Response>;
  readonly close: () => Promise<void>;
}

/** Starts an emulator on a free port. */
export async function startTestPlatform(
  options: Partial<Pick<PlatformOptions, 'clock' | 'wait' | 'verifyClientToken'>> = {},
): Promise<TestPlatform> {
  const seed = await soundSeed();
  const [aurora, borealis] = localTenantIds.map((tenantId) => instantiateSeed(seed, tenantId));
  if (aurora === undefined || borealis === undefined) throw new Error('there are two local tenants');
  const seededTenants: Record<string, SeededTenant> = {
    [aurora.tenantId]: aurora,
    [borealis.tenantId]: borealis,
  };
  const platform = await startPlatform({
    ...options,
    port: 0,
    seed: [aurora.platform, borealis.platform],
  });
  const control = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(`${platform.url}/_control/${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as unknown;
  };
  return {
    url: platform.url,
    seed,
    seededTenants,
    aurora,
    borealis,
    control,
    fault: async (body) => {
      await control('POST', 'faults', body);
    },
    reset: async () => {
      await control('POST', 'reset');
    },
    state: async () => state.parse(await control('GET', 'state')),
    calls: async () => calls.parse(await control('GET', 'calls')).calls,
    change: async (tenantId, entity, id, pointer, value) => {
      await control('PATCH', 'entities', { tenantId, entity, id, changes: [{ pointer, value }] });
    },
    score: (tenantId, deliverySessionId, outcome) =>
      fetch(
        `${platform.url}/tenants/${encodeURIComponent(tenantId)}/qti/delivery-sessions/${encodeURIComponent(deliverySessionId)}/attempts`,
        {
          method: 'POST',
          headers: {
            authorization: `Bearer ${seededTenants[tenantId]?.platform.credentials.playerToken ?? ''}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify({ outcomes: { SCORE: outcome } }),
        },
      ),
    close: platform.close,
  };
}
