import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import { operations } from '#shared/platform/operations.ts';
import type {
  KcComponentsAck,
  KcComponentsRequest,
  ResultRecordAck,
  ResultRecordRequest,
} from '#shared/platform/owners/results.ts';
import { findRecord } from '../attempts.ts';
import { refuse, serve } from '../route.ts';
import type { OwnerAnswer, OwnerRefusal, OwnerRequest, OwnerRoute } from '../route.ts';
import { serveEdition } from '../serve-edition.ts';
import { SINGLETON } from '../world.ts';
import type { TenantState } from '../world.ts';
import { listAttempts } from './candidate-attempts.ts';

/** Results: what it can do, settled result records, and their components. */
export const resultsRoutes: readonly OwnerRoute[] = [
  serve(operations.readCapabilities, {
    versioned: true,
    handle: ({ tenant }) => {
      const entity = tenant.capabilities.get(SINGLETON.capabilities);
      return entity === undefined ? refuse(404, 'no capabilities') : { status: 200, body: entity };
    },
    // An earlier deployment that could not attach components yet.
    stale: ({ tenant }) => ({ status: 200, body: { tenantId: tenant.tenantId, capabilities: [] } }),
  }),
  serve(operations.writeResultRecord, { handle: writeRecord }),
  serve(operations.writeKcComponents, { handle: writeComponents }),
  serveEdition(operations.readSettledRecord, ({ tenant, path: { resultRecordId = '' } }) =>
    findRecord(tenant, resultRecordId),
  ),
  serveEdition(operations.listCandidateAttempts, listAttempts),
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

/** The whole set or nothing: one component that is refused leaves all of them unwritten. */
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
