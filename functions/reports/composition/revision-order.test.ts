import { describe, expect, it } from 'vitest';
import { revisionOrder } from '#shared/contract/reports/revision-order.ts';
import type { OrderRecord } from '#shared/improvement/records.ts';
import { improveRun } from '#test/support/improvement-facts.ts';
import { composeOrder } from './revision-order.ts';

const { run, source, derived } = improveRun().sourceFacts;
const [order] = derived.orders;
const ids = { revisionOrderId: order!.content.revisionOrderId, lineage: order!.lineage };
const createdAt = Date.parse('2026-03-02T10:15:30.331Z');
/** The order as its receiver has not been asked yet. */
const pending: OrderRecord = {
  ...ids,
  evidence: `source:${source.sourceKey}`,
  targetModule: 'blueprint',
  status: 'pending',
  supersedesRevisionOrderId: null,
  ack: null,
  createdAt,
  updatedAt: createdAt + 1000,
};
const ack = { receiptId: 'receipt-1', version: 'v9', observedAt: createdAt + 500 };
const targetReceipt = {
  service: 'blueprint',
  resourceId: 'receipt-1',
  observedAt: '2026-03-02T10:15:30.831Z',
  version: 'v9',
  status: 'current',
};

describe('a revision order', () => {
  it.each<[title: string, record: Partial<OrderRecord>, shown: object]>([
    ['has no receipt before its acknowledgement [RP-204]', {}, { status: 'pending' }],
    ['has none while it is blocked [RP-204]', { status: 'blocked_upstream' }, { status: 'blocked_upstream' }],
    ...(['accepted', 'replayed', 'rejected'] as const).map(
      (status): [string, Partial<OrderRecord>, object] => [
        `has the receipt of its receiver once it is ${status} [RP-204, RP-219]`,
        { status, ack },
        { status, targetReceipt },
      ],
    ),
    [
      'keeps its receipt when a later one supersedes it [RP-204]',
      { status: 'superseded', ack },
      { status: 'superseded', targetReceipt },
    ],
    [
      'names the order that it supersedes [RP-205]',
      { supersedesRevisionOrderId: 'order-before' },
      { status: 'pending', supersedesRevisionOrderId: 'order-before' },
    ],
  ])('%s', (_, change, shown) => {
    const composed = composeOrder(
      { run, record: { ...pending, ...change }, derived: order! },
      '2026-03-02T11:00:00.000Z',
    );
    expect(revisionOrder.parse(composed)).toEqual(composed);
    expect(composed).toEqual({
      ...order!.content,
      improvementRunId: run.improvementRunId,
      evidenceRefs: [
        {
          service: 'blueprint',
          resourceId: source.crosswalk.ref,
          observedAt: '2026-03-02T11:00:00.000Z',
          version: `sha256:${source.crosswalk.sha256}`,
          status: 'current',
        },
      ],
      targetReceipt: null,
      supersedesRevisionOrderId: null,
      createdAt: '2026-03-02T10:15:30.331Z',
      updatedAt: '2026-03-02T10:15:31.331Z',
      ...shown,
    });
  });
});
