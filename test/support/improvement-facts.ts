/** Evidence, policies and records of improvement runs: whatever the contracts of their owners allow. */
import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { judgeMetric } from '#functions/reports/analysis/metrics/judge-metric.ts';
import { omissionsOf } from '#functions/reports/analysis/omissions.ts';
import {
  actions,
  analysisTrigger,
  canLackGuids,
  isBreached,
  metrics,
  reasons,
} from '#shared/contract/reports/analysis-policy.ts';
import type { AnalysisPolicy, AnalysisTrigger } from '#shared/contract/reports/analysis-policy.ts';
import { alignmentFormula, runMetrics } from '#shared/contract/reports/improvement-run.ts';
import type { RunMetric } from '#shared/contract/reports/improvement-run.ts';
import type {
  EvidenceRecord,
  OrderRecord,
  Pin,
  PinnedMetric,
  PinnedSource,
  RunProgress,
  RunRecord,
  ImprovementRunState,
} from '#shared/improvement/records.ts';
import type {
  AdministrationAnalysis,
  ComparisonArtifact,
  MetricArtifact,
} from '#shared/platform/owners/analytics.ts';
import type { AlignmentCrosswalk } from '#shared/platform/owners/content.ts';
import { documentChecksum } from '#shared/records/checksum.ts';
import { instant, reference, tenantId, text } from './report-facts.ts';

/** Values of each unit, few enough that a threshold is often met exactly. */
const figures: Readonly<Record<string, readonly number[]>> = {
  proportion: [-1, -0.3, 0, 0.2, 0.5, 0.95, 1],
  percent: [-100, -10, 0, 10, 57.142857, 100],
  points: [-12.5, 0, 0.5, 40],
  count: [0, 1, 2, 7],
};

/** Every question that a policy can ask of a metric's measure. */
const questions = (Object.keys(metrics) as AnalysisTrigger['metric'][]).flatMap((metric) =>
  metrics[metric].measures.flatMap((measure) =>
    analysisTrigger.shape.threshold.shape.operator.options.flatMap((operator) =>
      (Object.keys(actions) as AnalysisTrigger['requestedAction'][]).flatMap((requestedAction) => {
        const codes = (Object.keys(reasons) as AnalysisTrigger['reasonCodes']).filter(
          (code) => reasons[code].metrics.includes(metric) && reasons[code].actions.includes(requestedAction),
        );
        const thresholds = (figures[measure.unit] ?? []).filter(
          (value) =>
            (operator !== 'outside' || value > 0) &&
            [measure.least, measure.greatest].some((reached) => isBreached({ operator, value }, reached)),
        );
        const { subjects } = actions[requestedAction];
        const isAskable =
          codes.length > 0 &&
          thresholds.length > 0 &&
          subjects.every((subject) => metrics[metric].subjects.includes(subject));
        return isAskable ? [{ metric, measure, operator, requestedAction, codes, thresholds }] : [];
      }),
    ),
  ),
);

function triggerOf(question: (typeof questions)[number]): Arbitrary<AnalysisTrigger> {
  const { metric, measure, operator, requestedAction, codes, thresholds } = question;
  const { targetModule, subjects } = actions[requestedAction];
  return fc
    .record({
      value: fc.constantFrom(...thresholds),
      reasonCodes: fc.subarray(codes, { minLength: 1 }),
      more: fc.subarray([...metrics[metric].subjects]),
    })
    .map(({ value, reasonCodes, more }) => {
      const threshold = { operator, value };
      const wanted = canLackGuids(measure, threshold) ? more.filter((one) => one !== 'caseGuids') : more;
      return {
        metric,
        observed: { name: measure.name, unit: measure.unit },
        threshold,
        targetModule,
        requestedAction,
        reasonCodes,
        requiredSubjects: [...new Set([...subjects, ...wanted])],
      };
    });
}

/** A policy that can be released, with triggers on some of these metrics. */
export function policyOn(...about: readonly string[]): Arbitrary<AnalysisPolicy> {
  const fitting = questions.filter(({ metric }) => about.includes(metric));
  return fc
    .record({
      id: fc.constantFrom('thresholds-1', 'thresholds-2'),
      version: fc.constantFrom('1', '1.1'),
      triggers: fc
        .subarray(fitting, { minLength: 1, maxLength: 8 })
        .chain((some) => fc.tuple(...some.map(triggerOf))),
    })
    .map(({ id, version, triggers }) => {
      const document: Omit<AnalysisPolicy, 'checksum'> = {
        id,
        version,
        visibility: 'tenant',
        formulaVersion: alignmentFormula,
        triggers,
      };
      return { ...document, checksum: documentChecksum(document) };
    });
}

const sha256 = fc.stringMatching(/^[0-9a-f]{64}$/);
export const pin: Arbitrary<Pin> = fc.record({ ref: reference, sha256 });
const count = fc.nat({ max: 500 });
/** Few ids, so that rows are about the same ones, and any. */
const native = fc.oneof({ weight: 4, arbitrary: fc.constantFrom('a', 'b', '__proto__') }, reference);
const guids = fc.array(native, { maxLength: 4 });

/** An artifact of a metric: two of three without any value or unit that its measures cannot have. */
export function metricArtifact(metric: RunMetric): Arbitrary<MetricArtifact> {
  const { measures } = metrics[metric];
  const sound = fc.constantFrom(...measures).chain(({ name, unit, least, greatest }) =>
    fc.record({
      name: fc.oneof({ weight: 9, arbitrary: fc.constant(name) }, text),
      value: fc.constantFrom(...(figures[unit] ?? []).filter((value) => value >= least && value <= greatest)),
      unit: fc.constant(unit),
    }),
  );
  const any = fc.constantFrom(...measures).chain(({ name, unit }) =>
    fc.record({
      name: fc.oneof({ weight: 9, arbitrary: fc.constant(name) }, text),
      value: fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(...(figures[unit] ?? [])) },
        fc.double({ noNaN: true, noDefaultInfinity: true }),
      ),
      unit: fc.oneof({ weight: 9, arbitrary: fc.constant(unit) }, fc.constantFrom('count', 'logits')),
    }),
  );
  return fc.oneof({ weight: 2, arbitrary: artifactWith(metric, sound) }, artifactWith(metric, any));
}

function artifactWith(
  metric: RunMetric,
  measure: Arbitrary<MetricArtifact['rows'][number]['measures'][number]>,
): Arbitrary<MetricArtifact> {
  return fc.record({
    kind: fc.constant('metric'),
    tenantId: fc.constant(tenantId),
    artifactRef: reference,
    administrationId: reference,
    contentTestSpecId: reference,
    contentTestSpecVersion: text,
    metric: fc.constant(metric),
    formulaVersion: fc.option(text, { freq: 9 }),
    populationCount: fc.option(count, { freq: 9 }),
    sampleCount: fc.option(count, { freq: 9 }),
    suppression: fc.record({
      status: fc.oneof(
        { weight: 6, arbitrary: fc.constant('not_suppressed') },
        fc.constantFrom('suppressed', 'unknown', 'partly'),
      ),
      rule: fc.option(text),
    }),
    analysisWindow: fc.option(
      fc.tuple(instant, instant, fc.boolean()).map(([one, other, isTurned]) => {
        const [start = one, end = other] = [one, other].toSorted();
        return isTurned ? { start: end, end: start } : { start, end };
      }),
      { freq: 9 },
    ),
    rows: fc.array(
      fc.record({
        qtiItemId: fc.option(native),
        qtiFormId: fc.option(native),
        qtiTestId: fc.option(native),
        caseGuids: guids,
        measures: fc.array(measure, { maxLength: 4 }),
      }),
      { maxLength: 6 },
    ),
  });
}

type AnalysisEntry = AdministrationAnalysis['metrics'][number];

export function analysisEntry(metric: RunMetric): Arbitrary<AnalysisEntry> {
  return fc.record({
    metric: fc.constant(metric),
    status: fc.oneof(
      { weight: 5, arbitrary: fc.constant('available') },
      fc.constantFrom('unavailable', 'suppressed', 'stale', 'unknown', 'published'),
    ),
    artifact: fc.option(fc.record({ artifactRef: reference, sha256 }), { freq: 9 }),
  });
}

const sourceKey = fc.oneof(
  fc.constantFrom('state-math-5.2025', '~', '...'),
  fc.stringMatching(/^[a-z0-9_-]{1,8}$/),
);

export const crosswalk: Arbitrary<AlignmentCrosswalk> = fc.record({
  tenantId: fc.constant(tenantId),
  testSpecId: reference,
  testSpecVersion: text,
  crosswalkId: reference,
  version: text,
  sourceKey,
  sourceAssessment: text,
  sourceVersion: text,
  requirements: fc.uniqueArray(
    fc.record({
      sourceRequirementId: reference,
      weight: fc.constantFrom(0.1, 0.2, 1, 2.5, 1e-7),
      sourceDok: fc.integer({ min: 1, max: 4 }),
      mappings: fc.array(
        fc.record({
          caseGuid: native,
          blueprintSlotId: fc.option(native),
          targetDok: fc.option(fc.integer({ min: 1, max: 4 })),
          status: fc.constantFrom('current', 'current', 'current', 'stale', 'retired'),
        }),
        { maxLength: 2 },
      ),
    }),
    { minLength: 1, maxLength: 8, selector: ({ sourceRequirementId }) => sourceRequirementId },
  ),
});

/** Counts that a population can have, and any. */
const counts: Arbitrary<
  Pick<ComparisonArtifact, 'populationCount' | 'predictedPassCount' | 'actualPassCount' | 'agreementCount'>
> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc
      .record({ both: group(), onlyPredicted: group(), onlyActual: group(), neither: group() })
      .map(({ both, onlyPredicted, onlyActual, neither }) => ({
        populationCount: both + onlyPredicted + onlyActual + neither,
        predictedPassCount: both + onlyPredicted,
        actualPassCount: both + onlyActual,
        agreementCount: both + neither,
      })),
  },
  fc.record({
    populationCount: fc.nat({ max: 40 }),
    predictedPassCount: fc.option(fc.nat({ max: 40 }), { freq: 9 }),
    actualPassCount: fc.option(fc.nat({ max: 40 }), { freq: 9 }),
    agreementCount: fc.option(fc.nat({ max: 40 }), { freq: 9 }),
  }),
);

function group(): Arbitrary<number> {
  return fc.nat({ max: 10 });
}

const comparisonFacts = fc.record({
  kind: fc.constant('comparison' as const),
  tenantId: fc.constant(tenantId),
  artifactRef: reference,
  administrationId: reference,
  contentTestSpecId: reference,
  contentTestSpecVersion: text,
  sourceKey,
  method: text,
  analysisVersion: text,
  suppression: fc.record({
    status: fc.oneof(
      { weight: 6, arbitrary: fc.constant('not_suppressed') },
      fc.constantFrom('suppressed', 'partly'),
    ),
    rule: fc.option(text),
  }),
  qtiFormId: fc.option(native),
  qtiTestId: fc.option(native),
  caseGuids: guids,
});

export const comparisonArtifact: Arbitrary<ComparisonArtifact> = fc
  .tuple(comparisonFacts, counts)
  .map(([facts, counted]) => ({ ...facts, ...counted }));

/** A run as its records can be found, with the artifacts of its pinned metrics that can be read: all of them, unless it has failed. */
export interface RecordedRun {
  readonly progress: RunProgress;
  readonly artifacts: ReadonlyMap<RunMetric, MetricArtifact>;
}

const MAX_SOURCES = 4;
const terminalStatuses = ['accepted', 'replayed', 'rejected', 'superseded'] as const;
type Ending = 'queued' | 'analyzing' | 'blocked_upstream' | 'failed' | 'complete';

/** Orders as a run of that state can have them. */
const statusesOf: Readonly<Record<Ending, readonly OrderRecord['status'][]>> = {
  queued: [],
  analyzing: ['pending', 'blocked_upstream', ...terminalStatuses],
  blocked_upstream: ['blocked_upstream', ...terminalStatuses],
  failed: ['pending', 'blocked_upstream', ...terminalStatuses],
  complete: terminalStatuses,
};

const createdAt = Date.parse('2026-03-02T10:15:30.331Z');
/** Milliseconds from the beginning of a run: the clocks of two machines differ a little. */
const later = fc.integer({ min: -3, max: 5_000_000 });
const acknowledgement = fc.record({
  receiptId: reference,
  version: text,
  observedAt: later.map((ms) => createdAt + ms),
});

/** An order as it is recorded; `statuses` are those that it can have. */
export function orderRecord(statuses: readonly OrderRecord['status'][]): Arbitrary<OrderRecord> {
  return fc
    .record({
      revisionOrderId: fc.uuid().map((id) => `order_${id}`),
      status: fc.constantFrom(...statuses),
      targetModule: fc.constantFrom('bank' as const, 'blueprint' as const),
      lineage: sha256,
      supersedesRevisionOrderId: fc.option(fc.uuid().map((id) => `order_${id}`)),
      ack: acknowledgement,
      wasAcknowledged: fc.boolean(),
      changed: later,
    })
    .map(({ ack, wasAcknowledged, changed, ...order }) => ({
      ...order,
      evidence: 'metric:item_difficulty',
      ack:
        order.status === 'pending' ||
        order.status === 'blocked_upstream' ||
        (order.status === 'superseded' && !wasAcknowledged)
          ? null
          : ack,
      createdAt,
      updatedAt: createdAt + changed,
    }));
}

const namedSource: Arbitrary<PinnedSource> = fc.record({
  sourceKey,
  crosswalk: pin,
  comparison: fc.oneof(fc.constantFrom('missing' as const, null), pin),
});

const metricFacts = fc.tuple(
  ...runMetrics.map((metric) =>
    fc.record({
      metric: fc.constant(metric),
      entry: fc.option(analysisEntry(metric), { nil: undefined, freq: 9 }),
      artifact: fc.option(metricArtifact(metric), { nil: undefined, freq: 9 }),
      isLost: fc.boolean(),
    }),
  ),
);

export const recordedRun: Arbitrary<RecordedRun> = fc
  .constantFrom<Ending[]>('queued', 'analyzing', 'blocked_upstream', 'failed', 'complete')
  .chain((ending) =>
    fc.record({
      ending: fc.constant(ending),
      ids: fc.record({ administrationId: reference, contentTestSpecId: reference, sourceSet: pin }),
      metricFacts,
      sources: fc.uniqueArray(namedSource, {
        maxLength: MAX_SOURCES,
        selector: (source) => source.sourceKey,
      }),
      orders:
        ending === 'queued'
          ? fc.constant([])
          : fc.uniqueArray(orderRecord(statusesOf[ending]), {
              maxLength: 6,
              selector: ({ revisionOrderId }) => revisionOrderId,
            }),
      evaluated: fc.array(fc.record({ is: fc.boolean(), isOmitted: fc.boolean(), at: later }), {
        minLength: runMetrics.length + MAX_SOURCES,
        maxLength: runMetrics.length + MAX_SOURCES,
      }),
      ended: later,
      policy: policyOn('item_difficulty', 'distractor_distribution'),
      receipt: fc.record({ sha256, mediaType: fc.constant('application/json' as const) }),
    }),
  )
  .map(({ ending, ids, metricFacts: facts, sources, orders, evaluated, ended, policy, receipt }) => {
    const pinned = facts.map(({ metric, entry, artifact }): PinnedMetric =>
      judgeMetric(metric, entry, artifact, policy),
    );
    const artifacts = new Map(
      facts.flatMap(({ metric, artifact, isLost }, at) =>
        artifact === undefined || pinned[at]?.artifact === null || (ending === 'failed' && isLost)
          ? []
          : [[metric, artifact] as const],
      ),
    );
    const isWhole = ending === 'complete' || ending === 'blocked_upstream';
    const evidence: EvidenceRecord[] = [
      ...pinned
        .filter(({ status }) => status === 'available')
        .map(({ metric }) => ({ key: `metric:${metric}` as const, isDue: false })),
      ...sources.map((source) => ({
        key: `source:${source.sourceKey}` as const,
        isDue: source.comparison !== null,
      })),
    ].flatMap(({ key, isDue }, at) => {
      const found = evaluated[at];
      if (found === undefined || ending === 'queued' || (!isWhole && !found.is)) return [];
      const evaluatedAt = createdAt + found.at;
      return key.startsWith('source:')
        ? [{ key, evaluatedAt, receipt, comparisonOmitted: isDue && found.isOmitted }]
        : [{ key, evaluatedAt }];
    });
    const run: RunRecord = {
      tenantId,
      improvementRunId: 'run_6f0b4a57-9d3e-8b7f-8c1a-9e550f8e6d1c',
      administrationId: ids.administrationId,
      pins: {
        contentTestSpecId: ids.contentTestSpecId,
        contentTestSpecVersion: '12',
        analysisPolicy: { owner: 'tenant', id: 'thresholds', version: '1', checksum: receipt.sha256 },
        formulaVersion: alignmentFormula,
        rules: '2',
        sourceSet: ids.sourceSet,
        metrics: pinned,
        sources,
      },
      state: 'queued',
      createdAt,
      touchedAt: createdAt,
      sweeps: 0,
    };
    const state: ImprovementRunState =
      ending !== 'complete'
        ? ending
        : omissionsOf({ run, evidence }).length === 0
          ? 'completed'
          : 'completed_with_omissions';
    return {
      artifacts,
      progress: {
        run: {
          ...run,
          state,
          ...(ending === 'complete' || ending === 'failed' ? { completedAt: createdAt + ended } : {}),
          ...(ending === 'complete' ? { receipt } : {}),
        },
        evidence,
        orders: orders.toSorted((a, b) => (a.revisionOrderId < b.revisionOrderId ? -1 : 1)),
      },
    };
  });
