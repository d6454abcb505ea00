import type * as z from 'zod';
import { startPlatform, type PlatformOptions } from '#local/platform/platform.ts';
import { instantiateSeed, type SeededTenant } from '#local/seeds/instantiate.ts';
import { localTenantIds } from '#local/seeds/tenants.ts';
import { controlOf, platformState, type Control } from './platform-control.ts';
import { soundSeed } from './sound-seed.ts';

/** A platform emulator over HTTP that holds the default seed for the local tenants, and its control API as functions. */
export interface TestPlatform {
  readonly url: string;
  readonly aurora: SeededTenant;
  readonly borealis: SeededTenant;
  readonly control: Control;
  readonly fault: (body: Readonly<Record<string, unknown>>) => Promise<unknown>;
  readonly reset: () => Promise<unknown>;
  readonly state: () => Promise<z.infer<typeof platformState>>;
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
  const control = controlOf(url);
  return {
    url,
    aurora,
    borealis,
    control,
    fault: (body) => control('POST', 'faults', body),
    reset: () => control('POST', 'reset'),
    state: async () => platformState.parse(await control('GET', 'state')),
    close,
  };
}
