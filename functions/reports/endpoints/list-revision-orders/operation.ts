import { composeOrder } from '#functions/reports/composition/revision-order.ts';
import { openListCursor } from '#functions/reports/cursor/cursor.ts';
import { incomplete } from '#functions/reports/facts/incomplete.ts';
import {
  evaluateEvidence,
  evidenceOf,
  type EvidenceGrounds,
} from '#functions/reports/improvement/evidence.ts';
import { pinProblem, readPinnedSourceSet, readTwice } from '#functions/reports/sources/pinned.ts';
import { together } from '#functions/reports/sources/problems.ts';
import { isSelected } from '#shared/contract/filters.ts';
import type { RevisionOrder } from '#shared/contract/reports/revision-order.ts';
import { listRevisionOrders } from '#shared/contract/reports/routes/list-revision-orders.ts';
import { mergeReceipts } from '#shared/contract/reports/source-ref.ts';
import { once } from '#shared/http/once.ts';
import type { Operation, OperationRequest } from '#shared/http/operation.ts';
import { isCompared } from '#shared/improvement/records.ts';
import type { EvidenceKey, ImprovementStore, OrderRecord, RunRecord } from '#shared/improvement/records.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import type { Problem } from '#shared/problems/problem.ts';
import type { AnalysisPolicyStore } from '#shared/records/analysis-policy-store.ts';
import { openRun, type ImprovementDependencies, type OpenedRun } from '../support/open-improvement.ts';

export interface ListRevisionOrdersDependencies extends ImprovementDependencies {
  /** The keys of cursors. */
  readonly keys: KeyRing;
  readonly policies: AnalysisPolicyStore;
}

type Place = Pick<OrderRecord, 'revisionOrderId'>;

/** The most artifacts behind the orders of one page, so that reading them again stays within the route's time and memory. */
const MOST_ARTIFACTS = 12;
/** The most records searched for a page that has rows: a filter that hardly any record passes ends it early. An empty page ends the list [RP-306]. */
const MOST_LOOKED_AT = 5_000;
const LOOKED_AT_ONCE = 500;

/** Returns one page of a run's orders. An order's content is derived again from the pinned evidence; its progress is in its record. */
export function listRevisionOrdersOperation(
  dependencies: ListRevisionOrdersDependencies,
): Operation<typeof listRevisionOrders> {
  const { keys, runs } = dependencies;
  return async (request) => {
    const keyset: readonly (keyof Place)[] = ['revisionOrderId'];
    const cursor = await openListCursor(keys, listRevisionOrders, keyset, request);
    if (!cursor.ok) return cursor;
    const opened = await openRun(dependencies, request, request.path.improvementRunId);
    if (!opened.ok) return opened;
    const { run, moment } = opened.value;
    const { records, next } = await choose(runs, run, request.query, cursor.value.after);
    const sourceSet = once(() => readTwice(() => readPinnedSourceSet(opened.value.reader, run)));
    const facts = await together({
      sourceSet: sourceSet().then((answer) => (answer.ok ? answer : err(pinProblem(answer.error)))),
      orders: deriveOrders(dependencies, { ...opened.value, sourceSet }, records),
    });
    if (!facts.ok) return facts;

    const data = records.map(({ revisionOrderId }) => {
      const order = facts.value.orders.get(revisionOrderId);
      // Pinned bytes and policy yield the same orders as for the worker.
      if (order === undefined) throw new Error('a recorded revision order is not derived again');
      return order;
    });
    const nextCursor = await cursor.value.seal(next);
    return ok({
      body: {
        data,
        nextCursor,
        hasMore: nextCursor !== null,
        observedAt: moment().observedAt,
        sources: mergeReceipts([
          facts.value.sourceSet.receipt,
          ...data.flatMap(({ evidenceRefs }) => evidenceRefs),
        ]),
      },
    });
  };
}

/**
 * Returns the next records that pass the filters, as many as the limit and the evidence of a page allow.
 * @returns `next`: the last record examined, if more follow
 */
async function choose(
  runs: ImprovementStore,
  run: RunRecord,
  query: OperationRequest<typeof listRevisionOrders>['query'],
  after: Place | undefined,
): Promise<{ readonly records: readonly OrderRecord[]; readonly next: Place | undefined }> {
  // How many artifacts have to be read to derive the orders of an evidence again.
  const artifacts = new Map(
    evidenceOf(run.pins).map((evidence) => [
      evidence.key,
      evidence.kind === 'source' && isCompared(evidence.source.comparison) ? 2 : 1,
    ]),
  );
  const chosen: OrderRecord[] = [];
  const used = new Set<EvidenceKey>();
  let last = after;
  let artifactCount = 0;
  for (let lookedAt = 0; chosen.length === 0 || lookedAt < MOST_LOOKED_AT; lookedAt += LOOKED_AT_ONCE) {
    const records = await runs.listOrders(run, {
      ...(last === undefined ? {} : { after: last.revisionOrderId }),
      limit: LOOKED_AT_ONCE,
    });
    for (const record of records) {
      if (isSelected(listRevisionOrders.request.filters, query, record)) {
        const more = used.has(record.evidence) ? 0 : (artifacts.get(record.evidence) ?? 0);
        if (chosen.length === query.limit || artifactCount + more > MOST_ARTIFACTS)
          return { records: chosen, next: last };
        artifactCount += more;
        used.add(record.evidence);
        chosen.push(record);
      }
      last = { revisionOrderId: record.revisionOrderId };
    }
    if (records.length < LOOKED_AT_ONCE) return { records: chosen, next: undefined };
  }
  const [more] =
    last === undefined ? [] : await runs.listOrders(run, { after: last.revisionOrderId, limit: 1 });
  return { records: chosen, next: more === undefined ? undefined : last };
}

/** Returns the records as orders by id, with the content that their evidence asks for. It reads nothing if there are no records. */
async function deriveOrders(
  { policies }: ListRevisionOrdersDependencies,
  { reader, run, moment, sourceSet }: OpenedRun & Pick<EvidenceGrounds, 'sourceSet'>,
  records: readonly OrderRecord[],
): Promise<Result<ReadonlyMap<string, RevisionOrder>, Problem>> {
  const orders = new Map<string, RevisionOrder>();
  const keys = new Set(records.map(({ evidence }) => evidence));
  if (keys.size === 0) return ok(orders);
  const policy = await policies.readPinned(run.tenantId, run.pins.analysisPolicy);
  if (!policy.ok || policy.value === undefined)
    return err(incomplete('unknown', 'The analysis policy that the run is pinned to cannot be read.'));
  const { value: pinned } = policy;
  const wanted = new Map(records.map((record) => [record.revisionOrderId, record]));
  const evaluated = await Promise.all(
    evidenceOf(run.pins)
      .filter(({ key }) => keys.has(key))
      .map(async (evidence) => {
        const evaluation = await evaluateEvidence({ reader, run, policy: pinned, sourceSet }, evidence);
        if (!evaluation.ok) return evaluation;
        const { observedAt } = moment();
        for (const derived of evaluation.value.derived.orders) {
          const record = wanted.get(derived.content.revisionOrderId);
          if (record !== undefined)
            orders.set(record.revisionOrderId, composeOrder({ run, record, derived }, observedAt));
        }
        return ok(undefined);
      }),
  );
  const failed = evaluated.find((evaluation) => !evaluation.ok);
  if (failed === undefined) return ok(orders);
  return err(
    failed.error.kind === 'unusable'
      ? incomplete(failed.error.service, 'Evidence that the run is pinned to cannot be evaluated.')
      : pinProblem(failed.error),
  );
}
