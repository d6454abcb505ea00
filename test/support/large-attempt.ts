import type { Fetch } from '#shared/network/http-client.ts';
import * as operations from '#shared/platform/operations.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { CfPackage } from '#shared/platform/owners/case.ts';
import type { ReportCriteria } from '#shared/platform/owners/content.ts';
import type { UserSingleton } from '#shared/platform/owners/oneroster.ts';
import type { AttemptEvidence } from '#shared/platform/owners/qti.ts';
import type { SettledMastery, SettledRecord } from '#shared/platform/owners/results.ts';
import { addressAt, answerWith } from './report-owners.ts';

/** Ids of the attempt. */
export const large = {
  tenantId: 'tenant-aurora',
  attemptId: 'attempt-large',
  candidateSourcedId: 'student-large',
} as const;

const resultRecordId = 'record-large';
const spec = { contentTestSpecId: 'spec-large', contentTestSpecVersion: '12' };
const framework = 'framework-large';
const at = '2026-03-01T08:29:11.000Z';
const outcome = { qtiItemId: 'item-1', qtiOutcomeId: 'SCORE' };

/** The component of a row, by its number. */
export function componentAt(row: number): string {
  return `component-${row}`;
}

/**
 * The owners of one scored attempt with as many mastery rows as there are numbers, each with so much evidence. Texts are put together of
 * repeated ones, so that a quarter of a million pieces of evidence cost nothing to make.
 * @param respond what Results answers in the place of the record
 */
export function ownersOf(evidence: readonly number[], respond?: () => Response): Fetch {
  const piece = JSON.stringify({ ...outcome, resultComponentId: 'part-1', contribution: 0.5 });
  const rows = evidence.map((count, row) => {
    const text = JSON.stringify({
      kind: 'knowledge_component',
      caseGuid: componentAt(row),
      parentCaseGuid: null,
      state: 'mastered',
      estimate: 0.9,
      threshold: 0.8,
      uncertainty: 0.05,
      uncertaintyKind: 'standard_error',
      policyId: 'policy-1',
      policyVersion: '3',
      evidence: [],
    } satisfies SettledMastery);
    return text.replace('"evidence":[]', `"evidence":[${`${piece},`.repeat(count).slice(0, -1)}]`);
  });
  const record = JSON.stringify({
    tenantId: large.tenantId,
    resultRecordId,
    version: '7',
    freshness: 'current',
    settled: true,
    attemptId: large.attemptId,
    candidateSourcedId: large.candidateSourcedId,
    ...spec,
    testKind: 'formative',
    modifiedAt: at,
    score: { value: 31, minimum: 0, maximum: 40, unit: 'points', scaleVersion: null },
    gate: null,
    diagnostic: null,
    completionEventIri: null,
    mastery: [],
  } satisfies SettledRecord).replace('"mastery":[]', `"mastery":[${rows.join(',')}]`);

  const text = (operation: UpstreamOperation, id: string, value: object, query = {}): [string, string] => {
    const [name = ''] = /\{(?!tenantId)\w+\}/.exec(operation.path) ?? [];
    return [
      addressAt(large.tenantId, operation, { path: { [name.slice(1, -1)]: id }, query }),
      JSON.stringify(value),
    ];
  };
  const texts = new Map([
    text(operations.readAttemptEvidence, large.attemptId, {
      tenantId: large.tenantId,
      attemptId: large.attemptId,
      version: '3',
      freshness: 'current',
      status: 'scored',
      qtiSessionId: null,
      qtiTestId: 'form-large',
      candidateSourcedId: large.candidateSourcedId,
      administrationId: 'administration-1',
      ...spec,
      resultRecordId,
      resultRecordVersion: '7',
      administeredItemCount: 1,
      outcomes: [{ ...outcome, scoredAt: at }],
    } satisfies AttemptEvidence),
    text(operations.readUser, large.candidateSourcedId, {
      user: { sourcedId: large.candidateSourcedId, status: 'active' },
    } satisfies UserSingleton),
    text(operations.readPackage, framework, {
      CFDocument: { identifier: framework, lastChangeDateTime: '2026-01-10T00:00:00Z' },
      CFItems: evidence.map((_, row) => ({ identifier: componentAt(row) })),
      CFAssociations: [],
    } satisfies CfPackage),
    text(
      operations.readReportCriteria,
      spec.contentTestSpecId,
      {
        tenantId: large.tenantId,
        testSpecId: spec.contentTestSpecId,
        version: spec.contentTestSpecVersion,
        freshness: 'current',
        testKind: 'formative',
        caseFrameworkGuid: framework,
        caseFrameworkChangedAt: '2026-01-10T00:00:00Z',
        criteria: null,
        qualifyingCoverage: false,
        externalScale: null,
      } satisfies ReportCriteria,
      { version: spec.contentTestSpecVersion },
    ),
  ]);
  const recordAt = addressAt(large.tenantId, operations.readSettledRecord, { path: { resultRecordId } });

  return (url) => {
    if (url === recordAt) return Promise.resolve(respond?.() ?? answerWith(record));
    const known = texts.get(url);
    return Promise.resolve(known === undefined ? new Response(null, { status: 404 }) : answerWith(known));
  };
}
