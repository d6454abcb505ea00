import { analysisPolicy, type AnalysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import { ok, type Result } from '#shared/kernel/result.ts';
import { createRecordFinder, verifiedDocument } from './find-record.ts';
import type { RecordFault, RecordFinderOptions } from './find-record.ts';

/** A released analysis policy, with whose record it is: the tenant's own, or the platform's. */
export interface ReleasedPolicy {
  readonly policy: AnalysisPolicy;
  readonly owner: 'tenant' | 'system';
}

/** Names one released policy for good, whatever is released beside it. */
export interface PolicyPin {
  readonly owner: ReleasedPolicy['owner'];
  readonly id: string;
  readonly checksum: string;
}

/** Reads released analysis policies for a tenant. */
export interface AnalysisPolicyStore {
  /** Undefined when there is none of this id that the tenant may see; its own one comes before the platform's. */
  read(tenantId: string, id: string): Promise<Result<ReleasedPolicy | undefined, RecordFault>>;
  /**
   * Exactly the policy that was found once, even if the tenant has released one of its own under the id since, or may no longer choose one
   * of the platform's [RP-146]. Undefined when there is none of this id, or one of another checksum.
   */
  readPinned(tenantId: string, pin: PolicyPin): Promise<Result<AnalysisPolicy | undefined, RecordFault>>;
}

/** A store over the table `records`. Every policy is checked against its checksum when it is read. */
export function createAnalysisPolicyStore(options: RecordFinderOptions): AnalysisPolicyStore {
  const find = createRecordFinder(options);
  return {
    async read(tenantId, id) {
      const found = await find('analysis-policy', tenantId, id);
      if (found === undefined) return ok(undefined);
      const policy = verifiedDocument(found.stored, analysisPolicy);
      if (!policy.ok) return policy;
      return ok({ policy: policy.value, owner: found.key.tenantId === undefined ? 'system' : 'tenant' });
    },

    async readPinned(tenantId, { owner, id, checksum }) {
      const key = { kind: 'analysis-policy', id } as const;
      const stored = await options.table.read(owner === 'system' ? key : { ...key, tenantId });
      if (stored === undefined) return ok(undefined);
      const policy = verifiedDocument(stored, analysisPolicy);
      return !policy.ok || policy.value.checksum === checksum ? policy : ok(undefined);
    },
  };
}
