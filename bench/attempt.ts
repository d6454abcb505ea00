import type * as z from 'zod';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import * as operations from '#shared/platform/operations.ts';
import type { CfPackage } from '#shared/platform/owners/case.ts';
import type { AttemptEvidence } from '#shared/platform/owners/qti.ts';
import type { RecordHeader, SettledRecord } from '#shared/platform/owners/results.ts';
import type { UpstreamCall } from '#shared/platform/platform.ts';
import { makeRandom, uuid } from './bank.ts';

/** What a made-up attempt is made of. */
export interface AttemptSize {
  readonly rows: number;
  readonly evidencePerRow: number;
}

export const TENANT_ID = 'tenant-bench';
export const CANDIDATE_ID = 'student-0417';
export const ATTEMPT_ID = 'attempt-90311';
const FORM_ID = 'form-fractions-5-a';
const ADMINISTRATION_ID = 'administration-spring-5';
const FRAMEWORK_ID = 'framework-mathematics';
const SPEC_VERSION = '12';
const SCORED_AT = '2026-03-01T08:29:11.000Z';
const CHANGED_AT = '2026-01-10T00:00:00Z';
/** Rows that hang on one item of the framework. */
const ROWS_PER_PARENT = 10;
/** Test specs that a candidate's attempts are of. */
const SPECS = 10;

export interface OwnerAnswer {
  readonly operation: UpstreamOperation;
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly value: unknown;
}

/** An answer that is one to its operation. */
function answer<Operation extends UpstreamOperation>(
  operation: Operation,
  { path = {}, query = {} }: Pick<UpstreamCall<Operation>, 'path' | 'query'>,
  value: z.input<Operation['answer']>,
): OwnerAnswer {
  return { operation, path, query, value };
}

/** The owners' answers about one made-up scored attempt. The same size gives the same answers. */
export function makeAttempt({ rows, evidencePerRow }: AttemptSize): readonly OwnerAnswer[] {
  const random = makeRandom(20_260_302);
  const outcomes = Array.from({ length: Math.max(rows, evidencePerRow) }, () => ({
    qtiItemId: uuid(random),
    qtiOutcomeId: uuid(random),
    scoredAt: SCORED_AT,
  }));
  const parents = Array.from({ length: Math.ceil(rows / ROWS_PER_PARENT) }, () => uuid(random));
  const mastery = Array.from({ length: rows }, (_, row): SettledRecord['mastery'][number] => ({
    kind: 'knowledge_component',
    caseGuid: uuid(random),
    parentCaseGuid: parents[Math.floor(row / ROWS_PER_PARENT)] ?? null,
    state: 'mastered',
    // On the side of the threshold that the state requires.
    estimate: 0.8 + random() / 5,
    threshold: 0.8,
    uncertainty: random() / 10,
    uncertaintyKind: 'standard_error',
    policyId: 'mastery-policy-g5',
    policyVersion: '3',
    evidence: Array.from({ length: evidencePerRow }, (__, n) => {
      const { qtiItemId = '', qtiOutcomeId = '' } = outcomes[(row + n) % outcomes.length] ?? {};
      return { qtiItemId, qtiOutcomeId, resultComponentId: uuid(random), contribution: random() };
    }),
  }));
  const isChildOf = (child: string, parent: string): CfPackage['CFAssociations'][number] => ({
    associationType: 'isChildOf',
    originNodeURI: { identifier: child },
    destinationNodeURI: { identifier: parent },
  });
  const header = { ...recordOf(0), attemptId: ATTEMPT_ID };
  const { resultRecordId, contentTestSpecId, contentTestSpecVersion } = header;
  return [
    answer(operations.readAttemptEvidence, { path: { attemptId: ATTEMPT_ID } }, {
      tenantId: TENANT_ID,
      attemptId: ATTEMPT_ID,
      version: '3',
      freshness: 'current',
      status: 'scored',
      qtiSessionId: null,
      qtiTestId: FORM_ID,
      candidateSourcedId: CANDIDATE_ID,
      administrationId: ADMINISTRATION_ID,
      contentTestSpecId,
      contentTestSpecVersion,
      resultRecordId,
      resultRecordVersion: header.version,
      administeredItemCount: outcomes.length,
      outcomes,
    } satisfies AttemptEvidence),
    answer(
      operations.readSettledRecord,
      { path: { resultRecordId } },
      { ...header, tenantId: TENANT_ID, mastery },
    ),
    criteriaOf(contentTestSpecId),
    rosterEntry(),
    answer(
      operations.readPackage,
      { path: { sourcedId: FRAMEWORK_ID } },
      {
        CFDocument: { identifier: FRAMEWORK_ID, lastChangeDateTime: CHANGED_AT },
        CFItems: [...parents, ...mastery.map(({ caseGuid }) => caseGuid)].map((identifier) => ({
          identifier,
        })),
        CFAssociations: [
          ...parents.map((parent) => isChildOf(parent, FRAMEWORK_ID)),
          ...mastery.map(({ caseGuid, parentCaseGuid }) => isChildOf(caseGuid, parentCaseGuid ?? '')),
        ],
      },
    ),
  ];
}

/** The owners' answers about the first page of a candidate's attempts; more pages follow. */
export function makeHistory(attempts: number): readonly OwnerAnswer[] {
  const records = Array.from({ length: attempts }, (_, n) => recordOf(n));
  return [
    answer(
      operations.listCandidateAttempts,
      { path: { candidateSourcedId: CANDIDATE_ID }, query: { limit: String(attempts) } },
      {
        tenantId: TENANT_ID,
        candidateSourcedId: CANDIDATE_ID,
        version: '418',
        freshness: 'current',
        rows: records.map((record) => ({
          attemptId: record.attemptId,
          attemptStatus: 'scored',
          qtiSessionId: null,
          qtiTestId: FORM_ID,
          administrationId: ADMINISTRATION_ID,
          contentTestSpecId: record.contentTestSpecId,
          contentTestSpecVersion: record.contentTestSpecVersion,
          administeredItemCount: 40,
          modifiedAt: record.modifiedAt,
          record,
        })),
        hasMore: true,
      },
    ),
    rosterEntry(),
    ...new Set(records.map(({ contentTestSpecId }) => contentTestSpecId)),
  ].map((entry) => (typeof entry === 'string' ? criteriaOf(entry) : entry));
}

function rosterEntry(): OwnerAnswer {
  return answer(
    operations.readUser,
    { path: { sourcedId: CANDIDATE_ID } },
    { user: { sourcedId: CANDIDATE_ID, status: 'active' } },
  );
}

function criteriaOf(testSpecId: string): OwnerAnswer {
  return answer(
    operations.readReportCriteria,
    { path: { testSpecId }, query: { version: SPEC_VERSION } },
    {
      tenantId: TENANT_ID,
      testSpecId,
      version: SPEC_VERSION,
      freshness: 'current',
      testKind: 'formative',
      caseFrameworkGuid: FRAMEWORK_ID,
      caseFrameworkChangedAt: CHANGED_AT,
      criteria: null,
      qualifyingCoverage: false,
      externalScale: null,
    },
  );
}

/** The header of the record of a candidate's nth attempt, newest first. */
function recordOf(n: number): RecordHeader {
  return {
    resultRecordId: `result-record-${n}`,
    version: '7',
    freshness: 'current',
    settled: true,
    attemptId: `attempt-${n}`,
    candidateSourcedId: CANDIDATE_ID,
    contentTestSpecId: `spec-${n % SPECS}`,
    contentTestSpecVersion: SPEC_VERSION,
    testKind: 'formative',
    modifiedAt: new Date(Date.UTC(2026, 2, 1) - n * 3_600_000).toISOString(),
    score: { value: 31, minimum: 0, maximum: 40, unit: 'points', scaleVersion: null },
    gate: null,
    diagnostic: null,
    completionEventIri: null,
  };
}
