import { canonicalJson, hashCanonical } from '#shared/kernel/canonical-json.ts';
import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import * as operations from '#shared/platform/operations.ts';
import type {
  KcComponentsAck,
  KcComponentsRequest,
  ResultRecordAck,
  ResultRecordRequest,
  SettledComponentsAck,
  SettledComponentsRequest,
  SettledRecord,
} from '#shared/platform/owners/results.ts';
import { findAttempt, findRecord } from '../attempts.ts';
import { refuse, serve } from '../route.ts';
import type { OwnerAnswer, OwnerRefusal, OwnerRequest, OwnerRoute } from '../route.ts';
import { serveEdition } from '../serve-edition.ts';
import type { HeldAttempt, TenantState } from '../tenant-state.ts';
import { listAttempts } from './candidate-attempts.ts';

/** Results: settled result records and their components. */
export const resultsRoutes: readonly OwnerRoute[] = [
  serve(operations.writeResultRecord, { identities: ['/producerResultId'], handle: writeRecord }),
  serve(operations.writeKcComponents, {
    identities: ['/resultRecordId', '/componentIds/0'],
    handle: writeComponents,
  }),
  serve(operations.writeSettledComponents, {
    identities: ['/attemptId', '/componentIds/0'],
    demandsIdempotencyKey: true,
    handle: settle,
  }),
  serveEdition(
    operations.readSettledRecord,
    ['/resultRecordId', '/attemptId', '/candidateSourcedId', '/contentTestSpecId'],
    ({ tenant, path: { resultRecordId = '' } }) => findRecord(tenant, resultRecordId),
  ),
  serveEdition(
    operations.listCandidateAttempts,
    [
      '/candidateSourcedId',
      '/rows/0/record/attemptId',
      '/rows/0/record/candidateSourcedId',
      '/rows/0/record/contentTestSpecId',
    ],
    listAttempts,
  ),
];

function writeRecord({
  tenant,
  body,
}: OwnerRequest<ResultRecordRequest>): OwnerAnswer<ResultRecordAck> | OwnerRefusal {
  const earlierId = tenant.producerResults.get(body.producerResultId);
  const earlier = earlierId === undefined ? undefined : tenant.resultRecords.get(earlierId);
  if (earlier !== undefined) {
    if (canonicalJson(earlier.request) !== canonicalJson(body)) {
      return refuse(409, 'the producer result id was used for another result');
    }
    return { status: 200, body: acknowledge(tenant, earlier.resultRecordId, body.producerResultId) };
  }
  if (!tenant.students.has(body.studentId)) return refuse(404, 'no such student');
  const defect = referenceDefect(tenant, body);
  if (defect !== undefined) return refuse(422, defect);
  const resultRecordId = deterministicUuid('result-record', tenant.tenantId, body.producerResultId);
  tenant.resultRecords.set(resultRecordId, { resultRecordId, request: body, components: [] });
  tenant.producerResults.set(body.producerResultId, resultRecordId);
  return { status: 201, body: acknowledge(tenant, resultRecordId, body.producerResultId) };
}

/** A result must be about this tenant's own test and sessions. */
function referenceDefect(tenant: TenantState, body: ResultRecordRequest): string | undefined {
  if (!tenant.blueprints.has(body.testSpecId)) return 'testSpecId is unknown';
  if (tenant.bankMembers.get(body.testBankId)?.specId !== body.testSpecId)
    return 'testBankId is not the test spec’s';
  if (tenant.manifests.get(body.bankOperationId)?.testBankId !== body.testBankId) {
    return 'bankOperationId is not the test bank’s';
  }
  if (new Set(body.deliverySessionIds).size !== body.deliverySessionIds.length)
    return 'deliverySessionIds repeat';
  return body.deliverySessionIds.every((id) => tenant.sessions.has(id))
    ? undefined
    : 'deliverySessionIds hold an unknown session';
}

function acknowledge(tenant: TenantState, resultRecordId: string, producerResultId: string): ResultRecordAck {
  return { tenantId: tenant.tenantId, resultRecordId, producerResultId };
}

/** Writes the whole set or nothing: one component that is refused leaves all of them unwritten. */
function writeComponents({
  tenant,
  path,
  body,
}: OwnerRequest<KcComponentsRequest>): OwnerAnswer<KcComponentsAck> | OwnerRefusal {
  const record = tenant.resultRecords.get(path['resultRecordId'] ?? '');
  if (record === undefined) return refuse(404, 'no such result record');
  if (body.resultRecordId !== record.resultRecordId)
    return refuse(422, 'resultRecordId is not the one of the path');
  const componentIds = body.components.map((component) => component.componentId);
  if (new Set(componentIds).size !== componentIds.length) return refuse(422, 'component ids repeat');
  if (body.components.some((component) => !tenant.caseItems.has(component.caseCompetencyGuid))) {
    return refuse(422, 'caseCompetencyGuid is unknown');
  }
  const held = new Map(record.components.map((component) => [component.componentId, component]));
  const added = body.components.filter((component) => !held.has(component.componentId));
  for (const component of body.components) {
    const earlier = held.get(component.componentId);
    if (earlier !== undefined && canonicalJson(earlier) !== canonicalJson(component)) {
      return refuse(409, 'a component id was used for another component');
    }
  }
  tenant.resultRecords.set(record.resultRecordId, {
    ...record,
    components: [...record.components, ...added],
  });
  return {
    status: added.length === 0 ? 200 : 201,
    body: {
      tenantId: tenant.tenantId,
      resultRecordId: record.resultRecordId,
      count: componentIds.length,
      componentIds,
    },
  };
}

/** Takes the scored outcomes of an attempt, and settles its record unless that has been done: what is settled stays as it is. */
function settle({
  tenant,
  path,
  body,
  idempotencyKey,
}: OwnerRequest<SettledComponentsRequest>): OwnerAnswer<SettledComponentsAck> | OwnerRefusal {
  const attempt = findAttempt(tenant, path['attemptId'] ?? '');
  if (attempt === undefined) return refuse(404, 'no such attempt');
  const contentHash = hashCanonical(body);
  if ((tenant.settlementKeys.get(idempotencyKey) ?? contentHash) !== contentHash)
    return refuse(409, 'the Idempotency-Key was used for other components');
  const refused = componentsDefect(tenant, attempt, body);
  if (refused !== undefined) return refused;
  const known = attempt.resultRecordId === null ? undefined : findRecord(tenant, attempt.resultRecordId);
  const record = known ?? tenant.unsettledRecords.get(attempt.attemptId);
  if (record?.score === undefined || record.score === null || !record.settled)
    return refuse(422, 'no policy settles this attempt');
  const isNew = !tenant.settlements.has(attempt.attemptId);
  tenant.settlementKeys.set(idempotencyKey, contentHash);
  tenant.settlements.set(attempt.attemptId, {
    attemptId: attempt.attemptId,
    components: body.components,
  });
  if (known === undefined) settleRecord(tenant, attempt, record);
  return {
    status: isNew ? 201 : 200,
    body: {
      tenantId: tenant.tenantId,
      attemptId: attempt.attemptId,
      resultRecordId: record.resultRecordId,
      version: record.version,
      count: body.components.length,
      componentIds: body.components.map(({ componentId }) => componentId),
      score: record.score,
      settledAt: record.modifiedAt,
    },
  };
}

/** From now on QTI's lookup names the record; the version of its outcomes is the same. */
function settleRecord(tenant: TenantState, attempt: HeldAttempt, record: SettledRecord): void {
  tenant.records.set(record.resultRecordId, record);
  tenant.attempts.set(attempt.attemptId, {
    ...attempt,
    resultRecordId: record.resultRecordId,
    resultRecordVersion: record.version,
  });
}

/** Returns what Results would refuse in a set of components: everything but exactly what QTI has scored, each permanently under one id. */
function componentsDefect(
  tenant: TenantState,
  attempt: HeldAttempt,
  body: SettledComponentsRequest,
): OwnerRefusal | undefined {
  if (body.attemptId !== attempt.attemptId) return refuse(422, 'attemptId is not the one of the path');
  if (attempt.status !== 'scored') return refuse(409, 'the attempt is not scored');
  if (body.evidenceVersion !== attempt.version) return refuse(409, 'evidenceVersion is not the current one');
  if (
    body.contentTestSpecId !== attempt.contentTestSpecId ||
    body.contentTestSpecVersion !== attempt.contentTestSpecVersion
  )
    return refuse(422, 'the test spec is not the attempt’s');
  const ids = new Set(body.components.map(({ componentId }) => componentId));
  if (ids.size !== body.components.length) return refuse(422, 'component ids repeat');
  const scored = attempt.outcomes.map(outcomeOf).sort();
  const handed = body.components.map(outcomeOf).sort();
  if (canonicalJson(scored) !== canonicalJson(handed))
    return refuse(422, 'the components are not the outcomes that QTI has scored');
  for (const { attemptId, components } of tenant.settlements.values()) {
    if (attemptId !== attempt.attemptId && components.some(({ componentId }) => ids.has(componentId)))
      return refuse(409, 'a component id was used for another attempt');
  }
  const held = tenant.settlements.get(attempt.attemptId)?.components;
  return held === undefined || canonicalJson(held) === canonicalJson(body.components)
    ? undefined
    : refuse(409, 'a component was handed over under another id');
}

function outcomeOf({
  qtiItemId,
  qtiOutcomeId,
  scoredAt,
}: Omit<SettledComponentsRequest['components'][number], 'componentId'>): string {
  return JSON.stringify([qtiItemId, qtiOutcomeId, scoredAt]);
}
