import { mayReadCandidate } from '#functions/reports/access/claims.ts';
import type { AttemptFacts, Observed } from '#functions/reports/facts/facts.ts';
import { checkScored, incomplete } from '#functions/reports/facts/incomplete.ts';
import { contradiction, disagreement } from '#functions/reports/facts/versions.ts';
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

/** What the owners say of one settled attempt, all of the versions that the lookup by its id names. */
export type SettledAttempt = Pick<AttemptFacts, 'evidence' | 'record' | 'criteria' | 'candidate'>;

/** Where the facts of an attempt lie. */
type Place = Pick<AttemptEvidence, 'attemptId' | 'candidateSourcedId' | 'contentTestSpecId'> & {
  readonly resultRecordId: string;
};

/**
 * Reads a settled attempt: first the lookup by its id, and whether the caller may see its candidate; then everything else side by side.
 * No answer tells whether there is an attempt that the claims do not cover [RP-316].
 *
 * Owners go on writing meanwhile. When their versions do not belong together, the lookup and what it names are read once more, side by
 * side; what differs then is 409 `source-version-conflict` naming the owner. An owner that says of its answer that it is not current does
 * not contradict the others: what stale facts are good for is the composition's to judge.
 */
export async function readSettledAttempt(
  reader: SourceReader,
  principal: Principal,
  attemptId: string,
): Promise<Result<SettledAttempt, Problem>> {
  const evidence = await readEvidence(reader, principal, attemptId);
  if (!evidence.ok) return evidence;
  const place = placeOf(evidence.value);
  if (!place.ok) return place;
  const { contentTestSpecVersion } = evidence.value.value;
  const first = await together({
    ...readsOf(reader, place.value, contentTestSpecVersion),
    candidate: readCandidate(reader, place.value.candidateSourcedId, 'derived'),
  });
  if (!first.ok) return first;
  const attempt = { evidence: evidence.value, ...first.value };
  if (differing(attempt) === undefined) return ok(attempt);

  const second = await together({
    evidence: readEvidence(reader, principal, attemptId),
    // The record was read after the lookup: what it names is the newer version.
    ...readsOf(reader, place.value, attempt.record.value.contentTestSpecVersion),
  });
  if (!second.ok) return second;
  const again = { ...attempt, ...second.value };
  if (!isAbout(again.evidence.value, place.value)) return err(conflicting('qti'));
  const owner = contradiction(differing(again), [again.evidence, again.record, again.criteria]);
  return owner === undefined ? ok(again) : err(conflicting(owner));
}

/**
 * The lookup by attempt id. Of its answer only the candidate is looked at before the caller is known to be allowed to see it, so that nothing
 * else in it can tell a foreign attempt from an absent one.
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

/** An attempt that Results has not settled lies nowhere yet [RP-062]. */
function placeOf(evidence: Observed<AttemptEvidence>): Result<Place, Problem> {
  const { attemptId, candidateSourcedId, contentTestSpecId, resultRecordId } = evidence.value;
  if (resultRecordId === null)
    return err(incomplete('results', 'Results has not settled the record of the attempt.'));
  const unscored = checkScored({ evidence });
  return unscored === undefined
    ? ok({ attemptId, candidateSourcedId, contentTestSpecId, resultRecordId })
    : err(unscored);
}

/** What lies where the lookup says. */
function readsOf(reader: SourceReader, place: Place, contentTestSpecVersion: string) {
  const { resultRecordId, contentTestSpecId } = place;
  return {
    record: readSource(
      reader,
      operations.readSettledRecord,
      { path: { resultRecordId } },
      { origin: 'derived', id: 'resultRecordId', asked: place },
    ),
    criteria: readReportCriteria(reader, { contentTestSpecId, contentTestSpecVersion }, 'derived'),
  };
}

/** The owner whose version is not the one that the lookup names. */
function differing({ evidence, record, criteria }: SettledAttempt): SourceService | undefined {
  return disagreement(evidence.value, record.value, criteria.value);
}
