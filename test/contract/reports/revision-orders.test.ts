import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { localTenantIds } from '#local/seeds/tenants.ts';
import { revisionOrderPage } from '#shared/contract/reports/revision-order.ts';
import type { RevisionOrder } from '#shared/contract/reports/revision-order.ts';
import { listRevisionOrders } from '#shared/contract/reports/routes/list-revision-orders.ts';
import type { RunKey } from '#shared/improvement/records.ts';
import { openImprovementRuns, type ImprovementRuns } from '#test/support/improvement-runs.ts';
import { openPublishedContract } from '#test/support/published-contract.ts';
import { reportsAnswerOf } from '#test/support/reports-call.ts';
import { useTestStack } from '#test/support/stack.ts';
import { expectedOrders, type Grounds } from './expected-improvement.ts';

// Revision orders over whole functions, held against what the owners hold and what the receivers have taken.

const conforms = openPublishedContract('reports');

const stack = useTestStack();
const tenants = new Map<string, ImprovementRuns>();
beforeEach(() => stack.control('POST', 'reset'));
afterEach(async () => {
  await stack.control('DELETE', 'faults');
  stack.improvement.resume();
  await stack.improvement.settled();
});

function runsOf(tenantId: string): ImprovementRuns {
  const runs = tenants.get(tenantId) ?? openImprovementRuns(stack, tenantId);
  tenants.set(tenantId, runs);
  return runs;
}
const aurora = (): ImprovementRuns => runsOf('tenant-aurora');

/** One page, held against what is published of it. */
async function page({ tenantId, improvementRunId }: RunKey, query = '') {
  const reply = await runsOf(tenantId).caller.call(listRevisionOrders, {
    tenantId,
    path: { improvementRunId },
    query,
  });
  expect(reportsAnswerOf(reply)).toBe('200');
  conforms(listRevisionOrders, reply);
  return revisionOrderPage.parse(JSON.parse(reply.text));
}

/** All orders of a run that fit on one page. */
async function ordersOf(run: RunKey): Promise<readonly RevisionOrder[]> {
  const { data, nextCursor } = await page(run, '?limit=100');
  expect(nextCursor).toBeNull();
  return data;
}

async function completed(tenantId: string, name: string): Promise<RunKey> {
  const runs = runsOf(tenantId);
  const run = await runs.analyze(runs.administration(name));
  await stack.improvement.settled();
  return run;
}

/** What the owners hold for an administration. */
function groundsOf(tenantId: string, name: string): Grounds {
  const { analysis, artifactOf, sources, sourceSet: targets } = runsOf(tenantId).held(name);
  return {
    policy: stack.seededTenants.get(tenantId)!.analysisPolicy.document,
    metrics: analysis.metrics.flatMap(({ metric, status }) =>
      status === 'available' ? (artifactOf(metric) ?? []) : [],
    ),
    sources: sources.map(({ crosswalk, comparison }) => ({
      ...{ crosswalk, targets },
      comparison: comparison ?? undefined,
    })),
  };
}

describe.each(localTenantIds)('the orders of %s', (tenantId) => {
  it.each(['spring-gate', 'school-gate', 'normed-diagnostic', 'refused-by-bank'])(
    'are one for each observed value beyond a threshold that names what it takes, and no other: %s [RP-159, RP-191, RP-192, RP-193, RP-195, RP-196, RP-197, RP-198, RP-199, RP-201, RP-202, RP-274]',
    async (name) => {
      const grounds = groundsOf(tenantId, name);
      const run = await completed(tenantId, name);
      const orders = await ordersOf(run);
      const { document } = stack.seededTenants.get(tenantId)!.analysisPolicy;
      const given = {
        improvementRunId: run.improvementRunId,
        administrationId: runsOf(tenantId).administration(name),
        contentTestSpecId: (await runsOf(tenantId).read(run)).contentTestSpecId,
        analysisPolicyId: document.id,
        analysisPolicyVersion: document.version,
      };
      const wanted = expectedOrders(grounds).flatMap(
        ({ withheld, trigger, value, evidence, ...subjects }) => {
          const { observed, threshold, targetModule, requestedAction, reasonCodes } =
            document.triggers[trigger]!;
          const { operator, value: limit } = threshold;
          const about = {
            ...{ targetModule, requestedAction, reasonCodes, evidence, ...subjects, ...given },
            observedMetric: { name: observed.name, value, unit: observed.unit },
            threshold: { operator, value: limit },
          };
          return withheld === undefined ? [about] : [];
        },
      );
      expect(wanted.length).toBeGreaterThan(0);
      const shown = orders.map(({ evidenceRefs, ...order }) => ({
        evidence: evidenceRefs.map(({ resourceId }) => resourceId),
        ...order,
      }));
      expect(shown).toHaveLength(wanted.length);
      expect(shown).toEqual(
        expect.arrayContaining(wanted.map((one) => expect.objectContaining(one) as unknown)),
      );
    },
  );
});

const statusesOf = (orders: readonly RevisionOrder[]): ReadonlySet<string> =>
  new Set(orders.map(({ targetModule, status }) => `${targetModule} ${status}`));

describe('an order', () => {
  it('is the same in a second run of the same evidence, and replayed there; in a run of other evidence it supersedes the one before [RP-190, RP-203, RP-204, RP-205]', async () => {
    const first = await completed('tenant-aurora', 'spring-gate');
    const before = await ordersOf(first);
    const second = await completed('tenant-aurora', 'spring-gate');
    const again = await ordersOf(second);
    const contentOf = ({ revisionOrderId, observedMetric, threshold, caseGuids }: RevisionOrder) => ({
      revisionOrderId,
      observedMetric,
      threshold,
      caseGuids,
    });
    expect(again.map(contentOf)).toEqual(before.map(contentOf));
    expect(statusesOf(again)).toEqual(new Set(['bank replayed', 'blueprint replayed']));
    expect(again.map(({ supersedesRevisionOrderId }) => supersedesRevisionOrderId)).toEqual(
      before.map(() => null),
    );

    await aurora().publishLater(aurora().administration('spring-gate'));
    const third = await completed('tenant-aurora', 'spring-gate');
    const newer = await ordersOf(third);
    const old = new Map((await ordersOf(second)).map((order) => [order.revisionOrderId, order]));
    const superseding = newer.filter(({ supersedesRevisionOrderId }) => supersedesRevisionOrderId !== null);
    expect(superseding.length).toBeGreaterThan(0);
    for (const {
      revisionOrderId,
      supersedesRevisionOrderId,
      qtiItemId,
      qtiFormId,
      sourceKeys,
    } of superseding) {
      const { status, targetReceipt, ...superseded } = old.get(supersedesRevisionOrderId!)!;
      expect(revisionOrderId).not.toBe(supersedesRevisionOrderId);
      expect([status, targetReceipt === null]).toEqual(['superseded', false]);
      expect(superseded).toMatchObject({ qtiItemId, qtiFormId, sourceKeys });
    }
    const replaced = new Set(superseding.map(({ supersedesRevisionOrderId }) => supersedesRevisionOrderId));
    for (const run of [first, second])
      for (const { revisionOrderId, status } of await ordersOf(run))
        expect([revisionOrderId, status === 'superseded']).toEqual([
          revisionOrderId,
          replaced.has(revisionOrderId),
        ]);
  });
});
