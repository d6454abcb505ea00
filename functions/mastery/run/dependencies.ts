import type { CompiledModel } from '#functions/mastery/engine/index.ts';
import type { PoolCache } from '#functions/mastery/pool/read-pool.ts';
import type { RunRecords } from '#functions/mastery/records/load.ts';
import type { OperationRequest } from '#shared/http/operation.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import type { Platform } from '#shared/platform/platform.ts';
import type { ServiceProfile, ServiceProfiles } from '#shared/platform/service-profiles.ts';

/** All that start, inspect and advance may touch. */
export interface RunDependencies {
  readonly records: RunRecords<CompiledModel>;
  readonly profiles: ServiceProfiles;
  readonly keys: KeyRing;
  readonly pools: PoolCache;
  /** Opens the platform for the length of one request. */
  readonly connect: (
    profile: ServiceProfile,
    request: Pick<OperationRequest, 'receivedAt' | 'deadline' | 'log'>,
  ) => Platform;
}
