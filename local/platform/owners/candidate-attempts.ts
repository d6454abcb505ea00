import * as z from 'zod';
import { requestableTestKind } from '#shared/contract/reports/attempt-report.ts';
import { compareInstants } from '#shared/kernel/instant.ts';
import { instant } from '#shared/platform/owners/primitives.ts';
import type { CandidateAttempts } from '#shared/platform/owners/results.ts';
import { byPosition, indexOf, indexVersion } from '../attempts.ts';
import type { IndexRow } from '../attempts.ts';
import { refuse } from '../route.ts';
import type { OwnerRefusal, OwnerRequest } from '../route.ts';
import type { TenantState } from '../tenant-state.ts';

const MAX_ROWS = 250;

/** The query of the index; the server has seen to it that no parameter is unknown, repeated or empty. */
const indexQuery = z
  .object({
    limit: z
      .string()
      .regex(/^[1-9]\d{0,2}$/)
      .transform(Number)
      .refine((limit) => limit <= MAX_ROWS),
    qtiTestId: z.string().optional(),
    testKind: requestableTestKind.optional(),
    status: z.enum(['scored', 'indeterminate']).optional(),
    modifiedSince: instant.optional(),
    afterModifiedAt: instant.optional(),
    afterAttemptId: z.string().optional(),
  })
  .refine(
    ({ afterModifiedAt, afterAttemptId }) =>
      (afterModifiedAt === undefined) === (afterAttemptId === undefined),
    { path: ['afterAttemptId'] },
  );
type IndexQuery = z.output<typeof indexQuery>;

/** Results: one page of the index of a candidate's attempts. */
export function listAttempts({
  tenant,
  path: { candidateSourcedId = '' },
  query,
}: OwnerRequest<undefined>): CandidateAttempts | OwnerRefusal | undefined {
  const asked = indexQuery.safeParse(query);
  if (!asked.success) {
    const [name = ''] = asked.error.issues[0]?.path ?? [];
    return refuse(400, `the query parameter ${String(name)} is invalid`);
  }
  if (!tenant.users.has(candidateSourcedId)) return undefined;
  const index = indexOf(tenant, candidateSourcedId);
  const rows = index.filter((row) => passes(tenant, row, asked.data) && follows(row, asked.data));
  return {
    tenantId: tenant.tenantId,
    candidateSourcedId,
    version: indexVersion(index),
    freshness: 'current',
    rows: rows.slice(0, asked.data.limit),
    hasMore: rows.length > asked.data.limit,
  };
}

/** Whether the row stands behind the last one of the page before. */
function follows(row: IndexRow, { afterModifiedAt, afterAttemptId }: IndexQuery): boolean {
  if (afterModifiedAt === undefined || afterAttemptId === undefined) return true;
  return byPosition(row, { modifiedAt: afterModifiedAt, attemptId: afterAttemptId }) > 0;
}

/** Of a row without a record neither kind nor status is known: it passes the filters for these. */
function passes(
  tenant: TenantState,
  row: IndexRow,
  { qtiTestId, testKind, status, modifiedSince }: IndexQuery,
): boolean {
  if (qtiTestId !== undefined && row.qtiTestId !== qtiTestId) return false;
  if (modifiedSince !== undefined && compareInstants(row.modifiedAt, modifiedSince) < 0) return false;
  if (row.record === null) return true;
  if (testKind !== undefined && row.record.testKind !== testKind) return false;
  return status === undefined || (status === 'indeterminate') === isIndeterminate(tenant, row);
}

/** Whether a mastery gate is undecided, or nothing covers or governs its decision. A gate of another kind decides nothing. */
function isIndeterminate(tenant: TenantState, { record, contentTestSpecId }: IndexRow): boolean {
  if (record?.testKind !== 'mastery_gate') return false;
  const { gate } = record;
  const criteria = tenant.criteria.get(contentTestSpecId)?.criteria ?? null;
  return (
    gate === null ||
    gate.status === 'indeterminate' ||
    gate.achieved === null ||
    gate.coverageEvidenceId === null ||
    gate.criteriaVersion === null ||
    gate.required === null ||
    criteria?.required === undefined ||
    criteria.required === null
  );
}
