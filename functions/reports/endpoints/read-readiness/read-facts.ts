import type { ReadinessFacts } from '#functions/reports/facts/facts.ts';
import type { Principal } from '#shared/http/operation.ts';
import { ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { SourceReader } from '#functions/reports/sources/reader.ts';
import { readSettledAttempt } from '#functions/reports/sources/settled-attempt.ts';
import { readReadinessCrosswalks } from '#functions/reports/sources/test-spec.ts';

/** The facts that readiness is decided on, in two waves of reads: the lookup by attempt id; record, criteria, crosswalks and candidate. */
export async function readReadinessFacts(
  reader: SourceReader,
  principal: Principal,
  attemptId: string,
): Promise<Result<ReadinessFacts, Problem>> {
  const settled = await readSettledAttempt(reader, principal, attemptId, {
    read: (spec) => readReadinessCrosswalks(reader, spec),
    disagreement: ({ value, receipt }, version) =>
      value.testSpecVersion === version || receipt.status !== 'current' ? undefined : 'blueprint',
  });
  if (!settled.ok) return settled;
  const { more: crosswalks, ...attempt } = settled.value;
  return ok({ ...attempt, crosswalks });
}
