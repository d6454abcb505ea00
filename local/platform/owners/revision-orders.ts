import { actions } from '#shared/contract/reports/analysis-policy.ts';
import { canonicalJson, hashCanonical } from '#shared/kernel/canonical-json.ts';
import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import * as operations from '#shared/platform/operations.ts';
import type { RevisionOrderAck, RevisionOrderRequest } from '#shared/platform/owners/revision-orders.ts';
import { isItemOf } from '../form-items.ts';
import { refuse, serve } from '../route.ts';
import type { OwnerAnswer, OwnerRefusal, OwnerRequest, OwnerRoute } from '../route.ts';
import type { Receiving, TenantState } from '../tenant-state.ts';

type Receive = OwnerAnswer<RevisionOrderAck> | OwnerRefusal;
type Order = OwnerRequest<RevisionOrderRequest>;
type ReceivingRow = typeof operations.orderBankRevision | typeof operations.orderBlueprintRevision;

/** Bank and Blueprint: where they receive revision orders. */
export const revisionOrderRoutes: readonly OwnerRoute[] = [
  receiverOf(operations.orderBankRevision, 'bank'),
  receiverOf(operations.orderBlueprintRevision, 'blueprint'),
];

function receiverOf(row: ReceivingRow, module: Receiving): OwnerRoute {
  return serve(row, {
    identities: ['/revisionOrderId'],
    demandsIdempotencyKey: true,
    handle: (request) => receive(module, request),
    drift: (ack) => ({ ...ack, version: `${ack.version}-next` }),
  });
}

/** The first answer is final: a repeated order gets its receipt. */
function receive(module: Receiving, { tenant, body: order, idempotencyKey, now }: Order): Receive {
  const receiver = tenant.receivers[module].get(order.administrationId);
  if (receiver?.status === 'missing') return refuse(503, 'the module is not there');
  if (idempotencyKey !== order.revisionOrderId)
    return refuse(422, 'the Idempotency-Key is not the order’s id');
  const held = tenant.revisionOrders[module].get(order.revisionOrderId);
  if (held !== undefined) {
    if (canonicalJson(held.order) !== canonicalJson(order))
      return refuse(409, 'the id was used for another order');
    const { decision } = held.ack;
    // A refusal stays one, however often it is asked for.
    return { status: 200, body: { ...held.ack, decision: decision === 'rejected' ? decision : 'replayed' } };
  }
  const defect = defectOf(module, tenant, order);
  if (defect !== undefined) return refuse(422, defect);
  const { tenantId } = tenant;
  const ack: RevisionOrderAck = {
    tenantId,
    revisionOrderId: order.revisionOrderId,
    receiptId: deterministicUuid(`${module}-revision-receipt`, tenantId, order.revisionOrderId),
    version: hashCanonical(order).slice(0, 24),
    decision: receiver?.refuses.includes(order.requestedAction) === true ? 'rejected' : 'accepted',
    receivedAt: now,
  };
  tenant.revisionOrders[module].set(order.revisionOrderId, { order, ack });
  return { status: 201, body: ack };
}

/** Returns what a receiver would refuse: what it cannot do, and what is about nothing that this tenant has. */
function defectOf(
  module: Receiving,
  tenant: TenantState,
  { targetModule, requestedAction, ...order }: RevisionOrderRequest,
): string | undefined {
  if (targetModule !== module || actions[requestedAction].targetModule !== module)
    return 'the action is another module’s';
  const administration = tenant.administrations.get(order.administrationId);
  if (administration === undefined) return 'administrationId is unknown';
  const { contentTestSpecId } = administration;
  if (order.contentTestSpecId !== contentTestSpecId) return 'contentTestSpecId is not the administration’s';
  const { qtiItemId, qtiTestId } = order;
  const forms = [...tenant.forms.values()].filter((form) => form.contentTestSpecId === contentTestSpecId);
  if (qtiTestId !== null && !forms.some((form) => form.qtiTestId === qtiTestId))
    return 'qtiTestId is no form of the test spec';
  const isKnown = (id: string): boolean =>
    forms.some((form) => isItemOf(form.qtiTestId, tenant.formItems.get(form.qtiTestId) ?? 0, id));
  if (qtiItemId !== null && !isKnown(qtiItemId)) return 'qtiItemId is unknown';
  const known = new Set(
    tenant.alignmentSources.get(contentTestSpecId)?.sources.map(({ sourceKey }) => sourceKey),
  );
  return order.sourceKeys.every((key) => known.has(key)) ? undefined : 'sourceKeys hold an unknown source';
}
