import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { breaking, expectForm, issuesOf } from '#test/support/changed.ts';
import type { Change } from '#test/support/changed.ts';
import { actions } from './analysis-policy.ts';
import { revisionOrders } from './examples.ts';
import { orderContent } from './order-content.ts';
import { revisionOrder, revisionOrderPage } from './revision-order.ts';

const accepted = revisionOrders.data[0]!;
const receipt = accepted.targetReceipt!;
const order = {
  accepted,
  pending: { ...accepted, status: 'pending', targetReceipt: null },
  blocked: { ...accepted, status: 'blocked_upstream', targetReceipt: null },
  replayed: { ...accepted, status: 'replayed' },
  rejected: { ...accepted, status: 'rejected' },
  superseded: { ...accepted, status: 'superseded' },
  'superseded before it was acknowledged': { ...accepted, status: 'superseded', targetReceipt: null },
  unknown: { ...accepted, status: 'unknown' },
  'unknown without receipt': { ...accepted, status: 'unknown', targetReceipt: null },
  repair: {
    ...accepted,
    targetModule: 'blueprint',
    requestedAction: 'repair_crosswalk',
    qtiItemId: null,
    sourceKeys: ['state-math-5.2025'],
    supersedesRevisionOrderId: 'order_1',
  },
  calibration: {
    ...accepted,
    targetModule: 'blueprint',
    requestedAction: 'apply_calibration_delta',
    qtiItemId: null,
    qtiFormId: null,
    qtiTestId: null,
    caseGuids: [],
  },
};

type Case = readonly [title: string, sample: keyof typeof order, change: Change];
const numbered = (length: number): string[] => Array.from({ length }, (_, at) => `id-${at}`);

describe('a revision order', () => {
  const sound = Object.keys(order) as (keyof typeof order)[];
  it.each(sound)('can be the sound %s one', (name) => {
    expect(issuesOf(revisionOrder, order[name], {})).toEqual([]);
  });

  it('has its form in every place [RP-190, RP-191, RP-195, RP-196, RP-197, RP-198, RP-199, RP-201, RP-202, RP-203, RP-204, RP-205, RP-206]', () => {
    expectForm(revisionOrder, accepted, {
      nullable: ['qtiFormId', 'qtiTestId', 'version'],
      closed: ['targetModule', 'requestedAction', 'unit', 'operator', 'status', 'service'],
    });
    for (const change of [
      { revisionOrderId: 'x'.repeat(256) },
      { qtiItemId: 'item 17' },
      { caseGuids: ['a', 'b', 'a'] },
      { caseGuids: numbered(1001) },
      { sourceKeys: ['a/b'] },
      { sourceKeys: ['a', 'a'] },
      { sourceKeys: numbered(1001) },
      { reasonCodes: [] },
      { reasonCodes: ['boring'] },
      { reasonCodes: ['miskey_evidence', 'miskey_evidence'] },
      { evidenceRefs: [] },
      { evidenceRefs: Array.from({ length: 33 }, () => receipt) },
      { 'evidenceRefs/0/value': 0.97 },
    ])
      expect([change, issuesOf(revisionOrder, accepted, change).length]).toEqual([change, 1]);
  });

  it('goes to Bank or Blueprint, and asks for something that these know [RP-192, RP-193, RP-199]', () => {
    for (const change of [
      { targetModule: 'content' },
      { requestedAction: 'delete_item' },
      { threshold: { operator: 'ne', value: 1 } },
    ])
      expect(issuesOf(orderContent, withoutLife(accepted), change)).toMatchObject([
        { code: 'invalid_value' },
      ]);
    expect(issuesOf(orderContent, withoutLife(accepted), {})).toEqual([]);
  });

  it('names as many as 1000 GUIDs and keys, and as many as 32 artifacts [RP-196, RP-202]', () => {
    expect(
      issuesOf(revisionOrder, order.repair, {
        caseGuids: numbered(1000),
        sourceKeys: numbered(1000),
        evidenceRefs: Array.from({ length: 32 }, () => receipt),
      }),
    ).toEqual([]);
  });

  it('gives at most 20 reasons [RP-197]', () => {
    const reasonCodes = Array.from({ length: 21 }, () => 'miskey_evidence');
    expect(issuesOf(revisionOrder, accepted, { reasonCodes })).toContainEqual(
      expect.objectContaining({ code: 'too_big', path: ['reasonCodes'] }),
    );
  });

  it('asks its target for nothing that the other one does [RP-193]', () => {
    for (const [requestedAction, { targetModule }] of Object.entries(actions)) {
      const whole = { ...order.repair, qtiItemId: 'item', requestedAction };
      expect(issuesOf(revisionOrder, { ...whole, targetModule }, {})).toEqual([]);
      const other = targetModule === 'bank' ? 'blueprint' : 'bank';
      expect(issuesOf(revisionOrder, { ...whole, targetModule: other }, {})).toMatchObject([
        breaking('RP-193'),
      ]);
    }
  });

  it.each<Case>([
    ['without the item that its action needs [RP-195]', 'accepted', { qtiItemId: null }],
    ['without the source that its action needs [RP-196]', 'repair', { sourceKeys: [] }],
    ['on a value that is at the threshold [RP-199]', 'accepted', { 'observedMetric/value': 0.95 }],
    [
      'on a value within a tolerance [RP-199]',
      'accepted',
      { threshold: { operator: 'outside', value: 0.97 } },
    ],
    ['accepted without a receipt [RP-204]', 'accepted', { targetReceipt: null }],
    ['replayed without a receipt [RP-204]', 'replayed', { targetReceipt: null }],
    ['rejected without a receipt [RP-204]', 'rejected', { targetReceipt: null }],
    ['acknowledged while it is pending [RP-204]', 'pending', { targetReceipt: receipt }],
    ['acknowledged while it is blocked [RP-204]', 'blocked', { targetReceipt: receipt }],
    ['changed before it was made [RP-206]', 'accepted', { updatedAt: '2026-03-02T10:15:30.330Z' }],
  ])('is not %s', (title, name, change) => {
    expect(issuesOf(revisionOrder, order[name], change)).toMatchObject([breaking(title)]);
  });

  it('may be as old as its last change [RP-206]', () => {
    expect(issuesOf(revisionOrder, accepted, { updatedAt: '2026-03-02T10:15:30.331000Z' })).toEqual([]);
  });
});

describe('a page of revision orders', () => {
  const next = { hasMore: true, nextCursor: 'next' };

  it('is sound with and without a next one, full and empty [RP-207, RP-208]', () => {
    for (const change of [{}, next, { data: [] }, { data: Array.from({ length: 100 }, () => accepted) }])
      expect(issuesOf(revisionOrderPage, revisionOrders, change)).toEqual([]);
  });

  it.each<readonly [title: string, change: Change]>([
    ['101 orders [RP-207]', { data: Array.from({ length: 101 }, () => accepted) }],
    ['an order that is none [RP-207]', { data: [{ ...accepted, reasonCodes: [] }] }],
    ['a cursor of 2049 characters [RP-208]', { ...next, nextCursor: 'x'.repeat(2049) }],
    ['an empty cursor [RP-208]', { ...next, nextCursor: '' }],
    ['no time of its composition [RP-209]', { observedAt: null }],
    ['no source [RP-007]', { sources: [] }],
    ['an undeclared member', { total: 1 }],
  ])('has not %s', (_, change) => {
    expect(issuesOf(revisionOrderPage, revisionOrders, change)).toHaveLength(1);
  });

  it('has more exactly when it has a cursor [RP-136, RP-208]', () => {
    for (const change of [{ hasMore: true }, { nextCursor: 'next' }])
      expect(issuesOf(revisionOrderPage, revisionOrders, change)).toMatchObject([breaking('RP-208')]);
  });
});

/** An order without what becomes of it. */
function withoutLife(value: z.input<typeof revisionOrder>): unknown {
  const names = new Set(Object.keys(orderContent.shape));
  return Object.fromEntries(Object.entries(value).filter(([name]) => names.has(name)));
}
