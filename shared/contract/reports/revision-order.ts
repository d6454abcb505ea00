import * as z from 'zod';
import { compareInstants } from '#shared/kernel/instant.ts';
import { actions, isBreached } from './analysis-policy.ts';
import { orderContent } from './order-content.ts';
import { areUnique, cursorWhenMore, instant, pagePlace, text } from './primitives.ts';
import { sourceRef, sources } from './source-ref.ts';

/** Every status that an order can have and a list can be filtered by [RP-203, RP-298]. */
export const orderStatus = z.enum([
  'pending',
  'accepted',
  'replayed',
  'blocked_upstream',
  'rejected',
  'superseded',
]);

/** One order of a run with its progress [RP-190..RP-206]. */
export const revisionOrder = orderContent
  .extend({
    improvementRunId: text,
    evidenceRefs: sources,
    status: z.enum([...orderStatus.options, 'unknown']),
    targetReceipt: sourceRef.nullable(),
    supersedesRevisionOrderId: text.nullable(),
    createdAt: instant,
    updatedAt: instant,
  })
  .check(
    z.refine(
      ({ requestedAction: action, targetModule: target }) => actions[action].targetModule === target,
      'the action is one of its target [RP-193]',
    ),
    z.refine(
      (order) =>
        actions[order.requestedAction].subjects.every((subject) => {
          const named = order[subject];
          return typeof named === 'string' || (named !== null && named.length > 0);
        }),
      'the order names what its action needs [RP-195, RP-196]',
    ),
    z.refine(
      ({ threshold: limit, observedMetric }) => isBreached(limit, observedMetric.value),
      'the observed value trips the threshold [RP-199]',
    ),
    z.refine(({ status, targetReceipt }) => {
      if (status === 'pending' || status === 'blocked_upstream') return targetReceipt === null;
      return targetReceipt !== null || status === 'superseded' || status === 'unknown';
    }, 'an acknowledged order, and no other, has its receipt [RP-204]'),
    z.refine(
      ({ createdAt, updatedAt }) => compareInstants(createdAt, updatedAt) <= 0,
      'nothing is changed before it is made [RP-206]',
    ),
  );
export type RevisionOrder = z.infer<typeof revisionOrder>;

/** One page of a run’s orders; every filter admits each of them. */
export const revisionOrderPage = z
  .strictObject({
    data: z
      .array(revisionOrder)
      .max(100)
      .refine(
        (rows) => areUnique(rows.map(({ revisionOrderId }) => revisionOrderId)),
        'every order has one row',
      ),
    ...pagePlace,
    observedAt: instant,
    sources,
  })
  .check(cursorWhenMore);
