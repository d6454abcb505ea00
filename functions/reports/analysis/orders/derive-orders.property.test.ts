import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alignSource } from '#functions/reports/analysis/alignment/align-source.ts';
import { metrics } from '#shared/contract/reports/analysis-policy.ts';
import type { AnalysisPolicy, AnalysisTrigger } from '#shared/contract/reports/analysis-policy.ts';
import { revisionOrders } from '#shared/contract/reports/examples.ts';
import { runMetrics } from '#shared/contract/reports/improvement-run.ts';
import { MAX_SUBJECTS, orderContent, type OrderContent } from '#shared/contract/reports/order-content.ts';
import { revisionOrder } from '#shared/contract/reports/revision-order.ts';
import type { PinnedRef } from '#shared/improvement/records.ts';
import type { ComparisonArtifact, MetricArtifact } from '#shared/platform/owners/analytics.ts';
import type { AlignmentCrosswalk, AlignmentSources } from '#shared/platform/owners/content.ts';
import { checkAnalysisPolicy } from '#shared/records/check-analysis-policy.ts';
import { expectedOrders, trips } from '#test/contract/reports/expected-improvement.ts';
import {
  artifactOf,
  comparisonArtifact,
  crosswalk,
  mappingOf,
  metricArtifact,
  policyOn,
  policyWith,
  requirementOf,
  runArtifacts,
  someTargets,
  targetsOf,
} from '#test/support/improvement-facts.ts';
import { frozen, reference, tenantId, text } from '#test/support/report-facts.ts';
import { deriveMetricOrders, deriveSourceOrders, type Derived, type OrderGrounds } from './derive-orders.ts';

const sha256 = '5f'.repeat(32);
const groundsOn = (...about: readonly string[]): fc.Arbitrary<OrderGrounds> =>
  fc.record({
    tenantId: fc.constant(tenantId),
    administrationId: reference,
    contentTestSpecId: reference,
    contentTestSpecVersion: text,
    policy: policyOn(...about),
    rules: fc.constantFrom('2' as const, '3' as const),
  });

interface Case {
  readonly grounds: OrderGrounds;
  readonly metrics: readonly MetricArtifact[];
  readonly sources: readonly {
    readonly crosswalk: AlignmentCrosswalk;
    readonly comparison: ComparisonArtifact | undefined;
    readonly targets: Pick<AlignmentSources, 'slotIds' | 'caseGuids'> | undefined;
  }[];
}

/** A policy on a metric with an artifact of that metric, or on the alignment of a source with what it is aligned and compared by. */
const metricCase: fc.Arbitrary<Case> = fc.constantFrom(...runMetrics).chain((metric) =>
  fc.record({
    grounds: groundsOn(metric, 'form_summary'),
    metrics: fc.tuple(metricArtifact(metric)),
    sources: fc.constant([]),
  }),
);
const sourceCase: fc.Arbitrary<Case> = groundsOn('alignment', 'predicted_actual', 'item_difficulty').chain(
  (grounds) =>
    fc.record({
      grounds: fc.constant(grounds),
      metrics: fc.constant([]),
      sources: fc.tuple(
        fc
          .record({ crosswalk, comparison: fc.option(comparisonArtifact, { nil: undefined }) })
          .chain((source) =>
            fc.record({
              ...{ crosswalk: fc.constant(source.crosswalk), comparison: fc.constant(source.comparison) },
              targets: grounds.rules === '3' ? someTargets(source.crosswalk) : fc.constant(undefined),
            }),
          ),
      ),
    }),
);
const anyCase = fc.oneof(metricCase, sourceCase);

function derive({ grounds, metrics: [artifact], sources: [source] }: Case): Derived {
  if (artifact !== undefined)
    return deriveMetricOrders(frozen(grounds), { ref: artifact.artifactRef, sha256 }, frozen(artifact));
  const { crosswalk: value, comparison, targets } = source!;
  const alignment = alignSource(value, targets);
  if (!alignment.ok) throw new Error(alignment.error);
  return deriveSourceOrders(frozen(grounds), {
    sourceKey: value.sourceKey,
    crosswalk: { ref: value.crosswalkId, sha256 },
    alignment: frozen(alignment.value),
    ...(comparison && {
      comparison: { pin: { ref: comparison.artifactRef, sha256 }, artifact: frozen(comparison) },
    }),
  });
}

/** What is decided, in the words of what is expected; a value that is withheld is shown nowhere. */
function decided({ orders, withheld }: Derived): readonly object[] {
  return [
    ...orders.map(({ trigger, content, evidence }) => {
      const { qtiItemId, qtiFormId, qtiTestId, caseGuids, sourceKeys, observedMetric } = content;
      const about = { qtiItemId, qtiFormId, qtiTestId, caseGuids, sourceKeys };
      return { trigger, ...about, value: observedMetric.value + 0, evidence: [evidence.ref] };
    }),
    ...withheld.map(({ trigger, reason, subjects }) => ({ trigger, withheld: reason, ...subjects })),
  ];
}
const expected = ({ grounds: { policy }, ...facts }: Case): readonly object[] =>
  expectedOrders({ policy, ...facts }).map(({ value, evidence, ...decision }) =>
    decision.withheld === undefined ? { ...decision, value: value + 0, evidence } : decision,
  );

describe('the orders of a run', () => {
  it('come from policies that can be released', () => {
    fc.assert(
      fc.property(policyOn(...Object.keys(metrics)), (document) => {
        expect(checkAnalysisPolicy({ tenantId, document })).toMatchObject({ ok: true });
      }),
    );
  });

  it('are exactly what trips and names what its trigger requires, of metrics, alignments and the comparisons that can be shown [RP-159, RP-175, RP-187, RP-188, RP-195, RP-196, RP-199, RP-200, RP-202]', () => {
    fc.assert(
      fc.property(anyCase, (facts) => {
        const found = decided(derive(facts));
        const wanted = expected(facts);
        expect(found).toHaveLength(wanted.length);
        expect(found).toEqual(expect.arrayContaining(wanted as unknown[]));
      }),
      { numRuns: 600 },
    );
  });

  it('are of the contract, and as their trigger and their run have them; each has an id and a lineage of its own [RP-190, RP-191, RP-192, RP-193, RP-194, RP-197, RP-198, RP-199, RP-201]', () => {
    const { improvementRunId, evidenceRefs, createdAt, updatedAt } = revisionOrders.data[0]!;
    const life = { improvementRunId, evidenceRefs, createdAt, updatedAt, status: 'pending' };
    fc.assert(
      fc.property(anyCase, (facts) => {
        const { administrationId, contentTestSpecId, contentTestSpecVersion, policy } = facts.grounds;
        const { orders, withheld } = derive(facts);
        for (const { content, trigger, evidence, lineage } of orders) {
          expect(orderContent.parse(content)).toEqual(content);
          const whole = { ...content, ...life, targetReceipt: null, supersedesRevisionOrderId: null };
          expect(revisionOrder.safeParse(whole).error?.issues ?? []).toEqual([]);
          const { targetModule, requestedAction, reasonCodes, threshold, observed, metric } =
            policy.triggers[trigger]!;
          expect(trips(threshold, content.observedMetric.value)).toBe(true);
          expect(content).toMatchObject({
            ...{ administrationId, contentTestSpecId, contentTestSpecVersion },
            ...{ targetModule, requestedAction, reasonCodes, threshold, observedMetric: observed },
            analysisPolicyId: policy.id,
            analysisPolicyVersion: policy.version,
          });
          const service = metric === 'alignment' ? 'blueprint' : 'analytics';
          expect(evidence).toEqual({ service, ref: expect.any(String) as string, sha256 });
          expect(lineage).toMatch(/^[0-9a-f]{64}$/);
        }
        const ids = orders.map(({ content }) => content.revisionOrderId);
        expect(ids).toEqual([...new Set(ids)].toSorted());
        expect(new Set(orders.map(({ lineage }) => lineage)).size).toBe(orders.length);
        for (const id of ids) expect(id).toMatch(/^order_[0-9a-f-]{36}$/);
        const reasons = withheld.map(({ trigger }) => trigger);
        expect(reasons).toEqual(reasons.toSorted((a, b) => a - b));
      }),
      { numRuns: 300 },
    );
  });

  it('are the same in whatever order an artifact has its rows, measures and GUIDs [RP-190]', () => {
    const shuffled = metricCase.chain((facts) =>
      fc
        .tuple(
          ...facts.metrics[0]!.rows.map((row) =>
            fc
              .tuple(permuted([...row.caseGuids, ...row.caseGuids.slice(0, 1)]), permuted(row.measures))
              .map(([caseGuids, measures]) => ({ ...row, caseGuids, measures })),
          ),
        )
        .chain((rows) => permuted(rows))
        .map((rows) => ({ facts, other: { ...facts, metrics: [{ ...facts.metrics[0]!, rows }] } })),
    );
    fc.assert(
      fc.property(shuffled, ({ facts, other }) => {
        expect(derive(other)).toEqual(derive(facts));
      }),
      { numRuns: 300 },
    );
  });
});

describe('one order', () => {
  const trigger: AnalysisTrigger = {
    metric: 'item_difficulty',
    observed: { name: 'proportion_correct', unit: 'proportion' },
    threshold: { operator: 'lt', value: 0.2 },
    targetModule: 'bank',
    requestedAction: 'regenerate_item',
    reasonCodes: ['difficulty_out_of_band'],
    requiredSubjects: ['qtiItemId'],
  };
  const policy = (change: Partial<AnalysisTrigger> = {}): AnalysisPolicy =>
    policyWith([{ ...trigger, ...change }]);
  const grounds: OrderGrounds = {
    tenantId,
    administrationId: 'administration',
    contentTestSpecId: 'spec',
    contentTestSpecVersion: '12',
    policy: policy(),
    rules: '3',
  };
  const evidence: PinnedRef = { ref: 'artifact-811', sha256 };
  const row: MetricArtifact['rows'][number] = {
    qtiItemId: 'item-17',
    qtiFormId: 'form-a',
    qtiTestId: 'test-a',
    caseGuids: ['guid-1', 'guid-2'],
    measures: [{ name: 'proportion_correct', value: 0.1, unit: 'proportion' }],
  };
  const one = (
    change: Partial<OrderGrounds> = {},
    other: Partial<typeof row> = {},
    from: Partial<PinnedRef> = {},
  ) => {
    const artifact = artifactOf('item_difficulty', { rows: [{ ...row, ...other }] });
    const { orders } = deriveMetricOrders({ ...grounds, ...change }, { ...evidence, ...from }, artifact);
    expect(orders).toHaveLength(1);
    const { content, lineage } = orders[0]!;
    return { id: content.revisionOrderId, lineage, content };
  };

  it('keeps its id and its lineage permanently: receivers know it by nothing else [RP-190, RP-191, RP-192, RP-197, RP-198, RP-201]', () => {
    const content: OrderContent = {
      revisionOrderId: 'order_ac37814d-edf5-8dcd-83c1-f96ad0d8767d',
      administrationId: 'administration',
      targetModule: 'bank',
      requestedAction: 'regenerate_item',
      qtiItemId: 'item-17',
      qtiFormId: 'form-a',
      qtiTestId: 'test-a',
      contentTestSpecId: 'spec',
      contentTestSpecVersion: '12',
      caseGuids: ['guid-1', 'guid-2'],
      sourceKeys: [],
      reasonCodes: ['difficulty_out_of_band'],
      observedMetric: { name: 'proportion_correct', value: 0.1, unit: 'proportion' },
      threshold: { operator: 'lt', value: 0.2 },
      analysisPolicyId: 'thresholds',
      analysisPolicyVersion: '1',
    };
    expect(one()).toEqual({
      id: content.revisionOrderId,
      lineage: '7e0a0ec4e8d078c17ae29fb6d70143bdc25d355dba2a53624337601e8f75d636',
      content,
    });
  });

  it('sorts and hashes the GUIDs of no row that trips nothing: there may be millions of them', () => {
    const caseGuids = [...row.caseGuids];
    caseGuids[Symbol.iterator] = () => expect.fail('a list of GUIDs is read');
    const measures = [{ ...row.measures[0]!, value: 0.2 }];
    const artifact = artifactOf('item_difficulty', { rows: [{ ...row, caseGuids, measures }] });
    expect(deriveMetricOrders(grounds, evidence, artifact)).toEqual({ orders: [], withheld: [] });
  });

  const reordered = { targetModule: 'blueprint', requestedAction: 'apply_calibration_delta' } as const;
  it.each<[string, ReturnType<typeof one>, boolean]>([
    ['another tenant', one({ tenantId: 'tenant-2' }), false],
    ['another administration', one({ administrationId: 'administration-2' }), false],
    ['another target and action', one({ policy: policy(reordered) }), false],
    ['another action', one({ policy: policy({ requestedAction: 'rotate_item' }) }), false],
    ['another operator', one({ policy: policy({ threshold: { operator: 'lte', value: 0.2 } }) }), false],
    ['another item', one({}, { qtiItemId: 'item-18' }), false],
    ['another form', one({}, { qtiFormId: 'form-b' }), false],
    ['no form', one({}, { qtiFormId: null }), false],
    ['another test', one({}, { qtiTestId: 'test-b' }), false],
    ['another GUID', one({}, { caseGuids: ['guid-1', 'guid-3'] }), true],
    ['another blueprint', one({ contentTestSpecId: 'spec-2' }), true],
    ['another version of the blueprint', one({ contentTestSpecVersion: '13' }), true],
    ['another policy', one({ policy: { ...policy(), id: 'thresholds-2' } }), true],
    ['another version of the policy', one({ policy: { ...policy(), version: '2' } }), true],
    ['another threshold', one({ policy: policy({ threshold: { operator: 'lt', value: 0.3 } }) }), true],
    ['another reason', one({ policy: policy({ reasonCodes: ['miskey_evidence'] }) }), true],
    ['other bytes as evidence', one({}, {}, { sha256: '60'.repeat(32) }), true],
    ['another artifact', one({}, {}, { ref: 'artifact-812' }), true],
  ])(
    'has another id with %s, and its lineage exactly where it is about the same [RP-190, RP-205]',
    (_, other, same) => {
      expect(other.id).not.toBe(one().id);
      expect(other.lineage === one().lineage).toBe(same);
    },
  );

  it('is told by its GUIDs where its evidence names nothing else [RP-205]', () => {
    const ids = { qtiItemId: null, qtiFormId: null, qtiTestId: null };
    const lineage = (caseGuids: string[]) =>
      one({ policy: policy({ ...reordered, requiredSubjects: ['caseGuids'] }) }, { ...ids, caseGuids })
        .lineage;
    expect(lineage(['guid-1'])).toBe(lineage(['guid-1']));
    expect(lineage(['guid-1'])).not.toBe(lineage(['guid-2']));
  });
});

describe('the orders of a source', () => {
  const names = {
    administrationId: 'administration',
    contentTestSpecId: 'spec',
    contentTestSpecVersion: '12',
  };
  /** Triggers that every value of the alignment's measures trips. */
  const triggers = metrics.alignment.measures.map(({ name, unit, least }): AnalysisTrigger => ({
    metric: 'alignment',
    observed: { name, unit },
    threshold: { operator: 'gte', value: least },
    targetModule: 'blueprint',
    requestedAction: 'repair_crosswalk',
    reasonCodes: ['blueprint_coverage_defect'],
    requiredSubjects: ['sourceKeys'],
  }));
  const ordersOn = (requirements: AlignmentCrosswalk['requirements']) =>
    derive({
      grounds: { tenantId, ...names, policy: policyWith(triggers), rules: '3' },
      metrics: [],
      sources: [
        {
          crosswalk: { ...runArtifacts.crosswalk, requirements },
          comparison: undefined,
          targets: targetsOf({ requirements }),
        },
      ],
    }).orders;

  const many = (count: number) =>
    Array.from({ length: count }, (_, at) => {
      const guid = `guid-${String(at).padStart(5, '0')}`;
      return requirementOf(guid, { mappings: [mappingOf(guid, { blueprintSlotId: null })] });
    });

  it('name at most 1000 GUIDs each: a longer list is split, always alike [RP-196]', () => {
    const rows = many(2500);
    const orders = ordersOn(rows);
    expect(orders).toEqual(ordersOn(rows.toReversed()));
    const parts = orders.filter(({ trigger }) => trigger === 1).map(({ content }) => content.caseGuids);
    expect(parts.map(({ length }) => length).toSorted()).toEqual([MAX_SUBJECTS, MAX_SUBJECTS, 500]);
    expect(parts.flat().toSorted()).toEqual(rows.map(({ mappings }) => mappings[0]!.caseGuid));
    expect(new Set(orders.map(({ lineage }) => lineage)).size).toBe(orders.length);
    expect(orders.every(({ content }) => orderContent.safeParse(content).success)).toBe(true);
  });

  it('follow each other part by part when the list changes [RP-205]', () => {
    const rows = many(MAX_SUBJECTS + 1);
    const firstParts = (requirements: typeof rows) =>
      ordersOn(requirements)
        .filter(({ content }) => content.caseGuids.includes('guid-00005'))
        .map(({ lineage }) => lineage)
        .toSorted();
    expect(firstParts(rows)).toHaveLength(2);
    expect(firstParts(rows.slice(1))).toEqual(firstParts(rows));
  });
});

function permuted<T>(values: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...values], { minLength: values.length, maxLength: values.length });
}
