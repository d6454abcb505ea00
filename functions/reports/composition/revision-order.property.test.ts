import fc from 'fast-check';
import { expect, it } from 'vitest';
import { deriveMetricOrders } from '#functions/reports/analysis/orders/derive-orders.ts';
import type { DerivedOrder } from '#functions/reports/analysis/orders/derive-orders.ts';
import { completedRun, revisionOrders } from '#shared/contract/reports/examples.ts';
import { orderStatus, revisionOrder } from '#shared/contract/reports/revision-order.ts';
import { orderRecord, recordedRun } from '#test/support/improvement-facts.ts';
import { anExampleOf, frozen } from '#test/support/report-facts.ts';
import { composeOrder } from './revision-order.ts';

const { run } = anExampleOf(recordedRun).progress;
const { evidenceRefs, ...example } = revisionOrders.data[0]!;
const derived: DerivedOrder = anOrder();

it('an order is what was derived, with the state of its record, its receiver’s acknowledgement, and no change before it was made [RP-190, RP-191, RP-201, RP-202, RP-203, RP-204, RP-205, RP-206, RP-219]', () => {
  fc.assert(
    fc.property(orderRecord(orderStatus.options), (record) => {
      const body = composeOrder({
        run,
        record: frozen(record),
        derived: frozen(derived),
        evidenceRefs: completedRun.sources,
      });
      expect(revisionOrder.parse(body)).toEqual(body);
      const { ack, targetModule, status, supersedesRevisionOrderId, createdAt, updatedAt } = record;
      expect(body).toEqual({
        ...derived.content,
        improvementRunId: run.improvementRunId,
        evidenceRefs: completedRun.sources,
        status,
        targetReceipt: ack && {
          service: targetModule,
          resourceId: ack.receiptId,
          observedAt: new Date(ack.observedAt).toISOString(),
          version: ack.version,
          status: 'current',
        },
        supersedesRevisionOrderId,
        createdAt: new Date(createdAt).toISOString(),
        updatedAt: new Date(Math.max(createdAt, updatedAt)).toISOString(),
      });
    }),
  );
});

/** The order of the contract's example, derived from an artifact that asks for it. */
function anOrder(): DerivedOrder {
  const { administrationId, contentTestSpecId, contentTestSpecVersion, observedMetric } = example;
  const {
    qtiItemId,
    qtiFormId,
    qtiTestId,
    caseGuids,
    targetModule,
    requestedAction,
    reasonCodes,
    threshold,
  } = example;
  const { name, value, unit } = observedMetric;
  const policy = {
    id: example.analysisPolicyId,
    version: example.analysisPolicyVersion,
    visibility: 'tenant' as const,
    formulaVersion: 'alignment-v1' as const,
    triggers: [
      {
        metric: 'item_difficulty' as const,
        observed: { name, unit },
        threshold,
        targetModule,
        requestedAction,
        reasonCodes,
        requiredSubjects: ['qtiItemId' as const],
      },
    ],
    checksum: '0'.repeat(64),
  };
  const [order] = deriveMetricOrders(
    { tenantId: run.tenantId, administrationId, contentTestSpecId, contentTestSpecVersion, policy },
    { ref: evidenceRefs[0]!.resourceId, sha256: '5f'.repeat(32) },
    {
      kind: 'metric',
      tenantId: run.tenantId,
      artifactRef: evidenceRefs[0]!.resourceId,
      administrationId,
      contentTestSpecId,
      contentTestSpecVersion,
      metric: 'item_difficulty',
      formulaVersion: 'classical-2',
      populationCount: 412,
      sampleCount: 405,
      suppression: { status: 'not_suppressed', rule: null },
      analysisWindow: null,
      rows: [{ qtiItemId, qtiFormId, qtiTestId, caseGuids, measures: [{ name, value, unit }] }],
    },
  ).orders;
  if (order === undefined) throw new Error('the example asks for no order');
  return order;
}
