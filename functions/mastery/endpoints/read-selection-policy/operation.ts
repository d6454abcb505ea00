import type { readSelectionPolicy } from '#shared/contract/mastery/routes/read-selection-policy.ts';
import type { Operation } from '#shared/http/operation.ts';
import { PermanentDefect } from '#shared/http/refusal.ts';
import { err, ok } from '#shared/kernel/result.ts';
import { problem } from '#shared/problems/registry.ts';
import { deprecationHeaders } from '#shared/records/deprecation.ts';
import type { RecordDependencies } from '../support/dependencies.ts';

/**
 * Returns one immutable selection policy by its exact id [MA-173]. An absent policy and another tenant's return the same 404 [MA-174]. Throws a
 * PermanentDefect if the stored policy fails its checksum: this route has no 422.
 */
export function readSelectionPolicyOperation({
  store,
  deprecationUrl,
}: RecordDependencies): Operation<typeof readSelectionPolicy> {
  return async ({ principal, path }) => {
    const entry = await store.policy(principal.tenantId, path.policyId);
    if (!entry.ok) throw new PermanentDefect(`a stored selection policy cannot be used: ${entry.error.kind}`);
    if (entry.value === undefined) return err(problem('mastery', 'resource-not-found', 404));
    const { document, lifecycle } = entry.value;
    return ok({ body: document, headers: deprecationHeaders(lifecycle, deprecationUrl) });
  };
}
