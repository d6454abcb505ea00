import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alignSource } from '#functions/reports/analysis/alignment/align-source.ts';
import type { Alignment } from '#functions/reports/analysis/alignment/align-source.ts';
import { showComparison } from '#functions/reports/analysis/alignment/show-comparison.ts';
import { metrics } from '#shared/contract/reports/analysis-policy.ts';
import type { AnalysisPolicy, AnalysisTrigger } from '#shared/contract/reports/analysis-policy.ts';
import { revisionOrders } from '#shared/contract/reports/examples.ts';
import { runMetrics } from '#shared/contract/reports/improvement-run.ts';
import { orderContent } from '#shared/contract/reports/order-content.ts';
import type { OrderContent } from '#shared/contract/reports/order-content.ts';
import { revisionOrder } from '#shared/contract/reports/revision-order.ts';
import type { Pin } from '#shared/improvement/records.ts';
import type { ComparisonArtifact, MetricArtifact } from '#shared/platform/owners/analytics.ts';
import type { AlignmentCrosswalk } from '#shared/platform/owners/content.ts';
import { checkAnalysisPolicy } from '#shared/records/check-analysis-policy.ts';
import { trips } from '#test/contract/reports/expected-improvement.ts';
import {
  comparisonArtifact,
  crosswalk,
  metricArtifact,
  pin,
  policyOn,
} from '#test/support/improvement-facts.ts';
import { frozen, reference, tenantId, text } from '#test/support/report-facts.ts';
import { deriveMetricOrders, deriveSourceOrders } from './derive-orders.ts';
import type { Derived, OrderGrounds, OrderSubjects } from './derive-orders.ts';

const numRuns = 300;

function groundsOn(...about: readonly string[]): fc.Arbitrary<OrderGrounds> {
  return fc.record({
    tenantId: fc.constant(tenantId),
    administrationId: reference,
    contentTestSpecId: reference,
    contentTestSpecVersion: text,
    policy: policyOn(...about),
  });
}

interface MetricCase {
  readonly grounds: OrderGrounds;
  readonly pin: Pin;
  readonly artifact: MetricArtifact;
}

/** A policy on a metric with an artifact of that metric. */
const metricCase: fc.Arbitrary<MetricCase> = fc
  .constantFrom(...runMetrics)
  .chain((metric) =>
    fc.record({ grounds: groundsOn(metric, 'form_summary'), pin, artifact: metricArtifact(metric) }),
  );

interface SourceCase {
  readonly grounds: OrderGrounds;
  readonly crosswalkPin: Pin;
  readonly comparisonPin: Pin;
  readonly value: AlignmentCrosswalk;
  readonly artifact: ComparisonArtifact | undefined;
}

const sourceCase: fc.Arbitrary<SourceCase> = fc.record({
  grounds: groundsOn('alignment', 'predicted_actual', 'item_difficulty'),
  crosswalkPin: pin,
  comparisonPin: pin,
  value: crosswalk,
  artifact: fc.option(comparisonArtifact, { nil: undefined }),
});

function ofMetric({ grounds, pin: from, artifact }: MetricCase): Derived {
  return deriveMetricOrders(frozen(grounds), from, frozen(artifact));
}

function alignmentOf(value: AlignmentCrosswalk): Alignment {
  const alignment = alignSource(value);
  if (!alignment.ok) throw new Error(alignment.error);
  return alignment.value;
}

function ofSource({ grounds, crosswalkPin, comparisonPin, value, artifact }: SourceCase): Derived {
  return deriveSourceOrders(frozen(grounds), {
    sourceKey: value.sourceKey,
    crosswalk: crosswalkPin,
    alignment: frozen(alignmentOf(value)),
    ...(artifact === undefined ? {} : { comparison: { pin: comparisonPin, artifact: frozen(artifact) } }),
  });
}

const anyDerived = fc.oneof(
  metricCase.map((facts) => ({ facts, derived: ofMetric(facts) })),
  sourceCase.map((facts) => ({ facts, derived: ofSource(facts) })),
);

/** One figure with what it is about, as the evidence has it. */
interface Figure {
  readonly metric: string;
  readonly name: string;
  readonly unit: string;
  readonly value: number;
  readonly subjects: OrderSubjects;
}

function figuresOfMetric({ artifact }: MetricCase): Figure[] {
  if (artifact.suppression.status !== 'not_suppressed') return [];
  return artifact.rows.flatMap(({ measures, caseGuids, ...ids }) =>
    measures.map((measure) => ({
      ...measure,
      metric: artifact.metric,
      subjects: { ...ids, caseGuids: [...new Set(caseGuids)].sort(), sourceKeys: [] },
    })),
  );
}

function figuresOfSource({ value, artifact }: SourceCase): Figure[] {
  const { alignmentPercent, contributions } = alignmentOf(value);
  const about = (counts: (row: Alignment['contributions'][number]) => boolean): OrderSubjects => ({
    qtiItemId: null,
    qtiFormId: null,
    qtiTestId: null,
    caseGuids: [
      ...new Set(
        contributions.filter(counts).flatMap(({ caseGuid }) => (caseGuid === null ? [] : [caseGuid])),
      ),
    ].sort(),
    sourceKeys: [value.sourceKey],
  });
  const uncovered = about(({ coverage }) => coverage === 0);
  const lower = about(({ reasonCode }) => reasonCode === 'lower_dok');
  const figures: Figure[] = [
    {
      metric: 'alignment',
      name: 'alignment_percent',
      unit: 'percent',
      value: alignmentPercent,
      subjects: about(({ coverage, rigor }) => coverage * rigor !== 1),
    },
    {
      metric: 'alignment',
      name: 'uncovered_requirements',
      unit: 'count',
      value: contributions.filter(({ coverage }) => coverage === 0).length,
      subjects: uncovered,
    },
    {
      metric: 'alignment',
      name: 'lower_dok_requirements',
      unit: 'count',
      value: contributions.filter(({ reasonCode }) => reasonCode === 'lower_dok').length,
      subjects: lower,
    },
  ];
  const comparison = artifact === undefined ? null : showComparison(artifact).comparison;
  if (artifact === undefined || comparison?.suppressionStatus !== 'not_suppressed') return figures;
  const subjects = {
    qtiItemId: null,
    qtiFormId: artifact.qtiFormId,
    qtiTestId: artifact.qtiTestId,
    caseGuids: [...new Set(artifact.caseGuids)].sort(),
    sourceKeys: [value.sourceKey],
  };
  return [
    ...figures,
    {
      metric: 'predicted_actual',
      name: 'observed_agreement',
      unit: 'proportion',
      value: comparison.observedAgreement!,
      subjects,
    },
  ];
}

/** What the figures ask for, found the long way: orders as trigger, subjects and value, and what is withheld. */
function expected({ triggers }: AnalysisPolicy, figures: readonly Figure[]) {
  const orders = new Map<string, number>();
  const withheld = new Set<string>();
  for (const [index, trigger] of triggers.entries()) {
    for (const { metric, name, unit, value, subjects } of figures) {
      if (trigger.metric !== metric || trigger.observed.name !== name) continue;
      if (unit !== trigger.observed.unit) withheld.add(keyOf(index, subjects, 'unit_mismatch'));
      else if (trips(trigger.threshold, value)) {
        const lacks = trigger.requiredSubjects.some(
          (subject) => subjects[subject] === null || subjects[subject].length === 0,
        );
        const key = keyOf(index, subjects);
        if (lacks) withheld.add(keyOf(index, subjects, 'subject_missing'));
        else orders.set(key, Math.min(value, orders.get(key) ?? Infinity));
      }
    }
  }
  return { orders, withheld };
}

function keyOf(trigger: number, subjects: OrderSubjects, reason = ''): string {
  const { qtiItemId, qtiFormId, qtiTestId, caseGuids, sourceKeys } = subjects;
  return JSON.stringify([trigger, qtiItemId, qtiFormId, qtiTestId, caseGuids, sourceKeys, reason]);
}

function found({ orders, withheld }: Derived): ReturnType<typeof expected> {
  return {
    orders: new Map(
      orders.map(({ trigger, content }) => [keyOf(trigger, content), content.observedMetric.value + 0]),
    ),
    withheld: new Set(withheld.map(({ trigger, subjects, reason }) => keyOf(trigger, subjects, reason))),
  };
}

describe('the orders of a run', () => {
  it('come from policies that can be released', () => {
    fc.assert(
      fc.property(policyOn(...Object.keys(metrics)), (document) => {
        expect(checkAnalysisPolicy({ tenantId, document })).toMatchObject({ ok: true });
      }),
    );
  });

  it('are of the contract: of its target, with the subjects of its action, and of a value that trips [RP-192, RP-193, RP-195, RP-196, RP-197, RP-198, RP-199]', () => {
    const { improvementRunId, evidenceRefs, createdAt, updatedAt } = revisionOrders.data[0]!;
    const life = { improvementRunId, evidenceRefs, createdAt, updatedAt };
    fc.assert(
      fc.property(anyDerived, ({ facts: { grounds }, derived }) => {
        for (const { content, trigger, evidence } of derived.orders) {
          expect(orderContent.parse(content)).toEqual(content);
          const whole = {
            ...content,
            ...life,
            status: 'pending',
            targetReceipt: null,
            supersedesRevisionOrderId: null,
          };
          expect(revisionOrder.safeParse(whole).error?.issues ?? []).toEqual([]);
          const asked = grounds.policy.triggers[trigger]!;
          expect(trips(asked.threshold, content.observedMetric.value)).toBe(true);
          expect(evidence.length).toBeGreaterThan(0);
        }
      }),
      { numRuns },
    );
  });

  it('say what their trigger says, on the administration, blueprint and policy of their run [RP-191, RP-194, RP-197, RP-198, RP-199, RP-201]', () => {
    fc.assert(
      fc.property(anyDerived, ({ facts: { grounds }, derived }) => {
        for (const { content, trigger } of derived.orders) {
          const { targetModule, requestedAction, reasonCodes, threshold, observed } =
            grounds.policy.triggers[trigger]!;
          const { administrationId, contentTestSpecId, contentTestSpecVersion, policy } = grounds;
          expect(content).toMatchObject({
            administrationId,
            contentTestSpecId,
            contentTestSpecVersion,
            targetModule,
            requestedAction,
            reasonCodes,
            threshold,
            observedMetric: observed,
            analysisPolicyId: policy.id,
            analysisPolicyVersion: policy.version,
          });
        }
      }),
    );
  });

  it('have ids and lineages of their own, and stand in the order of the ids [RP-190]', () => {
    fc.assert(
      fc.property(anyDerived, ({ derived: { orders } }) => {
        const ids = orders.map(({ content }) => content.revisionOrderId);
        expect(ids).toEqual([...new Set(ids)].sort());
        expect(new Set(orders.map(({ lineage }) => lineage)).size).toBe(orders.length);
        for (const { lineage } of orders) expect(lineage).toMatch(/^[0-9a-f]{64}$/);
        for (const id of ids) expect(id).toMatch(/^order_[0-9a-f-]{36}$/);
      }),
    );
  });

  it('do not repeat what is withheld, and show none of its values [RP-202]', () => {
    fc.assert(
      fc.property(anyDerived, ({ derived: { withheld } }) => {
        const keys = withheld.map(({ trigger, subjects, reason }) => keyOf(trigger, subjects, reason));
        expect(new Set(keys).size).toBe(keys.length);
        expect(withheld.map(({ trigger }) => trigger)).toEqual(
          withheld.map(({ trigger }) => trigger).sort((a, b) => a - b),
        );
        for (const each of withheld)
          expect(Object.keys(each).sort()).toEqual(['reason', 'subjects', 'trigger']);
      }),
    );
  });
});

describe('the orders of a metric', () => {
  it('are exactly what trips and names what its trigger requires [RP-159, RP-195, RP-199, RP-200]', () => {
    fc.assert(
      fc.property(metricCase, (facts) => {
        expect(found(ofMetric(facts))).toEqual(expected(facts.grounds.policy, figuresOfMetric(facts)));
      }),
      { numRuns },
    );
  });

  it('rest on the artifact of the metric [RP-202]', () => {
    fc.assert(
      fc.property(metricCase, (facts) => {
        for (const { evidence } of ofMetric(facts).orders)
          expect(evidence).toEqual([{ service: 'analytics', ...facts.pin }]);
      }),
    );
  });

  it('are the same in whatever order the artifact has its rows, measures and GUIDs [RP-190]', () => {
    const shuffled = metricCase.chain((facts) =>
      fc
        .tuple(
          ...facts.artifact.rows.map((row) =>
            fc.record({
              qtiItemId: fc.constant(row.qtiItemId),
              qtiFormId: fc.constant(row.qtiFormId),
              qtiTestId: fc.constant(row.qtiTestId),
              caseGuids: permuted([...row.caseGuids, ...row.caseGuids.slice(0, 1)]),
              measures: permuted(row.measures),
            }),
          ),
        )
        .chain((rows) => permuted(rows))
        .map((rows) => ({ facts, other: { ...facts, artifact: { ...facts.artifact, rows } } })),
    );
    fc.assert(
      fc.property(shuffled, ({ facts, other }) => {
        expect(ofMetric(other)).toEqual(ofMetric(facts));
      }),
      { numRuns },
    );
  });

  it.each(['suppressed', 'unknown', 'partly'])('are none when its rows are %s [RP-159]', (status) => {
    fc.assert(
      fc.property(metricCase, (facts) => {
        const artifact = { ...facts.artifact, suppression: { status, rule: 'rule' } };
        expect(ofMetric({ ...facts, artifact })).toEqual({ orders: [], withheld: [] });
      }),
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
  const policy = (...triggers: AnalysisTrigger[]): AnalysisPolicy => ({
    id: 'thresholds',
    version: '1',
    visibility: 'tenant',
    formulaVersion: 'alignment-v1',
    triggers,
    checksum: '0'.repeat(64),
  });
  const grounds: OrderGrounds = {
    tenantId,
    administrationId: 'administration',
    contentTestSpecId: 'spec',
    contentTestSpecVersion: '12',
    policy: policy(trigger),
  };
  const evidence: Pin = { ref: 'artifact-811', sha256: '5f'.repeat(32) };
  type Row = MetricArtifact['rows'][number];
  const row: Row = {
    qtiItemId: 'item-17',
    qtiFormId: 'form-a',
    qtiTestId: 'test-a',
    caseGuids: ['guid-1', 'guid-2'],
    measures: [{ name: 'proportion_correct', value: 0.1, unit: 'proportion' }],
  };
  const artifactOf = (...rows: Row[]): MetricArtifact => ({
    kind: 'metric',
    tenantId,
    artifactRef: evidence.ref,
    administrationId: 'administration',
    contentTestSpecId: 'spec',
    contentTestSpecVersion: '12',
    metric: 'item_difficulty',
    formulaVersion: 'classical-2',
    populationCount: 412,
    sampleCount: 405,
    suppression: { status: 'not_suppressed', rule: null },
    analysisWindow: { start: '2026-02-01T00:00:00Z', end: '2026-02-28T23:59:59Z' },
    rows,
  });
  const one = (change: Partial<OrderGrounds> = {}, other: Partial<Row> = {}, from: Partial<Pin> = {}) => {
    const { orders } = deriveMetricOrders(
      { ...grounds, ...change },
      { ...evidence, ...from },
      artifactOf({ ...row, ...other }),
    );
    expect(orders).toHaveLength(1);
    return {
      id: orders[0]!.content.revisionOrderId,
      lineage: orders[0]!.lineage,
      content: orders[0]!.content,
    };
  };

  it('is what the row, the trigger and the run say, and nothing else', () => {
    const content: OrderContent = {
      revisionOrderId: one().id,
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
    expect(one().content).toEqual(content);
    expect(one()).toEqual(one());
  });

  it('keeps its id for ever: receivers know it by nothing else [RP-190]', () => {
    expect(one()).toMatchObject({
      id: 'order_ac37814d-edf5-8dcd-83c1-f96ad0d8767d',
      lineage: '7e0a0ec4e8d078c17ae29fb6d70143bdc25d355dba2a53624337601e8f75d636',
    });
  });

  const reordered = {
    ...trigger,
    targetModule: 'blueprint',
    requestedAction: 'apply_calibration_delta',
  } as const satisfies AnalysisTrigger;
  const otherwise: Readonly<
    Record<string, readonly [changed: ReturnType<typeof one>, isAboutTheSame: boolean]>
  > = {
    'another tenant': [one({ tenantId: 'tenant-2' }), false],
    'another administration': [one({ administrationId: 'administration-2' }), false],
    'another target and action': [one({ policy: policy(reordered) }), false],
    'another action': [one({ policy: policy({ ...trigger, requestedAction: 'rotate_item' }) }), false],
    'another operator': [
      one({ policy: policy({ ...trigger, threshold: { operator: 'lte', value: 0.2 } }) }),
      false,
    ],
    'another item': [one({}, { qtiItemId: 'item-18' }), false],
    'another form': [one({}, { qtiFormId: 'form-b' }), false],
    'no form': [one({}, { qtiFormId: null }), false],
    'another test': [one({}, { qtiTestId: 'test-b' }), false],
    'another GUID': [one({}, { caseGuids: ['guid-1', 'guid-3'] }), true],
    'another blueprint': [one({ contentTestSpecId: 'spec-2' }), true],
    'another version of the blueprint': [one({ contentTestSpecVersion: '13' }), true],
    'another policy': [one({ policy: { ...policy(trigger), id: 'thresholds-2' } }), true],
    'another version of the policy': [one({ policy: { ...policy(trigger), version: '2' } }), true],
    'another threshold': [
      one({ policy: policy({ ...trigger, threshold: { operator: 'lt', value: 0.3 } }) }),
      true,
    ],
    'another reason': [one({ policy: policy({ ...trigger, reasonCodes: ['miskey_evidence'] }) }), true],
    'other bytes as evidence': [one({}, {}, { sha256: '60'.repeat(32) }), true],
    'another artifact': [one({}, {}, { ref: 'artifact-812' }), true],
  };

  it.each(Object.entries(otherwise))('has another id with %s [RP-190]', (_, [other]) => {
    expect(other.id).not.toBe(one().id);
  });

  it.each(Object.entries(otherwise))(
    'is told by its lineage to be about the same or not, with %s [RP-205]',
    (_, [other, same]) => {
      expect(other.lineage === one().lineage).toBe(same);
    },
  );

  it('is asked for once by rows about the same, with the least of their values that trip [RP-190]', () => {
    const rows = [0.5, 0.15, 0.05, 0.1].map((value) => ({
      ...row,
      measures: [{ name: 'proportion_correct', value, unit: 'proportion' }],
    }));
    const { orders } = deriveMetricOrders(grounds, evidence, artifactOf(...rows));
    expect(orders.map(({ content }) => [content.revisionOrderId, content.observedMetric.value])).toEqual([
      [one().id, 0.05],
    ]);
  });

  it('is one of its lineage in its run, also where rows differ in nothing but their GUIDs [RP-205]', () => {
    const [first, second] = [row, { ...row, caseGuids: ['guid-3'] }];
    const { orders } = deriveMetricOrders(grounds, evidence, artifactOf(second, first));
    const lineageOf = (guids: readonly string[]) =>
      orders.find(({ content }) => content.caseGuids.join() === guids.join())?.lineage;
    expect(lineageOf(first.caseGuids)).toBe(one().lineage);
    expect(lineageOf(second.caseGuids)).not.toBe(one().lineage);
  });

  it('is told by its GUIDs where its evidence names nothing else [RP-205]', () => {
    const delta: AnalysisTrigger = { ...reordered, requiredSubjects: ['caseGuids'] };
    const nothing = { qtiItemId: null, qtiFormId: null, qtiTestId: null };
    const lineage = (caseGuids: string[]) =>
      one({ policy: policy(delta) }, { ...nothing, caseGuids }).lineage;
    expect(lineage(['guid-1'])).toBe(lineage(['guid-1']));
    expect(lineage(['guid-1'])).not.toBe(lineage(['guid-2']));
  });

  it('is withheld when its value has another unit, whether it trips or not [RP-198]', () => {
    const measures = [{ name: 'proportion_correct', value: 10, unit: 'percent' }];
    expect(deriveMetricOrders(grounds, evidence, artifactOf({ ...row, measures }))).toMatchObject({
      orders: [],
      withheld: [{ trigger: 0, reason: 'unit_mismatch', subjects: { qtiItemId: 'item-17' } }],
    });
  });

  it('is withheld when it lacks a subject that the policy requires, and only when it trips [RP-195]', () => {
    const strict = policy({ ...trigger, requiredSubjects: ['qtiItemId', 'caseGuids'] });
    const derived = (other: Partial<Row>) =>
      deriveMetricOrders({ ...grounds, policy: strict }, evidence, artifactOf({ ...row, ...other }));
    for (const other of [{ qtiItemId: null }, { caseGuids: [] }])
      expect(derived(other)).toMatchObject({
        orders: [],
        withheld: [{ trigger: 0, reason: 'subject_missing', subjects: other }],
      });
    const measures = [{ name: 'proportion_correct', value: 0.2, unit: 'proportion' }];
    expect(derived({ qtiItemId: null, measures })).toEqual({ orders: [], withheld: [] });
  });
});

describe('the orders of a source', () => {
  it('are exactly what trips of its alignment and of the comparison that can be shown [RP-175, RP-187, RP-195, RP-199]', () => {
    fc.assert(
      fc.property(sourceCase, (facts) => {
        expect(found(ofSource(facts))).toEqual(expected(facts.grounds.policy, figuresOfSource(facts)));
      }),
      { numRuns },
    );
  });

  it('rest on the crosswalk or on the comparison, whichever they look at [RP-202]', () => {
    fc.assert(
      fc.property(sourceCase, (facts) => {
        for (const { trigger, evidence } of ofSource(facts).orders) {
          const isCompared = facts.grounds.policy.triggers[trigger]!.metric === 'predicted_actual';
          expect(evidence).toEqual([
            isCompared
              ? { service: 'analytics', ...facts.comparisonPin }
              : { service: 'blueprint', ...facts.crosswalkPin },
          ]);
        }
      }),
    );
  });

  it('differ between two administrations of one blueprint, which share their crosswalk [RP-190]', () => {
    fc.assert(
      fc.property(sourceCase, (facts) => {
        const idsOf = ({ orders }: Derived) => orders.map(({ content }) => content.revisionOrderId);
        const administrationId = `${facts.grounds.administrationId.slice(0, 20)}+`;
        const ids = new Set(idsOf(ofSource(facts)));
        const others = idsOf(ofSource({ ...facts, grounds: { ...facts.grounds, administrationId } }));
        expect(others).toHaveLength(ids.size);
        expect(others.filter((id) => ids.has(id))).toEqual([]);
      }),
    );
  });

  /** A policy that every value of these measures trips. */
  const every = (
    metric: 'alignment' | 'predicted_actual',
    requestedAction: 'repair_crosswalk',
  ): AnalysisPolicy => ({
    id: 'thresholds',
    version: '1',
    visibility: 'tenant',
    formulaVersion: 'alignment-v1',
    triggers: metrics[metric].measures.map(({ name, unit, least }) => ({
      metric,
      observed: { name, unit },
      threshold: { operator: 'gte', value: least },
      targetModule: 'blueprint',
      requestedAction,
      reasonCodes: [metric === 'alignment' ? 'blueprint_coverage_defect' : 'readiness_tolerance_breach'],
      requiredSubjects: ['sourceKeys'],
    })),
    checksum: '0'.repeat(64),
  });
  const source = (
    policy: AnalysisPolicy,
    requirements: AlignmentCrosswalk['requirements'],
    artifact?: ComparisonArtifact,
  ) =>
    ofSource({
      grounds: {
        tenantId,
        administrationId: 'administration',
        contentTestSpecId: 'spec',
        contentTestSpecVersion: '12',
        policy,
      },
      crosswalkPin: { ref: 'crosswalk', sha256: '5f'.repeat(32) },
      comparisonPin: { ref: 'comparison', sha256: '60'.repeat(32) },
      value: {
        tenantId,
        testSpecId: 'spec',
        testSpecVersion: '12',
        crosswalkId: 'crosswalk',
        version: '1',
        sourceKey: 'state-math',
        sourceAssessment: 'State mathematics',
        sourceVersion: '2025',
        requirements,
      },
      artifact,
    });
  const requirement = (at: number, targetDok: number | null) => ({
    sourceRequirementId: `requirement-${at}`,
    weight: 1,
    sourceDok: 3,
    mappings: [
      {
        caseGuid: `guid-${String(at).padStart(5, '0')}`,
        blueprintSlotId: 'slot',
        targetDok,
        status: 'current',
      },
    ],
  });
  const shown = ({ orders }: Derived) =>
    Object.fromEntries(
      orders.map(
        ({
          content: {
            observedMetric: { name, value, unit },
            caseGuids,
          },
        }) => [name, [value, unit, caseGuids]],
      ),
    );

  it('look at every measure of the alignment, each about the standards that it counts', () => {
    const rows = [
      requirement(0, 3),
      requirement(1, 2),
      requirement(2, null),
      { ...requirement(3, 3), mappings: [] },
    ];
    expect(shown(source(every('alignment', 'repair_crosswalk'), rows))).toEqual({
      alignment_percent: [25, 'percent', ['guid-00001', 'guid-00002']],
      uncovered_requirements: [2, 'count', ['guid-00002']],
      lower_dok_requirements: [1, 'count', ['guid-00001']],
    });
  });

  const compared: ComparisonArtifact = {
    kind: 'comparison',
    tenantId,
    artifactRef: 'comparison',
    administrationId: 'administration',
    contentTestSpecId: 'spec',
    contentTestSpecVersion: '12',
    sourceKey: 'state-math',
    method: 'pass classification',
    analysisVersion: 'external-2',
    populationCount: 3,
    suppression: { status: 'not_suppressed', rule: null },
    predictedPassCount: 1,
    actualPassCount: 3,
    agreementCount: 1,
    qtiFormId: 'form-a',
    qtiTestId: 'test-a',
    caseGuids: ['guid-2', 'guid-1', 'guid-2'],
  };

  it('look at the agreement of the comparison, half up at the sixth digit [RP-188, RP-198]', () => {
    const policy = every('predicted_actual', 'repair_crosswalk');
    expect(shown(source(policy, [requirement(0, 3)], compared))).toEqual({
      observed_agreement: [0.333333, 'proportion', ['guid-1', 'guid-2']],
    });
  });

  /** As it was released while the difference of two pass rates was calculated. */
  const calculated: AnalysisPolicy = {
    ...every('predicted_actual', 'repair_crosswalk'),
    triggers: [
      {
        metric: 'predicted_actual',
        observed: { name: 'pass_rate_difference', unit: 'percent' },
        threshold: { operator: 'outside', value: 10 },
        targetModule: 'blueprint',
        requestedAction: 'repair_crosswalk',
        reasonCodes: ['readiness_tolerance_breach'],
        requiredSubjects: ['sourceKeys'],
      },
    ],
  };

  it('are none by a trigger on what is calculated no more: it is withheld, tripped or not [RP-031, RP-159]', () => {
    for (const change of [{}, { actualPassCount: 1, agreementCount: 3 }])
      expect(source(calculated, [requirement(0, 3)], { ...compared, ...change })).toMatchObject({
        orders: [],
        withheld: [{ trigger: 0, reason: 'not_judged', subjects: { sourceKeys: ['state-math'] } }],
      });
    expect(source(calculated, [requirement(0, 3)])).toEqual({ orders: [], withheld: [] });
  });

  it('name no GUID where what has tripped has none, whatever an earlier policy demands [RP-196]', () => {
    const policy = every('alignment', 'repair_crosswalk');
    const demanding = {
      ...policy,
      triggers: policy.triggers.map((trigger) => ({
        ...trigger,
        requiredSubjects: ['sourceKeys' as const, 'caseGuids' as const],
      })),
    };
    const unmapped = [{ ...requirement(0, 3), mappings: [] }];
    const about = (trigger: number) => ({ trigger, content: { caseGuids: [], sourceKeys: ['state-math'] } });
    const { orders, withheld } = source(demanding, unmapped);
    expect(orders.toSorted((a, b) => a.trigger - b.trigger)).toMatchObject([0, 1, 2].map(about));
    expect(withheld).toEqual([]);
  });

  it.each<[string, Partial<ComparisonArtifact>]>([
    ['suppressed', { suppression: { status: 'suppressed', rule: 'rule' } }],
    ['perhaps suppressed', { suppression: { status: 'partly', rule: null } }],
    ['of nobody', { populationCount: 0, predictedPassCount: 0, actualPassCount: 0, agreementCount: 0 }],
    ['without a count', { actualPassCount: null }],
  ])('look at no comparison that is %s [RP-175, RP-187]', (_, change) => {
    const policy = every('predicted_actual', 'repair_crosswalk');
    expect(source(policy, [requirement(0, 3)], { ...compared, ...change })).toEqual({
      orders: [],
      withheld: [],
    });
  });

  it('name at most 1000 GUIDs each: a longer list is split, always alike [RP-196]', () => {
    const policy = every('alignment', 'repair_crosswalk');
    const rows = Array.from({ length: 2500 }, (_, at) => requirement(at, null));
    const { orders } = source(policy, rows);
    expect(orders).toEqual(source(policy, rows.toReversed()).orders);
    const parts = orders.filter(({ trigger }) => trigger === 1).map(({ content }) => content.caseGuids);
    expect(parts.map(({ length }) => length).sort((a, b) => a - b)).toEqual([500, 1000, 1000]);
    expect(parts.flat().sort()).toEqual(rows.map(({ mappings }) => mappings[0]!.caseGuid));
    expect(new Set(orders.map(({ lineage }) => lineage)).size).toBe(orders.length);
    expect(orders.every(({ content }) => orderContent.safeParse(content).success)).toBe(true);
  });

  it('follow each other part by part when the list changes [RP-205]', () => {
    const policy = every('alignment', 'repair_crosswalk');
    const rows = Array.from({ length: 1001 }, (_, at) => requirement(at, null));
    const firstParts = (requirements: typeof rows) =>
      source(policy, requirements)
        .orders.filter(({ content }) => content.caseGuids.includes('guid-00005'))
        .map(({ lineage }) => lineage)
        .sort();
    expect(firstParts(rows)).toHaveLength(2);
    expect(firstParts(rows.slice(1))).toEqual(firstParts(rows));
  });
});

function permuted<T>(values: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...values], { minLength: values.length, maxLength: values.length });
}
