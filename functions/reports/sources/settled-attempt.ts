import { mayReadCandidate } from '#functions/reports/access/claims.ts';
import type { AttemptFacts, Observed } from '#functions/reports/facts/facts.ts';
import { checkScored, incomplete } from '#functions/reports/facts/incomplete.ts';
import { finalDisagreement, disagreement } from '#functions/reports/facts/versions.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { Principal } from '#shared/http/operation.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import { attemptEvidence, type AttemptEvidence } from '#shared/platform/owners/qti.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { conflicting, notFound, sourceProblem, together, unusable } from './problems.ts';
import { isAbout, readSource, type SourceReader } from './reader.ts';
import { readCandidate } from './roster.ts';
import { readReportCriteria } from './test-spec.ts';

/** The owners' facts on one settled attempt, all of the versions that the lookup by its id names. */
export type SettledAttempt = Pick<AttemptFacts, 'evidence' | 'record' | 'criteria' | 'candidate'>;

/** The ids of an attempt's facts. */
type Place = Pick<AttemptEvidence, 'attemptId' | 'candidateSourcedId' | 'contentTestSpecId'> & {
  readonly resultRecordId: string;
};

/**
 * Reads a settled attempt: first the lookup by its id, and whether the caller may see its candidate; then everything else concurrently. No answer reveals
 * whether there is an attempt that the claims do not cover [RP-316].
 *
 * Owners continue to write meanwhile. If their versions do not belong together, the lookup and its facts are read once more, concurrently; a difference
 * then is a 409 `source-version-conflict` naming the owner. An owner that marks its answer as not current does not contradict the others: the composition
 * judges stale facts.
 */
export async function readSettledAttempt(
  reader: SourceReader,
  principal: Principal,
  attemptId: string,
): Promise<Result<SettledAttempt, Problem>> {
  const evidence = await readEvidence(reader, principal, attemptId);
  if (!evidence.ok) return evidence;
  const { candidateSourcedId, contentTestSpecId, contentTestSpecVersion, resultRecordId } =
    evidence.value.value;
  // An attempt that Results has not settled has no record yet [RP-062].
  if (resultRecordId === null)
    return err(incomplete('results', 'Results has not settled the record of the attempt.'));
  const unscored = checkScored({ evidence: evidence.value });
  if (unscored !== undefined) return err(unscored);
  const place: Place = { attemptId, candidateSourcedId, contentTestSpecId, resultRecordId };
  const first = await together({
    ...readsOf(reader, place, contentTestSpecVersion),
    candidate: readCandidate(reader, candidateSourcedId, 'derived'),
  });
  if (!first.ok) return first;
  const attempt = { evidence: evidence.value, ...first.value };
  if (differing(attempt) === undefined) return ok(attempt);

  const second = await together({
    evidence: readEvidence(reader, principal, attemptId),
    // The record was read after the lookup, so it names the newer version.
    ...readsOf(reader, place, attempt.record.value.contentTestSpecVersion),
  });
  if (!second.ok) return second;
  const again = { ...attempt, ...second.value };
  if (!isAbout(again.evidence.value, place)) return err(conflicting('qti'));
  const owner = finalDisagreement(differing(again), [again.evidence, again.record, again.criteria]);
  return owner === undefined ? ok(again) : err(conflicting(owner));
}

/**
 * Looks an attempt up by its id. Before the caller may see the candidate, only the candidate of the answer is examined, so that nothing else in it can
 * distinguish a foreign attempt from an absent one.
 */
export async function readEvidence(
  reader: SourceReader,
  principal: Principal,
  attemptId: string,
): Promise<Result<Observed<AttemptEvidence>, Problem>> {
  const operation = operations.readAttemptEvidence;
  const answer = await reader.read(operation, { path: { attemptId } }, () => ({ resourceId: attemptId }));
  if (!answer.ok) return err(sourceProblem(answer.error, 'caller'));
  const { value: identity, receipt } = answer.value;
  if (!mayReadCandidate(principal, identity.candidateSourcedId)) return err(notFound());
  const evidence = attemptEvidence.safeParse(identity);
  if (!evidence.success || evidence.data.attemptId !== attemptId) return err(unusable(operation));
  const { version, freshness } = evidence.data;
  return ok({ value: evidence.data, receipt: { ...receipt, version, status: freshness } });
}

/** Reads record and criteria by their ids. */
function readsOf(reader: SourceReader, place: Place, contentTestSpecVersion: string) {
  const { resultRecordId, contentTestSpecId } = place;
  const call = { path: { resultRecordId } };
  return {
    record: readSource(reader, operations.readSettledRecord, 'derived', 'resultRecordId', call, place),
    criteria: readReportCriteria(reader, { contentTestSpecId, contentTestSpecVersion }, 'derived'),
  };
}

/** Returns the owner whose version is not the one that the lookup names. */
function differing({ evidence, record, criteria }: SettledAttempt): SourceService | undefined {
  return disagreement(evidence.value, record.value, criteria.value);
}
