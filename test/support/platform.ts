import * as z from 'zod';
import { startPlatform } from '#local/platform/platform.ts';
import type { PlatformOptions } from '#local/platform/platform.ts';
import { instantiateSeed } from '#local/seeds/instantiate.ts';
import type { SeededTenant } from '#local/seeds/instantiate.ts';
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
/** A platform emulator over HTTP that holds the default seed for the local tenants, and its control API as functions. */
export interface TestPlatform {
  readonly url: string;
  readonly aurora: SeededTenant;
  readonly borealis: SeededTenant;
  /** Sends a control request; throws when it is refused, so that a test never goes on without its fault. */
  readonly control: (method: string, path: string, body?: unknown) => Promise<unknown>;
  readonly fault: (body: Readonly<Record<string, unknown>>) => Promise<unknown>;
  readonly reset: () => Promise<unknown>;
  readonly state: () => Promise<z.infer<typeof state>>;
  readonly close: () => Promise<void>;
}

/** Starts an emulator on a free port. */
export async function startTestPlatform(
  options: Pick<PlatformOptions, 'verifyClientToken'> = {},
): Promise<TestPlatform> {
  const seed = await soundSeed();
  const [aurora, borealis] = localTenantIds.map((tenantId) => instantiateSeed(seed, tenantId));
  if (aurora === undefined || borealis === undefined) throw new Error('there are two local tenants');
  const { url, close } = await startPlatform({
    ...options,
    port: 0,
    seed: [aurora.platform, borealis.platform],
  });
  const control: TestPlatform['control'] = async (method, path, body) => {
    const response = await fetch(`${url}/_control/${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as unknown;
  };
  return {
    url,
    aurora,
    borealis,
    control,
    fault: (body) => control('POST', 'faults', body),
    reset: () => control('POST', 'reset'),
    state: async () => state.parse(await control('GET', 'state')),
    close,
  };
}
