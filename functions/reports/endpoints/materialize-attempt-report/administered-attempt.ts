import { checkScored, requireCurrent } from '#functions/reports/facts/incomplete.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import { invalid } from '#shared/http/syntax/issues.ts';
import type { Principal } from '#shared/http/operation.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { AttemptEvidence } from '#shared/platform/owners/qti.ts';
import { problem } from '#shared/problems/registry.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { readScope } from '#functions/reports/sources/administration.ts';
import type { SourceReader } from '#functions/reports/sources/reader.ts';
import { readEvidence } from '#functions/reports/sources/settled-attempt.ts';

/** A scored attempt that the caller may have written through. */
export interface AdministeredAttempt {
  readonly evidence: AttemptEvidence;
  /** The receipt of its administration, where Administration had to be asked. */
  readonly administration: SourceRef | undefined;
}

/**
 * Looks an attempt up for somebody who wants to act on it, in the order in which nothing is given away: its candidate is within the claims,
 * else 404; the administration is its own, else 400; and that one is within the claims too, else the same 404. What is not scored, or not
 * current, is 503 only then.
 */
export async function readAdministeredAttempt(
  reader: SourceReader,
  principal: Principal,
  { attemptId, administrationId }: { readonly attemptId: string; readonly administrationId: string },
): Promise<Result<AdministeredAttempt, Problem>> {
  const evidence = await readEvidence(reader, principal, attemptId);
  if (!evidence.ok) return evidence;
  if (evidence.value.value.administrationId !== administrationId) return err(otherAdministration());
  const administration = await readScope(reader, principal, administrationId);
  if (!administration.ok) return administration;
  const receipts = [
    evidence.value.receipt,
    ...(administration.value === undefined ? [] : [administration.value]),
  ];
  const unfit = requireCurrent(receipts) ?? checkScored({ evidence: evidence.value });
  return unfit === undefined
    ? ok({ evidence: evidence.value.value, administration: administration.value })
    : err(unfit);
}

/** Says of neither id whether there is such a thing. */
function otherAdministration(): Problem {
  const refused = invalid(
    'body',
    ['administrationId'],
    'not-allowed',
    'must be the administration of the attempt',
  );
  return problem('reports', 'validation', 400, { invalidParams: [refused] });
}
