/** Evidence, policies and records of improvement runs: one example of each, and whatever the contracts of their owners allow. */
import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { runBundle, sourceBundle } from '#functions/reports/analysis/bundles.ts';
import type { RunFacts, SourceFacts } from '#functions/reports/analysis/bundles.ts';
import { evaluateSource } from '#functions/reports/analysis/evaluate-source.ts';
import { evaluateMetric } from '#functions/reports/analysis/metrics/evaluate-metric.ts';
import { omissionsOf } from '#functions/reports/analysis/omissions.ts';
import { deriveMetricOrders } from '#functions/reports/analysis/orders/derive-orders.ts';
import type { Derived, OrderGrounds } from '#functions/reports/analysis/orders/derive-orders.ts';
import {
  actions,
  analysisPolicy,
  analysisTrigger,
  canLackGuids,
  isBreached,
  metrics,
  reasons,
} from '#shared/contract/reports/analysis-policy.ts';
import type { AnalysisPolicy, AnalysisTrigger } from '#shared/contract/reports/analysis-policy.ts';
import { alignmentFormula, runMetrics, type RunMetric } from '#shared/contract/reports/improvement-run.ts';
import type { Bundle } from '#shared/improvement/receipts.ts';
import { isCompared } from '#shared/improvement/records.ts';
import type {
  EvidenceKey,
  EvidenceRecord,
  NoComparison,
  OrderRecord,
  PinnedRef,
  PinnedSource,
  RunProgress,
  RunRecord,
} from '#shared/improvement/records.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { compareInstants } from '#shared/kernel/instant.ts';
import type {
  AdministrationAnalysis,
  ComparisonArtifact,
  MetricArtifact,
} from '#shared/platform/owners/analytics.ts';
import type { AlignmentCrosswalk, AlignmentSources } from '#shared/platform/owners/content.ts';
import { documentChecksum } from '#shared/records/checksum.ts';
import { instant, reference, text } from './report-facts.ts';
import { sampleAnalysisPolicyFile, sampleCrosswalkTrigger, sampleTrigger } from './sample-files.ts';

const createdAt = Date.parse('2026-03-02T10:15:30.331Z');

/** What Analytics alone may keep: these digits are in no other fact. */
export const observedValues = {
  discrimination: 0.18273645,
  population: 918_273,
  sample: 917_361,
  predicted: 827_193,
  actual: 736_281,
  agreement: 745_193,
} as const;
/** What an owner might send unasked. */
export const learner = 'learner-4d1f0c9a7e';

/** What the example is about. */
export const names = {
  tenantId: 'tenant-a',
  contentTestSpecId: 'spec-fractions-grade-5',
  contentTestSpecVersion: '12',
  administrationId: 'administration-spring-5',
};
const { tenantId } = names;
const spec = {
  tenantId,
  testSpecId: names.contentTestSpecId,
  testSpecVersion: names.contentTestSpecVersion,
};

type Requirement = AlignmentCrosswalk['requirements'][number];

/** A requirement of a source, without mappings. */
export function requirementOf(name: string, change: Partial<Requirement> = {}): Requirement {
  return { sourceRequirementId: `requirement-${name}`, weight: 1, sourceDok: 2, mappings: [], ...change };
}

/** A current mapping to a slot that demands as much as the requirement. */
export function mappingOf(
  caseGuid: string,
  change: Partial<Requirement['mappings'][number]> = {},
): Requirement['mappings'][number] {
  return { caseGuid, blueprintSlotId: `slot-of-${caseGuid}`, targetDok: 2, status: 'current', ...change };
}

/** Lists of a blueprint that has everything to which some crosswalks map. */
export function targetsOf(...crosswalks: readonly Pick<AlignmentCrosswalk, 'requirements'>[]): {
  slotIds: string[];
  caseGuids: string[];
} {
  const mappings = crosswalks.flatMap(({ requirements }) => requirements.flatMap((row) => row.mappings));
  return {
    slotIds: [...new Set(mappings.flatMap(({ blueprintSlotId }) => blueprintSlotId ?? []))],
    caseGuids: [...new Set(mappings.map(({ caseGuid }) => caseGuid))],
  };
}

const crosswalkExample: AlignmentCrosswalk = {
  ...spec,
  crosswalkId: 'crosswalk-state-math-5',
  version: '3',
  sourceKey: 'state-math-5.2025',
  sourceAssessment: 'State mathematics assessment, grade 5',
  sourceVersion: '2025',
  requirements: [
    requirementOf('5.NF.1', { weight: 2, mappings: [mappingOf('guid-1', { targetDok: 3 })] }),
    requirementOf('5.NF.2', { weight: 0.1, mappings: [mappingOf('guid-2', { targetDok: 1 })] }),
    requirementOf('5.NF.3', { weight: 0.2, mappings: [mappingOf('guid-3', { status: 'stale' })] }),
    requirementOf('5.NF.7', { weight: 1.5 }),
  ],
};

/** The complete artifact of a metric, without rows. */
export function artifactOf(metric: RunMetric, change: Partial<MetricArtifact> = {}): MetricArtifact {
  return {
    kind: 'metric',
    ...names,
    artifactRef: `artifact-${metric}`,
    metric,
    formulaVersion: 'classical-2',
    populationCount: observedValues.population,
    sampleCount: observedValues.sample,
    suppression: { status: 'not_suppressed', rule: null },
    analysisWindow: { start: '2026-02-01T00:00:00Z', end: '2026-02-28T00:00:00Z' },
    rows: [],
    ...change,
  };
}

/** A row with one measure. */
export function rowOf(
  qtiItemId: string | null,
  name: string,
  value: number,
  unit = 'proportion',
): MetricArtifact['rows'][number] {
  const row = {
    qtiItemId,
    qtiFormId: 'form-1',
    qtiTestId: 'form-1',
    caseGuids: ['guid-1'],
    measures: [{ name, value, unit }],
    candidateSourcedId: learner,
  };
  return row;
}

const comparisonExample: ComparisonArtifact = {
  kind: 'comparison',
  ...names,
  artifactRef: 'artifact-comparison',
  sourceKey: crosswalkExample.sourceKey,
  method: 'pass classification',
  analysisVersion: 'external-2',
  populationCount: observedValues.population,
  suppression: { status: 'not_suppressed', rule: null },
  predictedPassCount: observedValues.predicted,
  actualPassCount: observedValues.actual,
  agreementCount: observedValues.agreement,
  qtiFormId: 'form-1',
  qtiTestId: null,
  caseGuids: [],
};

/** The artifacts of the example run. */
export const runArtifacts = {
  crosswalk: crosswalkExample,
  comparison: comparisonExample,
  /** One item that discriminates too little, one that does not, one row without its item. */
  discrimination: artifactOf('item_discrimination', {
    rows: [
      rowOf('item-weak', 'discrimination_index', observedValues.discrimination),
      rowOf('item-strong', 'discrimination_index', 0.61234567),
      rowOf(null, 'discrimination_index', 0.01827364),
    ],
  }),
};

/** What may differ from the example run. */
export interface RunChange {
  readonly crosswalk?: AlignmentCrosswalk;
  readonly comparison?: ComparisonArtifact | NoComparison;
  readonly discrimination?: MetricArtifact;
  readonly policy?: AnalysisPolicy;
  /** What Analytics says of each metric that it has. */
  readonly metricStatus?: string;
  readonly rules?: '2' | '3';
  /** What the blueprint has. */
  readonly targets?: Pick<AlignmentSources, 'slotIds' | 'caseGuids'>;
  /** The statuses of the orders, in turn. */
  readonly orderStatuses?: readonly OrderRecord['status'][];
}

/** A complete run of one source and two available metrics, with the bytes of its evidence and its two receipts. */
export interface ImprovedRun {
  readonly sourceFacts: SourceFacts;
  readonly runFacts: RunFacts;
  readonly source: Bundle;
  readonly run: Bundle;
  /** Bytes as their owners serve them, by the ref of the artifact. */
  readonly artifacts: ReadonlyMap<string, Uint8Array>;
}

export function improveRun(change: RunChange = {}): ImprovedRun {
  const { crosswalk, comparison, discrimination } = { ...runArtifacts, ...change };
  const artifacts = new Map<string, Uint8Array>();
  const pin = (ref: string, value: unknown): PinnedRef => {
    const bytes = Buffer.from(JSON.stringify(value));
    artifacts.set(ref, bytes);
    return { ref, sha256: sha256Hex(bytes) };
  };
  const {
    policy = policyExample(),
    metricStatus = 'available',
    rules = '3',
    targets = targetsOf(crosswalk),
    orderStatuses = ['accepted', 'replayed'],
  } = change;
  const found: Partial<Record<RunMetric, MetricArtifact>> = {
    item_difficulty: artifactOf('item_difficulty', { rows: [rowOf('item-weak', 'proportion_correct', 0.5)] }),
    item_discrimination: discrimination,
    form_summary: artifactOf('form_summary', {
      populationCount: null,
      sampleCount: null,
      suppression: { status: 'suppressed', rule: 'fewer than 10 responses' },
    }),
  };
  const pinned = runMetrics.map((metric) => {
    const artifact = found[metric];
    const named = artifact === undefined ? undefined : pin(artifact.artifactRef, artifact);
    const entry = named && { artifactRef: named.ref, sha256: named.sha256 };
    return evaluateMetric(
      metric,
      { metric, status: metricStatus, artifact: entry ?? null },
      artifact,
      policy,
    );
  });
  const compared = isCompared(comparison)
    ? { pin: pin(comparison.artifactRef, comparison), artifact: comparison }
    : comparison;
  const { sourceKey, sourceAssessment, sourceVersion, crosswalkId } = crosswalk;
  const source: PinnedSource = {
    sourceKey,
    crosswalk: pin(crosswalkId, crosswalk),
    comparison: isCompared(compared) ? compared.pin : compared,
  };
  const list: AlignmentSources = {
    ...spec,
    sourceSetId: 'alignment-sources',
    version: '12',
    ...targets,
    sources: [{ sourceKey, sourceAssessment, sourceVersion, crosswalkId, sha256: source.crosswalk.sha256 }],
  };
  const { visibility: owner, id, version, checksum } = policy;
  const run: RunRecord = {
    tenantId,
    improvementRunId: 'run_6f0b4a57-9d3e-8b7f-8c1a-9e550f8e6d1c',
    administrationId: names.administrationId,
    pins: {
      contentTestSpecId: names.contentTestSpecId,
      contentTestSpecVersion: names.contentTestSpecVersion,
      analysisPolicy: { owner, id, version, checksum },
      formulaVersion: alignmentFormula,
      rules,
      sourceSet: pin(list.sourceSetId, list),
      metrics: pinned,
      sources: [source],
    },
    state: 'analyzing',
    createdAt,
    touchedAt: createdAt + 900,
    sweeps: 0,
  };
  const grounds: OrderGrounds = { ...names, policy, rules };
  const evaluated = evaluateSource(grounds, {
    sourceKey,
    crosswalk: { pin: source.crosswalk, value: crosswalk },
    comparison: compared,
    sourceSet: rules === '3' ? list : undefined,
  });
  if (!evaluated.ok) throw new Error(evaluated.error);
  const sourceFacts: SourceFacts = { run, policy, source, crosswalk, ...evaluated.value };
  const receipt = sourceBundle(sourceFacts);
  const derived = new Map<RunMetric, Derived>(
    pinned.flatMap(({ metric, status, artifact }) =>
      status === 'available' && artifact !== null
        ? [[metric, deriveMetricOrders(grounds, artifact, found[metric]!)] as const]
        : [],
    ),
  );
  const runFacts: RunFacts = {
    progress: {
      run,
      evidence: [
        { key: 'metric:item_difficulty', evaluatedAt: createdAt + 100 },
        { key: 'metric:item_discrimination', evaluatedAt: createdAt + 200 },
        {
          key: `source:${sourceKey}`,
          evaluatedAt: createdAt + 300,
          receipt: { sha256: receipt.sha256, mediaType: receipt.mediaType },
          comparisonOmitted: sourceFacts.comparisonOmitted,
        },
      ],
      orders: [
        ...[...derived].flatMap(([metric, of]) => recordsOf(`metric:${metric}`, of, orderStatuses)),
        ...recordsOf(`source:${sourceKey}`, evaluated.value.derived, orderStatuses),
      ].toSorted(byId),
    },
    policy,
    metrics: derived,
  };
  const whole = runBundle(runFacts);
  if (whole === undefined) throw new Error('the improved run has a bundle');
  return { sourceFacts, runFacts, source: receipt, run: whole, artifacts };
}

const byId = (a: OrderRecord, b: OrderRecord): number => (a.revisionOrderId < b.revisionOrderId ? -1 : 1);

function policyExample(): AnalysisPolicy {
  const { document } = sampleAnalysisPolicyFile({
    triggers: [
      sampleTrigger({ requiredSubjects: ['qtiItemId'] }),
      sampleCrosswalkTrigger(),
      sampleCrosswalkTrigger({
        metric: 'predicted_actual',
        observed: { name: 'observed_agreement', unit: 'proportion' },
        threshold: { operator: 'lt', value: 0.9 },
        reasonCodes: ['readiness_tolerance_breach'],
      }),
    ],
  }) as { document: Readonly<Record<string, unknown>> };
  return analysisPolicy.parse({ ...document, checksum: documentChecksum(document) });
}

function recordsOf(
  evidence: EvidenceKey,
  { orders }: Derived,
  statuses: readonly OrderRecord['status'][],
): OrderRecord[] {
  return orders.map(({ content: { revisionOrderId, targetModule }, lineage }, n) => ({
    revisionOrderId,
    evidence,
    targetModule,
    lineage,
    status: statuses[n % statuses.length]!,
    supersedesRevisionOrderId: null,
    ack:
      statuses[n % statuses.length] === 'superseded'
        ? null
        : { receiptId: `receipt-of-${revisionOrderId}`, version: '1', observedAt: createdAt + 500 + n },
    createdAt,
    updatedAt: createdAt + 500 + n,
  }));
}

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

/** A trigger of each question, for all of its reasons, with all subjects that it can name and a threshold that most values breach. */
export const everyTrigger: readonly AnalysisTrigger[] = questions.map(
  ({ metric, measure, operator, requestedAction, codes, thresholds }) => {
    const [least = 0, greatest = least] = [thresholds[0], thresholds.at(-1)];
    const threshold = { operator, value: operator === 'lt' || operator === 'lte' ? greatest : least };
    return {
      metric,
      observed: { name: measure.name, unit: measure.unit },
      threshold,
      targetModule: actions[requestedAction].targetModule,
      requestedAction,
      reasonCodes: codes,
      requiredSubjects: metrics[metric].subjects.filter(
        (subject) => subject !== 'caseGuids' || !canLackGuids(measure, threshold),
      ),
    };
  },
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

/** A policy of these triggers. */
export function policyWith(
  triggers: readonly AnalysisTrigger[],
  { id = 'thresholds', version = '1' } = {},
): AnalysisPolicy {
  const document: Omit<AnalysisPolicy, 'checksum'> = {
    id,
    version,
    visibility: 'tenant',
    formulaVersion: alignmentFormula,
    triggers: [...triggers],
  };
  return { ...document, checksum: documentChecksum(document) };
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
    .map(({ id, version, triggers }) => policyWith(triggers, { id, version }));
}

const sha256 = fc.stringMatching(/^[0-9a-f]{64}$/);
const pin: Arbitrary<PinnedRef> = fc.record({ ref: reference, sha256 });
const count = fc.nat({ max: 500 });
/** Few ids, so that rows are about the same ones, and any. */
const native = fc.oneof({ weight: 4, arbitrary: fc.constantFrom('a', 'b', '__proto__') }, reference);
const subjects = {
  qtiFormId: fc.option(native),
  qtiTestId: fc.option(native),
  caseGuids: fc.array(native, { maxLength: 4 }),
};
const suppression = fc.record({
  status: fc.oneof(
    { weight: 6, arbitrary: fc.constant('not_suppressed') },
    fc.constantFrom('suppressed', 'unknown', 'partly'),
  ),
  rule: fc.option(text),
});

/** Half of them in order of time, the others as they come; a few end when they start. */
const analysisWindow = fc
  .oneof(
    { weight: 9, arbitrary: fc.tuple(instant, instant) },
    instant.map((at) => [at, at] as const),
  )
  .chain(([a, b]) => fc.constantFrom([a, b], compareInstants(a, b) > 0 ? [b, a] : [a, b]))
  .map(([start, end]) => ({ start, end }));

type Row = MetricArtifact['rows'][number];

/** Numbers of learners of which the sample is some of the population. */
const sampled = fc
  .record({ sampleCount: fc.integer({ min: 1, max: 500 }), others: fc.constantFrom(0, 1, 40) })
  .map(({ sampleCount, others }) => ({ populationCount: sampleCount + others, sampleCount }));
const countsOf = (isSound: boolean) =>
  fc.oneof(
    { weight: isSound ? 9 : 3, arbitrary: sampled },
    fc.record({ populationCount: fc.option(count), sampleCount: fc.option(count) }),
  );

/** Rows without a second value of a measure for one item. */
function distinct(rows: readonly Row[]): Row[] {
  const seen = new Set<string>();
  return rows.map(({ measures, ...subjects }) => ({
    ...subjects,
    measures: measures.filter(({ name }) => {
      const guids = [...new Set(subjects.caseGuids)].toSorted();
      const key = JSON.stringify([Object.values({ ...subjects, caseGuids: guids }), name]);
      return seen.size < seen.add(key).size;
    }),
  }));
}

/** An artifact of a metric: two of three without anything in its rows that cannot be true. */
export function metricArtifact(metric: RunMetric): Arbitrary<MetricArtifact> {
  const measured = (isSound: boolean): Arbitrary<Row['measures'][number]> =>
    fc.constantFrom(...metrics[metric].measures).chain(({ name, unit, least, greatest }) => {
      const usual = figures[unit] ?? [];
      const possible = usual.filter((value) => value >= least && value <= greatest);
      const any = fc.double({ noNaN: true, noDefaultInfinity: true });
      return fc.record({
        name: fc.oneof({ weight: 9, arbitrary: fc.constant(name) }, text),
        value: isSound
          ? fc.constantFrom(...possible)
          : fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...usual, 0.5) }, any),
        unit: isSound
          ? fc.constant(unit)
          : fc.oneof({ weight: 9, arbitrary: fc.constant(unit) }, fc.constantFrom('count', 'logits')),
      });
    });
  return fc
    .constantFrom(true, true, false)
    .chain((isSound) =>
      fc.record({
        artifactRef: reference,
        formulaVersion: fc.option(text, { freq: 9 }),
        counts: countsOf(isSound),
        samplingUnit: fc.constantFrom(...[undefined, undefined, undefined, 'learners', 'responses']),
        suppression,
        analysisWindow: fc.option(analysisWindow, { freq: 9 }),
        rows: fc
          .array(
            fc.record({
              qtiItemId: fc.option(native),
              ...subjects,
              measures: fc.array(measured(isSound), { maxLength: 4 }),
            }),
            { maxLength: 6 },
          )
          .map((rows) => (isSound ? distinct(rows) : rows)),
      }),
    )
    .map(({ counts, samplingUnit, ...change }) =>
      artifactOf(metric, { ...change, ...counts, ...(samplingUnit === undefined ? {} : { samplingUnit }) }),
    );
}

export function analysisEntry(metric: RunMetric): Arbitrary<AdministrationAnalysis['metrics'][number]> {
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

const dok = fc.integer({ min: 1, max: 4 });
const mapping = fc.record({
  caseGuid: native,
  blueprintSlotId: fc.option(native),
  targetDok: fc.option(dok),
  status: fc.oneof({ arbitrary: fc.constant('current'), weight: 4 }, fc.constantFrom('stale', 'retired')),
});

export const crosswalk: Arbitrary<AlignmentCrosswalk> = fc
  .record({
    sourceKey,
    sourceAssessment: text,
    sourceVersion: text,
    requirements: fc.uniqueArray(
      fc.record({
        sourceRequirementId: reference,
        sourceDok: dok,
        mappings: fc.oneof(
          { arbitrary: fc.array(mapping, { minLength: 1, maxLength: 1 }), weight: 4 },
          fc.array(mapping, { maxLength: 3 }),
          // A list that repeats itself.
          mapping.map((one) => [one, { ...one }]),
        ),
        /** A decimal of at most 15 significant digits: its text is exactly it. */
        weight: fc
          .tuple(fc.bigInt({ min: 1n, max: 10n ** 15n - 1n }), fc.integer({ min: 0, max: 20 }))
          .map(([units, scale]) => Number(`${units}e-${scale}`)),
      }),
      { minLength: 1, maxLength: 25, selector: ({ sourceRequirementId }) => sourceRequirementId },
    ),
  })
  .map((change) => ({ ...crosswalkExample, ...change }));

/** Lists of a blueprint that has most of that to which a crosswalk maps. */
export function someTargets(value: AlignmentCrosswalk): Arbitrary<ReturnType<typeof targetsOf>> {
  const { slotIds, caseGuids } = targetsOf(value);
  const most = (ids: string[]) => fc.oneof({ weight: 2, arbitrary: fc.constant(ids) }, fc.subarray(ids));
  return fc.record({ slotIds: most(slotIds), caseGuids: most(caseGuids) });
}

/** The counts of a population that is divided into those who passed in both, in one of the two, and in neither. */
const possibleCounts = fc
  .tuple(...([0, 0, 0, 0] as const).map(() => fc.oneof(fc.constant(0), fc.nat({ max: 10 }))))
  .map(([both = 0, onlyPredicted = 0, onlyActual = 0, neither = 0]) => ({
    populationCount: both + onlyPredicted + onlyActual + neither,
    predictedPassCount: both + onlyPredicted,
    actualPassCount: both + onlyActual,
    agreementCount: both + neither,
  }));
const anyCount = fc.nat({ max: 40 });

export const comparisonArtifact: Arbitrary<ComparisonArtifact> = fc
  .tuple(
    fc.record({ artifactRef: reference, sourceKey, method: text, suppression, ...subjects }),
    fc.oneof(
      { weight: 2, arbitrary: possibleCounts },
      fc
        .tuple(possibleCounts, fc.constantFrom('predictedPassCount', 'actualPassCount', 'agreementCount'))
        .map(([counts, lacking]) => ({ ...counts, [lacking]: null })),
      fc.record({
        populationCount: anyCount,
        predictedPassCount: fc.option(anyCount, { freq: 9 }),
        actualPassCount: fc.option(anyCount, { freq: 9 }),
        agreementCount: fc.option(anyCount, { freq: 9 }),
      }),
    ),
  )
  .map(([facts, counts]) => ({ ...comparisonExample, ...facts, ...counts }));

/** A run as its records can be found, with the artifacts of its pinned metrics that can be read: all of them, unless it has failed. */
export interface RecordedRun {
  readonly progress: RunProgress;
  readonly artifacts: ReadonlyMap<RunMetric, MetricArtifact>;
}

const ended = ['accepted', 'replayed', 'rejected', 'superseded'] as const;
/** How a run stands, with the statuses that its orders can have. */
const standings = {
  queued: [],
  analyzing: ['pending', 'blocked_upstream', ...ended],
  blocked_upstream: ['blocked_upstream', ...ended],
  failed: ['pending', 'blocked_upstream', ...ended],
  complete: ended,
} as const satisfies Readonly<Record<string, readonly OrderRecord['status'][]>>;

/** A moment of a run. */
const moment = fc.integer({ min: 0, max: 5_000_000 }).map((ms) => createdAt + ms);

const namedSource: Arbitrary<PinnedSource> = fc.record({
  sourceKey,
  crosswalk: pin,
  comparison: fc.oneof(fc.constantFrom('missing' as const, 'not_analyzed' as const, null), pin),
});
const MAX_SOURCES = 4;

const { run: exampleRun, orders: exampleOrders } = improveRun().runFacts.progress;

/** An order as it is recorded, in one of these states. */
function orderRecord(statuses: readonly OrderRecord['status'][]): Arbitrary<OrderRecord> {
  return fc
    .record({ revisionOrderId: fc.uuid(), status: fc.constantFrom(...statuses) })
    .map((order) => ({ ...exampleOrders[0]!, ...order }));
}

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
  .constantFrom(...(Object.keys(standings) as (keyof typeof standings)[]))
  .chain((standing) =>
    fc.record({
      standing: fc.constant(standing),
      metricFacts,
      sources: fc.uniqueArray(namedSource, {
        maxLength: MAX_SOURCES,
        selector: (source) => source.sourceKey,
      }),
      orders:
        standing === 'queued'
          ? fc.constant([])
          : fc.uniqueArray(orderRecord(standings[standing]), {
              maxLength: 6,
              selector: ({ revisionOrderId }) => revisionOrderId,
            }),
      evaluated: fc.array(fc.record({ is: fc.boolean(), isOmitted: fc.boolean(), evaluatedAt: moment }), {
        minLength: runMetrics.length + MAX_SOURCES,
        maxLength: runMetrics.length + MAX_SOURCES,
      }),
      completedAt: moment,
      policy: policyOn('item_difficulty', 'distractor_distribution'),
      receipt: fc.record({ sha256, mediaType: fc.constant('application/json' as const) }),
    }),
  )
  .map(({ standing, metricFacts: facts, sources, orders, evaluated, completedAt, policy, receipt }) => {
    const pinned = facts.map(({ metric, entry, artifact }) =>
      evaluateMetric(metric, entry, artifact, policy),
    );
    const artifacts = new Map(
      facts.flatMap(({ metric, artifact, isLost }, at) =>
        artifact === undefined || pinned[at]?.artifact === null || (standing === 'failed' && isLost)
          ? []
          : [[metric, artifact] as const],
      ),
    );
    const isWhole = standing === 'complete' || standing === 'blocked_upstream';
    const evidence: EvidenceRecord[] = [
      ...pinned.flatMap(({ status, metric }) => (status === 'available' ? [{ metric }] : [])),
      ...sources.map((source) => ({ source })),
    ].flatMap((of, at): EvidenceRecord[] => {
      const { is, isOmitted, evaluatedAt } = evaluated[at]!;
      if (standing === 'queued' || (!isWhole && !is)) return [];
      if ('metric' in of) return [{ key: `metric:${of.metric}`, evaluatedAt }];
      const { sourceKey: key, comparison } = of.source;
      return [
        { key: `source:${key}`, evaluatedAt, receipt, comparisonOmitted: comparison !== null && isOmitted },
      ];
    });
    const run: RunRecord = { ...exampleRun, pins: { ...exampleRun.pins, metrics: pinned, sources } };
    const complete = omissionsOf({ run, evidence }).length === 0 ? 'completed' : 'completed_with_omissions';
    return {
      artifacts,
      progress: {
        run: {
          ...run,
          state: standing === 'complete' ? complete : standing,
          ...(standing === 'complete' || standing === 'failed' ? { completedAt } : {}),
          ...(standing === 'complete' ? { receipt } : {}),
        },
        evidence,
        orders: orders.toSorted(byId),
      },
    };
  });
