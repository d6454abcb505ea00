import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { metricStatus, runMetrics } from '#shared/contract/reports/improvement-run.ts';
import type { MetricStatus, RunMetric } from '#shared/contract/reports/improvement-run.ts';
import { metrics, type AnalysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import { metricArtifact as artifactSchema } from '#shared/platform/owners/analytics.ts';
import type { AdministrationAnalysis, MetricArtifact } from '#shared/platform/owners/analytics.ts';
import { analysisEntry, metricArtifact, policyOn } from '#test/support/improvement-facts.ts';
import { frozen, tenantId } from '#test/support/report-facts.ts';
import { deriveMetricOrders } from '#functions/reports/analysis/orders/derive-orders.ts';
import { evaluateMetric, showMetric } from './evaluate-metric.ts';

/** What Analytics says of a metric of a run. */
interface Said {
  readonly metric: RunMetric;
  readonly policy: AnalysisPolicy;
  readonly entry: AdministrationAnalysis['metrics'][number] | undefined;
  readonly found: MetricArtifact | 'unreachable' | undefined;
}

const said: fc.Arbitrary<Said> = fc.constantFrom(...runMetrics).chain((metric) =>
  fc.record({
    metric: fc.constant(metric),
    policy: policyOn(metric, 'form_summary'),
    entry: fc.option(analysisEntry(metric), { nil: undefined, freq: 9 }),
    found: fc.oneof(
      { weight: 20, arbitrary: metricArtifact(metric) },
      metricArtifact('form_summary'),
      fc.constantFrom(undefined, 'unreachable' as const),
    ),
  }),
);

/** Whether of those learners so many can be a sample, and each row has one value of each measure that the metric is known by. */
function canBeTrue({ metric }: Said, { samplingUnit, populationCount, sampleCount, rows }: MetricArtifact) {
  const isSample = populationCount! >= sampleCount! && sampleCount! > 0;
  const ofForms = metric === 'form_summary';
  const named = rows.filter(({ qtiItemId, qtiFormId, qtiTestId }) =>
    ofForms ? qtiFormId !== null || qtiTestId !== null : qtiItemId !== null,
  );
  const keys = named.flatMap(({ measures, caseGuids, ...natives }) =>
    measures
      .filter(({ name }) => metrics[metric].measures.some((measure) => measure.name === name))
      .map(({ name }) => JSON.stringify([name, natives, [...new Set(caseGuids)].toSorted()])),
  );
  return {
    isSample: isSample || (samplingUnit ?? 'learners') !== 'learners',
    isDistinct: new Set(keys).size === keys.length,
  };
}

/** How many rows can be judged: pairs of a row and a trigger that looks at the metric, or rows with any measure if none does. */
function rowsOf({ metric, policy: { triggers } }: Said, { rows }: MetricArtifact): 'all' | 'some' | 'none' {
  const measures = new Map(metrics[metric].measures.map((measure) => [measure.name, measure]));
  const isPossible = rows.every((row) =>
    row.measures.every(({ name, value, unit }) => {
      const measure = measures.get(name);
      if (measure === undefined) return true;
      const isWhole = unit !== 'count' || Number.isInteger(value);
      return unit === measure.unit && isWhole && measure.least <= value && value <= measure.greatest;
    }),
  );
  if (!isPossible) return 'none';
  const own = triggers.filter((trigger) => trigger.metric === metric);
  if (own.length === 0)
    return rows.some((row) => row.measures.some(({ name }) => measures.has(name))) ? 'all' : 'none';
  const pairs = own.flatMap(({ observed, requiredSubjects }) =>
    rows.map(
      (row) =>
        row.measures.some(({ name }) => name === observed.name) &&
        requiredSubjects.every((subject) => subject !== 'sourceKeys' && (row[subject]?.length ?? 0) > 0),
    ),
  );
  if (!pairs.includes(true)) return 'none';
  return pairs.includes(false) ? 'some' : 'all';
}

/** A UTC instant whose text sorts as it does in time. */
const sortable = (instant: string): string =>
  instant.replace(/(?:\.(\d*))?Z$/, (_, fraction: string = '') => `.${fraction.padEnd(9, '0')}`);

type Verdict = Pick<MetricStatus, 'status' | 'reasonCode'>;
const missing = { status: 'unavailable', reasonCode: 'owner_artifact_missing' } as const;
const lacking = { status: 'unavailable', reasonCode: 'owner_field_missing' } as const;

/** What is made of it: the first verdict that fits. */
function expectedOf(facts: Said): Verdict {
  const { metric, entry, found } = facts;
  if (!entry?.artifact || entry.status === 'unavailable' || found === undefined) return missing;
  if (found === 'unreachable') return { status: 'unavailable', reasonCode: 'receiver_unavailable' };
  const { suppression, analysisWindow: window, formulaVersion, populationCount, sampleCount } = found;
  const isSuppressed = [entry.status, suppression.status].includes('suppressed');
  const isCurrent = entry.status === 'available' && suppression.status === 'not_suppressed';
  const shown = [formulaVersion, populationCount, sampleCount, window];
  const { isSample, isDistinct } = canBeTrue(facts, found);
  const isCounted = !shown.slice(1, 3).includes(null) && suppression.status === 'not_suppressed';
  const verdicts: readonly (readonly [boolean, Verdict])[] = [
    [found.metric !== metric, missing],
    [window !== null && sortable(window.start) > sortable(window.end), lacking],
    [isSuppressed && [suppression.rule, formulaVersion].includes(null), lacking],
    [isSuppressed, { status: 'suppressed', reasonCode: 'suppressed' }],
    [isCounted && !isSample, lacking],
    [entry.status === 'stale', { status: 'stale', reasonCode: 'stale' }],
    [!isCurrent, { status: 'unknown', reasonCode: 'unknown' }],
    [shown.includes(null), lacking],
    [!isDistinct || rowsOf(facts, found) === 'none', lacking],
    [true, { status: 'available', reasonCode: null }],
  ];
  return verdicts.find(([fits]) => fits)![1];
}

const nothing = {
  populationCount: null,
  sampleCount: null,
  suppressionStatus: 'unknown',
  suppressionRule: null,
  analysisWindow: { start: null, end: null },
  formulaVersion: null,
} as const;

/** The row of a metric of which a run has pinned the artifact that was found. */
function shownOf(verdict: Verdict, { artifactRef, suppression, ...artifact }: MetricArtifact): object {
  const { populationCount, sampleCount, analysisWindow, formulaVersion } = artifact;
  const suppressionStatus =
    verdict.status === 'suppressed' || suppression.status === 'not_suppressed'
      ? [verdict.status, 'not_suppressed'].find((one) => one.endsWith('suppressed'))
      : 'unknown';
  return {
    ...{ ...nothing, ...verdict, artifactRef, suppressionStatus, formulaVersion },
    ...(analysisWindow && { analysisWindow }),
    ...(suppressionStatus === 'not_suppressed' ? { populationCount, sampleCount } : {}),
    ...(suppressionStatus === 'suppressed' ? { suppressionRule: suppression.rule } : {}),
  };
}

describe('a metric of a run', () => {
  it('is available exactly where Analytics says so completely and some of its rows can be judged, is pinned then by the bytes that were read, and shows no count that may be suppressed [RP-157, RP-158, RP-159, RP-160, RP-161, RP-162, RP-163, RP-164, RP-165, RP-195]', () => {
    fc.assert(
      fc.property(said, (facts) => {
        const { metric, policy, entry, found } = facts;
        const artifact = typeof found === 'object' ? found : undefined;
        if (artifact !== undefined) expect(artifactSchema.parse(artifact)).toEqual(artifact);
        const verdict = expectedOf(facts);
        const isPinned = verdict.status !== 'unavailable';
        const pinned = evaluateMetric(metric, frozen(entry), frozen(found), frozen(policy));
        expect(pinned).toEqual({
          metric,
          ...verdict,
          artifact: isPinned ? { ref: entry?.artifact?.artifactRef, sha256: entry?.artifact?.sha256 } : null,
          ...(verdict.status === 'available' ? { judged: rowsOf(facts, artifact!) } : {}),
        });
        const ref = entry?.artifact?.artifactRef;
        const row = showMetric(pinned, artifact && { ...artifact, artifactRef: ref! });
        expect(row).toEqual({
          metric,
          ...(isPinned
            ? shownOf(verdict, { ...artifact!, artifactRef: ref! })
            : { ...nothing, ...verdict, artifactRef: null }),
        });
        // Of an artifact that is lost nothing is known but its id.
        const lost = showMetric(pinned, undefined);
        expect(lost).toEqual(
          isPinned
            ? {
                ...{ metric, ...nothing, artifactRef: ref },
                ...{ status: 'unknown', reasonCode: 'owner_artifact_missing' },
              }
            : row,
        );
        for (const one of [row, lost]) expect(metricStatus.parse(one)).toEqual(one);
      }),
      { numRuns: 3_000 },
    );
  });

  it('leaves no decision to withhold where all of its rows can be judged [RP-159, RP-195]', () => {
    const about = {
      tenantId,
      administrationId: 'a',
      contentTestSpecId: 's',
      contentTestSpecVersion: '1',
      rules: '3',
    } as const;
    fc.assert(
      fc.property(said, (facts) => {
        const { metric, policy, found } = facts;
        fc.pre(
          typeof found === 'object' &&
            found.metric === metric &&
            rowsOf(facts, found) === 'all' &&
            canBeTrue(facts, found).isDistinct,
        );
        const pin = { ref: 'r', sha256: '5f'.repeat(32) };
        expect(deriveMetricOrders({ ...about, policy }, pin, found).withheld).toEqual([]);
      }),
    );
  });
});
