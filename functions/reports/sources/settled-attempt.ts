import { mayReadCandidate } from '#functions/reports/access/claims.ts';
import type { Observed } from '#functions/reports/facts/facts.ts';
import { checkScored, incomplete } from '#functions/reports/facts/incomplete.ts';
import { contradiction, disagreement } from '#functions/reports/facts/versions.ts';
import type { SourceService } from '#shared/contract/reports/problem.ts';
import type { SourceRef } from '#shared/contract/reports/source-ref.ts';
import type { Principal } from '#shared/http/operation.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import * as operations from '#shared/platform/operations.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import { attemptEvidence } from '#shared/platform/owners/qti.ts';
import type { AttemptEvidence } from '#shared/platform/owners/qti.ts';
import type { SettledRecord } from '#shared/platform/owners/results.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { conflicting, notFound, sourceProblem, together, unusable } from './problems.ts';
import { readSource, versioned } from './reader.ts';
import type { SourceReader } from './reader.ts';
import { readCandidate } from './roster.ts';
import { readReportCriteria } from './test-spec.ts';
import type { SpecVersion } from './test-spec.ts';

/** What the owners say of one settled attempt, all of the versions that the lookup by its id names. */
export interface SettledAttempt<More> extends Named<More> {
  readonly evidence: Observed<AttemptEvidence>;
  readonly candidate: SourceRef;
}

/** What lies where the lookup says. */
interface Named<More> {
  readonly record: Observed<SettledRecord>;
  readonly criteria: Observed<ReportCriteria>;
  readonly more: More;
}

/** Facts under the same version of the test spec as the criteria, which are read beside them. */
export interface BesideCriteria<More> {
  readonly read: (spec: SpecVersion) => Promise<Result<More, Problem>>;
  /** The owner that speaks of another version, if it does. */
  readonly disagreement: (more: More, contentTestSpecVersion: string) => SourceService | undefined;
}

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
export async function readSettledAttempt<More>(
  reader: SourceReader,
  principal: Principal,
  attemptId: string,
  beside: BesideCriteria<More>,
): Promise<Result<SettledAttempt<More>, Problem>> {
  const evidence = await readEvidence(reader, principal, attemptId);
  if (!evidence.ok) return evidence;
  const place = placeOf(evidence.value);
  if (!place.ok) return place;
  const first = await together({
    named: readNamed(reader, place.value, evidence.value.value.contentTestSpecVersion, beside),
    candidate: readCandidate(reader, place.value.candidateSourcedId, 'derived'),
  });
  if (!first.ok) return first;
  const { named, candidate } = first.value;
  if (differing(evidence.value, named, beside) === undefined)
    return ok({ evidence: evidence.value, ...named, candidate });

  const second = await together({
    evidence: readEvidence(reader, principal, attemptId),
    // The record was read after the lookup: what it names is the newer version.
    named: readNamed(reader, place.value, named.record.value.contentTestSpecVersion, beside),
  });
  if (!second.ok) return second;
  const again = second.value;
  if (isMoved(again.evidence, place.value)) return err(conflicting('qti'));
  const { record, criteria } = again.named;
  const owner = contradiction(differing(again.evidence, again.named, beside), [
    again.evidence,
    record,
    criteria,
  ]);
  if (owner !== undefined) return err(conflicting(owner));
  return ok({ evidence: again.evidence, ...again.named, candidate });
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

function isMoved(
  evidence: Observed<AttemptEvidence>,
  { candidateSourcedId, contentTestSpecId, resultRecordId }: Place,
): boolean {
  const { value } = evidence;
  return (
    value.candidateSourcedId !== candidateSourcedId ||
    value.contentTestSpecId !== contentTestSpecId ||
    value.resultRecordId !== resultRecordId
  );
}

function readNamed<More>(
  reader: SourceReader,
  { resultRecordId, attemptId, candidateSourcedId, contentTestSpecId }: Place,
  contentTestSpecVersion: string,
  beside: BesideCriteria<More>,
): Promise<Result<Named<More>, Problem>> {
  const spec = { contentTestSpecId, contentTestSpecVersion };
  return together<Named<More>>({
    record: readSource(
      reader,
      operations.readSettledRecord,
      { path: { resultRecordId } },
      {
        origin: 'derived',
        isAsked: (record) =>
          record.resultRecordId === resultRecordId &&
          record.attemptId === attemptId &&
          record.candidateSourcedId === candidateSourcedId &&
          record.contentTestSpecId === contentTestSpecId,
        about: (record) => versioned(resultRecordId, record),
      },
    ),
    criteria: readReportCriteria(reader, spec, 'derived'),
    more: beside.read(spec),
  });
}

/** The owner whose version is not the one that the lookup names. */
function differing<More>(
  { value: evidence }: Observed<AttemptEvidence>,
  { record, criteria, more }: Named<More>,
  beside: BesideCriteria<More>,
): SourceService | undefined {
  return (
    disagreement(evidence, record.value, criteria.value) ??
    beside.disagreement(more, evidence.contentTestSpecVersion)
  );
}
