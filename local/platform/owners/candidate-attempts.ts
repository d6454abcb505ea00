import * as z from 'zod';
import { compareInstants } from '#shared/kernel/instant.ts';
import { instant } from '#shared/platform/owners/primitives.ts';
import type { CandidateAttempts } from '#shared/platform/owners/results.ts';
import { byPosition, indexOf, indexVersion } from '../attempts.ts';
import type { IndexRow } from '../attempts.ts';
import { refuse } from '../route.ts';
import type { OwnerRefusal, OwnerRequest } from '../route.ts';

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
  const rows = index.filter((row) => passes(row, asked.data) && follows(row, asked.data));
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

function passes(row: IndexRow, { qtiTestId, modifiedSince }: IndexQuery): boolean {
  if (qtiTestId !== undefined && row.qtiTestId !== qtiTestId) return false;
  return modifiedSince === undefined || compareInstants(row.modifiedAt, modifiedSince) >= 0;
}
