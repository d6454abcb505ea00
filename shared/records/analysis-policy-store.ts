import { analysisPolicy, type AnalysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import { ok, type Result } from '#shared/kernel/result.ts';
import { createRecordFinder, createRecordReader } from './find-record.ts';
import type { RecordFault, RecordFinderOptions } from './find-record.ts';

/** A released analysis policy, with the owner of its record: the tenant, or the platform. */
export interface ReleasedPolicy {
  readonly policy: AnalysisPolicy;
  readonly owner: 'tenant' | 'system';
}

/** Names one released policy permanently, even if others are released. */
export interface PolicyPin {
  readonly owner: ReleasedPolicy['owner'];
  readonly id: string;
  readonly checksum: string;
}

/** Reads released analysis policies for a tenant. */
export interface AnalysisPolicyStore {
  /** Returns undefined if there is none of this id that the tenant may see; its own one precedes the platform's. */
  read(tenantId: string, id: string): Promise<Result<ReleasedPolicy | undefined, RecordFault>>;
  /**
   * Returns exactly the policy that was found before, even if the tenant has since released one of its own under the id, or may no longer choose one
   * of the platform's [RP-146]. Undefined if there is none of this id, or one of another checksum.
   */
  readPinned(tenantId: string, pin: PolicyPin): Promise<Result<AnalysisPolicy | undefined, RecordFault>>;
}

/** Creates a store over the table `records`. Every policy is verified by its checksum when it is read, and then kept. */
export function createAnalysisPolicyStore(options: RecordFinderOptions): AnalysisPolicyStore {
  const reader = createRecordReader(analysisPolicy, options);
  const find = createRecordFinder('analysis-policy', reader, options);
  return {
    async read(tenantId, id) {
      const found = await find(tenantId, id);
      if (!found.ok) return found;
      if (found.value === undefined) return ok(undefined);
      const { key, document } = found.value;
      return ok({ policy: document, owner: key.tenantId === undefined ? 'system' : 'tenant' });
    },

    async readPinned(tenantId, { owner, id, checksum }) {
      const key = { kind: 'analysis-policy', id } as const;
      const look = await reader.look(owner === 'system' ? key : { ...key, tenantId }, checksum);
      const found = look.open();
      if (!found.ok) return found;
      const policy = found.value?.document;
      return ok(policy?.checksum === checksum ? policy : undefined);
    },
  };
}
