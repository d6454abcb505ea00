import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { compareInstants } from '#shared/kernel/instant.ts';
import type { Administration } from '#shared/platform/owners/administration.ts';
import type { CandidateAttempts, SettledRecord } from '#shared/platform/owners/results.ts';
import { findGradeEvent } from './grade-events.ts';
import { runAttempts } from './run-attempts.ts';
import type { HeldAttempt, TenantState } from './tenant-state.ts';

/** Returns an attempt by its id: one of the start data, or one that came out of a run of the mastery engine. */
export function findAttempt(tenant: TenantState, attemptId: string): HeldAttempt | undefined {
  return (
    tenant.attempts.get(attemptId) ??
    runAttempts(tenant).find(({ attempt }) => attempt.attemptId === attemptId)?.attempt
  );
}

/** Returns a settled record by its id; a record of the engine counts once its components are attached. */
export function findRecord(tenant: TenantState, resultRecordId: string): SettledRecord | undefined {
  const held = tenant.records.get(resultRecordId);
  return held === undefined
    ? runAttempts(tenant).find(({ record }) => record.resultRecordId === resultRecordId)?.record
    : withEvent(tenant, held);
}

/** Returns a record that names the event that has published it since; its version is of what was settled, and stays. */
function withEvent(tenant: TenantState, record: SettledRecord): SettledRecord {
  const { attemptId, score, modifiedAt, completionEventIri } = record;
  if (completionEventIri !== null || score === null) return record;
  const event = findGradeEvent(tenant, { attemptId }, { scoreGiven: score.value, at: modifiedAt });
  return event === undefined ? record : { ...record, completionEventIri: event.id };
}

/** Returns an administration by its id; a learner run of the engine is one. */
export function findAdministration(
  tenant: TenantState,
  administrationId: string,
): Administration | undefined {
  return (
    tenant.administrations.get(administrationId) ??
    runAttempts(tenant).find(({ administration }) => administration.administrationId === administrationId)
      ?.administration
  );
}

export type IndexRow = CandidateAttempts['rows'][number];

/** Returns every attempt of a candidate as the index lists it: newest modification first, ties by attempt id in UTF-16 order. */
export function indexOf(tenant: TenantState, candidateSourcedId: string): readonly IndexRow[] {
  const ids = new Set(tenant.generatedAttemptIds.get(candidateSourcedId));
  for (const [id] of tenant.attempts.entries()) ids.add(id);
  const held = [...ids].flatMap((id) => tenant.attempts.get(id) ?? []);
  const ofRuns = runAttempts(tenant).map(({ attempt }) => attempt);
  return [...held, ...ofRuns]
    .filter((attempt) => attempt.candidateSourcedId === candidateSourcedId)
    .map((attempt) => rowOf(tenant, attempt))
    .sort(byPosition);
}

/** Returns the order of the index: newest modification first, ties by the bytes of the attempt id. */
export function byPosition(
  a: Pick<IndexRow, 'modifiedAt' | 'attemptId'>,
  b: Pick<IndexRow, 'modifiedAt' | 'attemptId'>,
): number {
  const later = compareInstants(b.modifiedAt, a.modifiedAt);
  return later === 0 ? Buffer.compare(Buffer.from(a.attemptId), Buffer.from(b.attemptId)) : later;
}

/** Returns a version of the whole index: it changes with every row's place or record. */
export function indexVersion(rows: readonly IndexRow[]): string {
  const states = rows.map(({ attemptId, attemptStatus, modifiedAt, record }) => [
    attemptId,
    attemptStatus,
    modifiedAt,
    record?.version ?? null,
  ]);
  return sha256Hex(JSON.stringify(states)).slice(0, 24);
}

function rowOf(tenant: TenantState, attempt: HeldAttempt): IndexRow {
  const found = attempt.resultRecordId === null ? undefined : findRecord(tenant, attempt.resultRecordId);
  const record = found?.settled === true ? found : undefined;
  return {
    attemptId: attempt.attemptId,
    attemptStatus: attempt.status,
    qtiSessionId: attempt.qtiSessionId,
    qtiTestId: attempt.qtiTestId,
    administrationId: attempt.administrationId,
    contentTestSpecId: attempt.contentTestSpecId,
    contentTestSpecVersion: attempt.contentTestSpecVersion,
    administeredItemCount: attempt.administeredItemCount,
    modifiedAt: record?.modifiedAt ?? attempt.submittedAt,
    record: record === undefined ? null : indexedRecord(record),
  };
}

function indexedRecord(record: SettledRecord): NonNullable<IndexRow['record']> {
  const gapRows = record.mastery.filter(({ state }) => state === 'gap');
  return {
    gapRowCaseGuids: [...new Set(gapRows.map(({ caseGuid }) => caseGuid))],
    resultRecordId: record.resultRecordId,
    version: record.version,
    freshness: record.freshness,
    settled: record.settled,
    attemptId: record.attemptId,
    candidateSourcedId: record.candidateSourcedId,
    contentTestSpecId: record.contentTestSpecId,
    contentTestSpecVersion: record.contentTestSpecVersion,
    testKind: record.testKind,
    modifiedAt: record.modifiedAt,
    score: record.score,
    gate: record.gate,
    diagnostic: record.diagnostic,
    completionEventIri: record.completionEventIri,
  };
}
