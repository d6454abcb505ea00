import type * as z from 'zod';
import { evaluateSource } from '#functions/reports/analysis/evaluate-source.ts';
import type { EvaluatedSource, SourceEvidence } from '#functions/reports/analysis/evaluate-source.ts';
import {
  isContradictory,
  metricToCheck,
  evaluableRowsOf,
} from '#functions/reports/analysis/metrics/evaluate-metric.ts';
import { deriveMetricOrders } from '#functions/reports/analysis/orders/derive-orders.ts';
import type {
  ReceiptArtifact,
  ReceiptBundle,
  RunReceipt,
  SourceReceipt,
} from '#shared/contract/reports/receipt-bundle.ts';
import { isCompared, type PinnedRef } from '#shared/improvement/records.ts';
import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { comparisonArtifact, metricArtifact } from '#shared/platform/owners/analytics.ts';
import type { MetricArtifact } from '#shared/platform/owners/analytics.ts';
import { alignmentCrosswalk, alignmentSources } from '#shared/platform/owners/content.ts';
import type { AlignmentCrosswalk, AlignmentSources } from '#shared/platform/owners/content.ts';
import { differs, type Check } from './check.ts';
import { checkReceipt } from './check-receipt.ts';
import { compareDecisions, groundsOf, rulesOf } from './decisions.ts';

/** Bytes by their SHA-256: the files of a folder that a bundle names. */
export type Evidence = ReadonlyMap<string, Uint8Array>;

const notTheirs =
  'The artifacts contradict the bundle: do not rely on it, and report it to the operators of the service.';

/** Returns every digest that a bundle names: of the artifacts that prove it, and of bundles that can be compared with it. */
export function namedDigests(receipt: ReceiptBundle): ReadonlySet<string> {
  const bundles =
    receipt.object === 'run_receipt' ? receipt.sources.map((source) => source.receipt.sha256) : [];
  return new Set([...artifactsOf(receipt).map(({ sha256 }) => sha256), ...bundles]);
}

/** Compares a bundle that passed its own checks with the artifacts that it names. */
export function checkEvidence(receipt: ReceiptBundle, evidence: Evidence): Check[] {
  const named = artifactsOf(receipt);
  const missing = named.filter(({ sha256 }) => !evidence.has(sha256));
  return [
    {
      name: 'artifacts',
      holds: `all ${named.length} are in the folder, byte for byte`,
      failures: missing.map(
        ({ service, resourceId, sha256 }) =>
          `${resourceId} of ${service}, SHA-256 ${sha256}, is not in the folder`,
      ),
      remedy: 'Get each missing artifact from its owner and save it unchanged, under any name.',
    },
    ...(receipt.object === 'source_receipt'
      ? sourceEvidence(receipt, evidence)
      : runEvidence(receipt, evidence)),
  ];
}

function artifactsOf(receipt: ReceiptBundle): readonly ReceiptArtifact[] {
  if (receipt.object === 'source_receipt')
    return [...(receipt.sourceSet === undefined ? [] : [receipt.sourceSet]), ...pinsOf(receipt)];
  return [
    receipt.sourceSet,
    ...receipt.metrics.flatMap(({ artifact }) => artifact ?? []),
    ...receipt.sources.flatMap(pinsOf),
  ];
}

type Pinned = Pick<SourceReceipt, 'crosswalk' | 'comparison'>;

function pinsOf({ crosswalk, comparison }: Pinned): readonly ReceiptArtifact[] {
  return isCompared(comparison) ? [crosswalk, comparison] : [crosswalk];
}

function sourceEvidence(receipt: SourceReceipt, evidence: Evidence): Check[] {
  const found = readSource(receipt, receipt, evidence);
  if (!found.ok) return [{ ...crosswalkCheck(''), ...found.error }];
  const { crosswalk, alignment, limitations, derived, comparisonOmitted } = found.value;
  const rows = alignment.contributions;
  return [
    {
      ...crosswalkCheck(`gives the same ${rows.length} contributions`),
      failures: [
        ...differs('the assessment', receipt.sourceAssessment, crosswalk.sourceAssessment),
        ...differs('its version', receipt.sourceVersion, crosswalk.sourceVersion),
        ...differs('the number of contributions', receipt.contributions.length, rows.length),
        ...receipt.contributions.flatMap((row, at) => {
          const same = rows[at];
          return same === undefined || canonicalJson(row) === canonicalJson(same)
            ? []
            : [`${row.sourceRequirementId} does not follow from the crosswalk`];
        }),
        ...(canonicalJson(receipt.limitations) === canonicalJson(limitations)
          ? []
          : ['the limitations do not match crosswalk and comparison']),
        ...differs('whether a comparison is omitted', receipt.omissions.length > 0, comparisonOmitted),
      ],
    },
    thresholdCheck(
      `${derived.orders.length} are breached, and all of them are listed`,
      compareDecisions(receipt, derived),
    ),
  ];
}

function runEvidence(receipt: RunReceipt, evidence: Evidence): Check[] {
  const metrics = receipt.metrics.flatMap((row): Check[] => {
    const { metric, artifact, status } = row;
    if (artifact === null) return [];
    const found = read(metricArtifact, artifact, evidence, receipt, ({ artifactRef }) => artifactRef);
    const check = thresholdCheck(
      `${row.decisions.length} on ${metric} are breached, and all of them are listed`,
      [],
    );
    if (!found.ok) return [{ ...check, ...found.error }];
    const failures = [
      ...differs('the metric of its artifact', found.value.metric, metric),
      ...(status === 'available' ? metricFailures(receipt, row, pinOf(artifact), found.value) : []),
    ];
    return [{ ...check, failures: failures.map((failure) => `${metric}: ${failure}`) }];
  });
  return [
    sourceListCheck(receipt, evidence),
    ...metrics,
    ...receipt.sources.map((source): Check => {
      const found = readSource(receipt, source, evidence);
      const listed = receipt.orders.filter((order) => order.evidence === `source:${source.sourceKey}`);
      const check = thresholdCheck(
        `${listed.length} on ${source.sourceKey} are breached, and all of them are listed`,
        [],
      );
      if (!found.ok) return { ...check, ...found.error };
      const derived = new Map(
        found.value.derived.orders.map(({ content }) => [content.revisionOrderId, content.targetModule]),
      );
      const ids = new Set(listed.map(({ revisionOrderId }) => revisionOrderId));
      return {
        ...check,
        failures: [
          ...listed
            .filter(({ revisionOrderId, targetModule }) => derived.get(revisionOrderId) !== targetModule)
            .map(
              ({ revisionOrderId: id }) => `order ${id} is listed, but no evidence breaches its threshold`,
            ),
          ...[...derived.keys()]
            .filter((id) => !ids.has(id))
            .map((id) => `order ${id} of a breached threshold is not listed`),
          ...differs(
            'whether a comparison is omitted',
            source.comparisonOmitted,
            found.value.comparisonOmitted,
          ),
        ].map((failure) => `${source.sourceKey}: ${failure}`),
      };
    }),
    sourceBundlesCheck(receipt, evidence),
  ];
}

const pinOf = ({ resourceId, sha256 }: ReceiptArtifact): PinnedRef => ({ ref: resourceId, sha256 });

function metricFailures(
  receipt: RunReceipt,
  row: RunReceipt['metrics'][number],
  pin: PinnedRef,
  artifact: MetricArtifact,
): readonly string[] {
  return [
    ...differs('its suppression', artifact.suppression.status, 'not_suppressed'),
    ...(row.judged === undefined
      ? []
      : differs(
          'the number of its rows that can be judged',
          row.judged,
          isContradictory(metricToCheck(row.metric, row.status, artifact), rulesOf(receipt))
            ? 'none'
            : evaluableRowsOf(row.metric, artifact.rows, receipt.analysisPolicy),
        )),
    ...compareDecisions(row, deriveMetricOrders(groundsOf(receipt), pin, artifact)),
  ];
}

/** Content's list of named sources against those of the run, in the same order. */
function sourceListCheck(receipt: RunReceipt, evidence: Evidence): Check {
  const check = {
    name: 'source list',
    holds: 'the run has exactly the sources that Content names',
    failures: [],
    remedy: notTheirs,
  };
  const found = readSourceSet(receipt, evidence);
  if (!found.ok) return { ...check, ...found.error };
  const named = found.value.sources.map(({ sourceKey, crosswalkId, sha256 }) => [
    sourceKey,
    crosswalkId,
    sha256,
  ]);
  const listed = receipt.sources.map(({ sourceKey, crosswalk }) => [
    sourceKey,
    crosswalk.resourceId,
    crosswalk.sha256,
  ]);
  return {
    ...check,
    failures:
      canonicalJson(listed) === canonicalJson(named)
        ? []
        : [`the run has ${listed.length} sources, Content’s list ${named.length}, and they differ`],
  };
}

/** Returns the bundles of the sources that are in the folder. */
function sourceBundlesCheck(receipt: RunReceipt, evidence: Evidence): Check {
  const there = receipt.sources.filter((source) => evidence.has(source.receipt.sha256));
  const missing = receipt.sources.length - there.length;
  return {
    name: 'source bundles',
    holds: `${there.length} are valid and belong to this run${missing > 0 ? `; ${missing} are not in the folder` : ''}`,
    failures: there.flatMap((source) => bundleFailures(receipt, source, evidence)),
    remedy: 'Verify that bundle by itself to see its failed checks.',
    ...(there.length === 0 ? { skipped: 'none is in the folder' } : {}),
  };
}

function bundleFailures(
  run: RunReceipt,
  { sourceKey, receipt: { sha256 }, crosswalk, comparison }: RunReceipt['sources'][number],
  evidence: Evidence,
): readonly string[] {
  const checked = checkReceipt({ name: sha256, bytes: evidence.get(sha256) ?? new Uint8Array() });
  const receipt = checked.ok ? checked.value.receipt : undefined;
  if (!checked.ok || receipt?.object !== 'source_receipt')
    return [`${sourceKey}: ${sha256} is not the bundle of a source`];
  const failed = checked.value.checks.filter(({ failures }) => failures.length > 0).map(({ name }) => name);
  const identity = (of: ReceiptBundle) => {
    const { tenantId, improvementRunId, analysisPolicy } = of;
    return { tenantId, improvementRunId, analysisPolicy, rules: rulesOf(of) };
  };
  const same =
    canonicalJson([identity(receipt), receipt.sourceKey, receipt.crosswalk, receipt.comparison]) ===
      canonicalJson([identity(run), sourceKey, crosswalk, comparison]) &&
    canonicalJson(receipt.sourceSet ?? run.sourceSet) === canonicalJson(run.sourceSet);
  const listed = run.orders.filter((order) => order.evidence === `source:${sourceKey}`);
  const ids = (orders: readonly { readonly revisionOrderId: string }[]) =>
    canonicalJson(orders.map(({ revisionOrderId }) => revisionOrderId).toSorted());
  return [
    ...(failed.length > 0 ? [`${sourceKey}: its bundle is not valid (${failed.join(', ')})`] : []),
    ...(same ? [] : [`${sourceKey}: its bundle belongs to a different run, source or crosswalk`]),
    ...(ids(receipt.decisions) === ids(listed) ? [] : [`${sourceKey}: its bundle decides different orders`]),
  ];
}

interface FoundSource extends EvaluatedSource {
  readonly crosswalk: AlignmentCrosswalk;
}

/** Recomputes the alignment of a source from its crosswalk, and its orders from that and its comparison. */
function readSource(
  receipt: ReceiptBundle,
  source: Pinned & { readonly sourceKey: string },
  evidence: Evidence,
): Result<FoundSource, Outcome> {
  const crosswalk = read(
    alignmentCrosswalk,
    source.crosswalk,
    evidence,
    receipt,
    ({ crosswalkId }) => crosswalkId,
  );
  if (!crosswalk.ok) return crosswalk;
  const wrongSource = differs('the source of the crosswalk', crosswalk.value.sourceKey, source.sourceKey);
  if (wrongSource.length > 0) return err({ failures: wrongSource });
  const sourceSet = rulesOf(receipt) === '3' ? readSourceSet(receipt, evidence) : ok(undefined);
  if (!sourceSet.ok) return sourceSet;
  const pinned = source.comparison;
  let comparison: SourceEvidence['comparison'];
  if (!isCompared(pinned)) comparison = pinned;
  else {
    const artifact = read(comparisonArtifact, pinned, evidence, receipt, ({ artifactRef }) => artifactRef);
    if (!artifact.ok) return artifact;
    const wrong = differs('the source of the comparison', artifact.value.sourceKey, source.sourceKey);
    if (wrong.length > 0) return err({ failures: wrong });
    comparison = { pin: pinOf(pinned), artifact: artifact.value };
  }
  const evaluated = evaluateSource(groundsOf(receipt), {
    sourceKey: source.sourceKey,
    crosswalk: { pin: pinOf(source.crosswalk), value: crosswalk.value },
    comparison,
    sourceSet: sourceSet.value,
  });
  if (!evaluated.ok) return err({ failures: [evaluated.error] });
  const { alignment, limitations } = evaluated.value;
  return ok({
    ...evaluated.value,
    crosswalk: crosswalk.value,
    limitations: [...alignment.limitations, ...limitations],
  });
}

/** Content's list of the sources, which every bundle of format 3 names. */
function readSourceSet(receipt: ReceiptBundle, evidence: Evidence): Result<AlignmentSources, Outcome> {
  return receipt.sourceSet === undefined
    ? err({ failures: ['the bundle does not name Content’s list of sources'] })
    : read(alignmentSources, receipt.sourceSet, evidence, receipt, ({ sourceSetId }) => sourceSetId);
}

/** Why a check could not run. */
type Outcome = Pick<Check, 'failures'> & Pick<Check, 'skipped'>;

/** Ids in artifacts of owners: Analytics and Content name the members for a blueprint differently. */
interface OwnerIds {
  readonly tenantId: string;
  readonly administrationId?: string;
  readonly contentTestSpecId?: string;
  readonly contentTestSpecVersion?: string;
  readonly testSpecId?: string;
  readonly testSpecVersion?: string;
}

/** Returns an artifact in the form of its owner, of the same tenant, blueprint and administration as the bundle. */
function read<S extends z.ZodType<OwnerIds>>(
  schema: S,
  { resourceId, sha256 }: ReceiptArtifact,
  evidence: Evidence,
  receipt: ReceiptBundle,
  refOf: (artifact: z.output<S>) => string,
): Result<z.output<S>, Outcome> {
  const bytes = evidence.get(sha256);
  if (bytes === undefined) return err({ failures: [], skipped: `${resourceId} is not in the folder` });
  const parsed = parseStrictJson(Buffer.from(bytes).toString());
  if (!parsed.ok) return err({ failures: [`${resourceId} is not valid JSON (${parsed.error.kind})`] });
  const artifact = schema.safeParse(parsed.value);
  if (!artifact.success) return err({ failures: [`${resourceId} does not match the schema of its owner`] });
  const ids = artifact.data;
  const failures = [
    ...differs('its id', refOf(artifact.data), resourceId),
    ...differs('its tenant', ids.tenantId, receipt.tenantId),
    ...differs(
      'its administration',
      ids.administrationId ?? receipt.administrationId,
      receipt.administrationId,
    ),
    ...differs('its blueprint', ids.contentTestSpecId ?? ids.testSpecId, receipt.contentTestSpecId),
    ...differs(
      'its version of the blueprint',
      ids.contentTestSpecVersion ?? ids.testSpecVersion,
      receipt.contentTestSpecVersion,
    ),
  ];
  return failures.length > 0
    ? err({ failures: failures.map((failure) => `${resourceId}: ${failure}`) })
    : ok(artifact.data);
}

function crosswalkCheck(holds: string): Check {
  return { name: 'crosswalk', holds, failures: [], remedy: notTheirs };
}

function thresholdCheck(holds: string, failures: readonly string[]): Check {
  return { name: 'thresholds', holds, failures, remedy: notTheirs };
}
