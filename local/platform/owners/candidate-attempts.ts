import * as z from 'zod';
import { compareInstants } from '#shared/kernel/instant.ts';
import { instant } from '#shared/platform/owners/primitives.ts';
import type { CandidateAttempts } from '#shared/platform/owners/results.ts';
import { byPosition, indexOf, indexVersion, type IndexRow } from '../attempts.ts';
import { refuse, type OwnerRefusal, type OwnerRequest } from '../route.ts';

const MAX_ROWS = 250;

/** The filters by their query parameters, in the emulator's own words: whether a row passes a value. */
const listCandidateAttemptsFilters: Readonly<
  Record<
    string,
    { readonly schema: z.ZodType<string>; readonly passes: (row: IndexRow, value: string) => boolean }
  >
> = {
  qtiTestId: { schema: z.string(), passes: (row, value) => row.qtiTestId === value },
  modifiedSince: { schema: instant, passes: (row, value) => compareInstants(row.modifiedAt, value) >= 0 },
};

/** The query of the index; the server has seen to it that no parameter is unknown, repeated or empty. */
const indexQuery = z
  .object({
    limit: z
      .string()
      .regex(/^[1-9]\d{0,2}$/)
      .transform(Number)
      .refine((limit) => limit <= MAX_ROWS),
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
  for (const [name, { schema }] of Object.entries(listCandidateAttemptsFilters))
    if (query[name] !== undefined && !schema.safeParse(query[name]).success)
      return refuse(400, `the query parameter ${name} is invalid`);
  if (!tenant.users.has(candidateSourcedId)) return undefined;
  const index = indexOf(tenant, candidateSourcedId);
  const rows = index.filter((row) => passes(row, query) && follows(row, asked.data));
  return {
    tenantId: tenant.tenantId,
    candidateSourcedId,
    version: indexVersion(index),
    freshness: 'current',
    rows: rows.slice(0, asked.data.limit),
    hasMore: rows.length > asked.data.limit,
  };
}

/** Returns whether the row follows the last one of the page before. */
function follows(row: IndexRow, { afterModifiedAt, afterAttemptId }: IndexQuery): boolean {
  if (afterModifiedAt === undefined || afterAttemptId === undefined) return true;
  return byPosition(row, { modifiedAt: afterModifiedAt, attemptId: afterAttemptId }) > 0;
}

/** Returns whether the row passes every filter that the query names. */
function passes(row: IndexRow, query: OwnerRequest['query']): boolean {
  return Object.entries(listCandidateAttemptsFilters).every(([name, filter]) => {
    const value = query[name];
    return value === undefined || filter.passes(row, value);
  });
}
