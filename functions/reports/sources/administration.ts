import { mayReadAdministration } from '#functions/reports/access/claims.ts';
import type { Observed } from '#functions/reports/facts/facts.ts';
import type { Principal } from '#shared/http/operation.ts';
import { err, type Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { Administration } from '#shared/platform/owners/administration.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { notFound } from './problems.ts';
import { readSource, type SourceReader } from './reader.ts';

/** Reads an administration that the caller may act on (the reading of RP-314); returns the hidden 404 for any other, as for one that is not there. */
export async function readAdministration(
  reader: SourceReader,
  principal: Principal,
  administrationId: string,
): Promise<Result<Observed<Administration>, Problem>> {
  const answer = await readSource(reader, operations.readAdministration, 'caller', 'administrationId', {
    path: { administrationId },
  });
  if (!answer.ok) return answer;
  return mayReadAdministration(principal, answer.value.value) ? answer : err(notFound());
}
