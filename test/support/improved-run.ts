import { runBundle } from '#functions/reports/analysis/bundles/run-bundle.ts';
import type { RunFacts } from '#functions/reports/analysis/bundles/run-bundle.ts';
import { sourceBundle } from '#functions/reports/analysis/bundles/source-bundle.ts';
import type { SourceFacts } from '#functions/reports/analysis/bundles/source-bundle.ts';
import { judgeSource } from '#functions/reports/analysis/judge-source.ts';
import { judgedRows } from '#functions/reports/analysis/metrics/judge-metric.ts';
import { deriveMetricOrders } from '#functions/reports/analysis/orders/derive-orders.ts';
import type { Derived, OrderGrounds } from '#functions/reports/analysis/orders/derive-orders.ts';
import { analysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import type { RunMetric } from '#shared/contract/reports/improvement-run.ts';
import type { Bundle } from '#shared/improvement/receipts.ts';
import type { EvidenceKey, OrderRecord, Pin, PinnedSource, RunRecord } from '#shared/improvement/records.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import type { AlignmentCrosswalk, AlignmentSources } from '#shared/platform/owners/content.ts';
import type { ComparisonArtifact, MetricArtifact } from '#shared/platform/owners/analytics.ts';
import { documentChecksum } from '#shared/records/checksum.ts';
import { sampleAnalysisPolicyFile, sampleCrosswalkTrigger, sampleTrigger } from './sample-files.ts';

const START = Date.parse('2026-03-02T10:15:30.331Z');

/** What Analytics has measured and nobody but Analytics may keep: no digits of these stand anywhere else. */
export const observedValues = {
  discrimination: 0.18273645,
  population: 918_273,
  sample: 917_361,
  predicted: 827_193,
  actual: 736_281,
  agreement: 745_193,
} as const;
/** What an owner might send though nobody asks for it. */
export const learner = 'learner-4d1f0c9a7e';

const names = {
  tenantId: 'tenant-a',
  contentTestSpecId: 'spec-fractions-grade-5',
  contentTestSpecVersion: '12',
  administrationId: 'administration-spring-5',
};

const requirement = (
  name: string,
  weight: number,
  mappings: AlignmentCrosswalk['requirements'][number]['mappings'],
): AlignmentCrosswalk['requirements'][number] => ({
  sourceRequirementId: `requirement-${name}`,
  weight,
  sourceDok: 2,
  mappings,
});
const mapping = (caseGuid: string, targetDok: number, status = 'current') => ({
  caseGuid,
  blueprintSlotId: `slot-of-${caseGuid}`,
  targetDok,
  status,
});

const crosswalk: AlignmentCrosswalk = {
  tenantId: names.tenantId,
  testSpecId: names.contentTestSpecId,
  testSpecVersion: names.contentTestSpecVersion,
  crosswalkId: 'crosswalk-state-math-5',
  version: '3',
  sourceKey: 'state-math-5.2025',
  sourceAssessment: 'State mathematics assessment, grade 5',
  sourceVersion: '2025',
  requirements: [
    requirement('5.NF.1', 2, [mapping('guid-1', 3)]),
    requirement('5.NF.2', 0.1, [mapping('guid-2', 1)]),
    requirement('5.NF.3', 0.2, [mapping('guid-3', 2, 'stale')]),
    requirement('5.NF.7', 1.5, []),
  ],
};

const metricOf = (metric: RunMetric, change: Partial<MetricArtifact> = {}): MetricArtifact => ({
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
});

const row = (qtiItemId: string | null, name: string, value: number) => ({
  qtiItemId,
  qtiFormId: 'form-1',
  qtiTestId: 'form-1',
  caseGuids: ['guid-1'],
  measures: [{ name, value, unit: 'proportion' }],
  candidateSourcedId: learner,
});

/** One item that tells nobody apart, one that does, one row without its item. */
const discrimination = metricOf('item_discrimination', {
  rows: [
    row('item-weak', 'discrimination_index', observedValues.discrimination),
    row('item-strong', 'discrimination_index', 0.61234567),
    row(null, 'discrimination_index', 0.01827364),
  ],
});

const comparison: ComparisonArtifact = {
  kind: 'comparison',
  ...names,
  artifactRef: 'artifact-comparison',
  sourceKey: crosswalk.sourceKey,
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

/** The artifacts of the run, to be changed. */
export const runArtifacts = { crosswalk, comparison, discrimination };

/** What may be otherwise than it is there. */
export interface RunChange {
  readonly crosswalk?: AlignmentCrosswalk;
  readonly comparison?: ComparisonArtifact | 'missing' | null;
  readonly discrimination?: MetricArtifact;
}

/** A complete run of one source and two available metrics, with the bytes of everything that it rests on and its two receipts. */
export interface ImprovedRun {
  readonly sourceFacts: SourceFacts;
  readonly runFacts: RunFacts;
  readonly source: Bundle;
  readonly run: Bundle;
  /** Bytes as their owners serve them, by the ref of the artifact. */
  readonly artifacts: ReadonlyMap<string, Uint8Array>;
}

export function improveRun(change: RunChange = {}): ImprovedRun {
  const artifacts = new Map<string, Uint8Array>();
  const pin = (ref: string, value: unknown): Pin => {
    const bytes = Buffer.from(JSON.stringify(value));
    artifacts.set(ref, bytes);
    return { ref, sha256: sha256Hex(bytes) };
  };
  const made = { ...runArtifacts, ...change };
  const policy = policyOf();
  const available = (artifact: MetricArtifact, metric: RunMetric) => {
    const judged = judgedRows(metric, artifact.rows, policy);
    if (judged === 'none') throw new Error('no row of the metric can be judged');
    return {
      metric,
      status: 'available',
      reasonCode: null,
      artifact: pins[metric as 'item_difficulty' | 'item_discrimination'],
      judged,
    } as const;
  };
  const difficulty = metricOf('item_difficulty', { rows: [row('item-weak', 'proportion_correct', 0.5)] });
  const suppressed = metricOf('form_summary', {
    populationCount: null,
    sampleCount: null,
    suppression: { status: 'suppressed', rule: 'fewer than 10 responses' },
  });
  const pins = {
    item_difficulty: pin(difficulty.artifactRef, difficulty),
    item_discrimination: pin(made.discrimination.artifactRef, made.discrimination),
    form_summary: pin(suppressed.artifactRef, suppressed),
  };
  const compared = made.comparison === null || made.comparison === 'missing' ? undefined : made.comparison;
  const source: PinnedSource = {
    sourceKey: made.crosswalk.sourceKey,
    crosswalk: pin(made.crosswalk.crosswalkId, made.crosswalk),
    comparison:
      compared === undefined ? (made.comparison as 'missing' | null) : pin(compared.artifactRef, compared),
  };
  const { contentTestSpecId: testSpecId, contentTestSpecVersion: testSpecVersion, tenantId } = names;
  const { sourceKey, sourceAssessment, sourceVersion, crosswalkId } = made.crosswalk;
  const list: AlignmentSources = {
    tenantId,
    testSpecId,
    testSpecVersion,
    sourceSetId: 'alignment-sources',
    version: '12',
    sources: [{ sourceKey, sourceAssessment, sourceVersion, crosswalkId, sha256: source.crosswalk.sha256 }],
  };

  const run: RunRecord = {
    tenantId,
    improvementRunId: 'run_6f0b4a57-9d3e-8b7f-8c1a-9e550f8e6d1c',
    administrationId: names.administrationId,
    pins: {
      contentTestSpecId: names.contentTestSpecId,
      contentTestSpecVersion: names.contentTestSpecVersion,
      analysisPolicy: {
        owner: policy.visibility,
        id: policy.id,
        version: policy.version,
        checksum: policy.checksum,
      },
      formulaVersion: 'alignment-v1',
      rules: '2',
      sourceSet: pin(list.sourceSetId, list),
      metrics: [
        available(difficulty, 'item_difficulty'),
        available(made.discrimination, 'item_discrimination'),
        {
          metric: 'distractor_distribution',
          status: 'unavailable',
          reasonCode: 'owner_artifact_missing',
          artifact: null,
        },
        {
          metric: 'form_summary',
          status: 'suppressed',
          reasonCode: 'suppressed',
          artifact: pins.form_summary,
        },
      ],
      sources: [source],
    },
    state: 'analyzing',
    createdAt: START,
    touchedAt: START + 900,
    sweeps: 0,
  };
  const grounds: OrderGrounds = { ...names, policy };
  const judged = judgeSource(grounds, {
    sourceKey,
    crosswalk: { pin: source.crosswalk, value: made.crosswalk },
    comparison:
      compared === undefined
        ? (source.comparison as 'missing' | null)
        : { pin: source.comparison as Pin, artifact: compared },
  });
  if (!judged.ok) throw new Error(judged.error);
  const { derived } = judged.value;
  const sourceFacts: SourceFacts = { run, policy, source, crosswalk: made.crosswalk, ...judged.value };
  const receipt = sourceBundle(sourceFacts);
  const metrics = new Map<RunMetric, Derived>([
    ['item_difficulty', deriveMetricOrders(grounds, pins.item_difficulty, difficulty)],
    ['item_discrimination', deriveMetricOrders(grounds, pins.item_discrimination, made.discrimination)],
  ]);
  const orders = [
    ...[...metrics].flatMap(([metric, found]) => recordsOf(`metric:${metric}`, found)),
    ...recordsOf(`source:${sourceKey}`, derived),
  ].toSorted((a, b) => (a.revisionOrderId < b.revisionOrderId ? -1 : 1));
  const runFacts: RunFacts = {
    progress: {
      run,
      evidence: [
        { key: 'metric:item_difficulty', evaluatedAt: START + 100 },
        { key: 'metric:item_discrimination', evaluatedAt: START + 200 },
        {
          key: `source:${sourceKey}`,
          evaluatedAt: START + 300,
          receipt: { sha256: receipt.sha256, mediaType: receipt.mediaType },
          comparisonOmitted: sourceFacts.comparisonOmitted,
        },
      ],
      orders,
    },
    policy,
    metrics,
  };
  const whole = runBundle(runFacts);
  if (whole === undefined) throw new Error('the improved run has a bundle');
  return { sourceFacts, runFacts, source: receipt, run: whole, artifacts };
}

function policyOf(): SourceFacts['policy'] {
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

function recordsOf(evidence: EvidenceKey, { orders }: Derived): OrderRecord[] {
  return orders.map(({ content: { revisionOrderId, targetModule }, lineage }, n) => ({
    revisionOrderId,
    evidence,
    targetModule,
    lineage,
    status: n % 2 === 0 ? 'accepted' : 'replayed',
    supersedesRevisionOrderId: null,
    ack: { receiptId: `receipt-of-${revisionOrderId}`, version: '1', observedAt: START + 500 + n },
    createdAt: START,
    updatedAt: START + 500 + n,
  }));
}
