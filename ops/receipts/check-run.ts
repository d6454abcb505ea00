import { omission, runMetrics } from '#shared/contract/reports/improvement-run.ts';
import type { RunReceipt } from '#shared/contract/reports/receipt-bundle.ts';
import { compareInstants } from '#shared/kernel/instant.ts';
import { repeated, type Check } from './check.ts';
import { checkPolicy, decisionDefects } from './decisions.ts';

const untrue =
  'The parts of the run contradict each other: do not rely on it, and report it to the operators of the service.';

/** Returns what the receipt of a run proves by itself: that its parts are consistent. The observations need the artifacts. */
export function checkRun(receipt: RunReceipt): Check[] {
  const { metrics, sources, orders } = receipt;
  return [
    {
      name: 'metrics',
      holds: metrics.map(({ metric, status }) => `${metric} ${status}`).join(', '),
      failures: metricFailures(receipt),
      remedy: untrue,
    },
    {
      name: 'sources',
      holds: `${sources.length}, each listed once`,
      failures: repeated(sources.map(({ sourceKey }) => sourceKey)).map(
        (key) => `${key} is listed more than once`,
      ),
      remedy: untrue,
    },
    checkPolicy(receipt),
    {
      name: 'decisions',
      holds: `${metrics.reduce((sum, { decisions }) => sum + decisions.length, 0)} on metrics, by thresholds of the policy`,
      failures: metrics.flatMap((row) =>
        decisionDefects(receipt, row, (metric) =>
          metric === row.metric ? (row.artifact ?? undefined) : undefined,
        ),
      ),
      remedy:
        'The orders do not follow from the policy: do not act on them, and report it to the operators of the service.',
    },
    {
      name: 'orders',
      holds: `${orders.length}, each decided, and each acknowledged or superseded`,
      failures: orderFailures(receipt),
      remedy: untrue,
    },
    {
      name: 'omissions',
      holds: receipt.omissions.length === 0 ? 'none' : receipt.omissions.join(', '),
      failures: omissionFailures(receipt),
      remedy: 'The receipt must list what is missing: report it to the operators of the service.',
    },
  ];
}

function metricFailures({ metrics, formatVersion }: RunReceipt): readonly string[] {
  const listed = metrics.map(({ metric }) => metric);
  return [
    ...runMetrics.filter((metric) => !listed.includes(metric)).map((metric) => `${metric} is not listed`),
    ...metrics.flatMap(
      ({ metric, status, artifact, reasonCode, evaluatedAt, judged, decisions, withheld }) => {
        if (status === 'available') {
          const lacksEvaluableRows = formatVersion > 1 && judged === undefined;
          return [
            ...(artifact === null || reasonCode !== null || evaluatedAt === null || lacksEvaluableRows
              ? [`${metric} is available but lacks its artifact or its evaluation`]
              : []),
            ...(judged === 'all' && withheld.length > 0
              ? [`all of ${metric} was judged, but decisions on it were withheld`]
              : []),
          ];
        }
        return [
          ...(reasonCode === null ? [`${metric} is ${status} without a reason`] : []),
          ...(decisions.length + withheld.length > 0 || evaluatedAt !== null
            ? [`${metric} is ${status}, but decisions are based on it`]
            : []),
        ];
      },
    ),
  ];
}

function orderFailures({
  createdAt,
  metrics,
  sources,
  orders,
  analysisPolicy,
}: RunReceipt): readonly string[] {
  const decided = new Map(
    metrics.flatMap(({ metric, decisions }) =>
      decisions.map(({ revisionOrderId, trigger }) => [
        revisionOrderId,
        { evidence: `metric:${metric}`, targetModule: analysisPolicy.triggers[trigger]?.targetModule },
      ]),
    ),
  );
  const sourceKeys = new Set(sources.map(({ sourceKey }) => `source:${sourceKey}`));
  const listed = new Set(orders.map(({ revisionOrderId }) => revisionOrderId));
  return [
    ...repeated(orders.map(({ revisionOrderId }) => revisionOrderId)).map(
      (id) => `${id} is listed more than once`,
    ),
    ...[...decided.keys()].filter((id) => !listed.has(id)).map((id) => `${id} is decided but not listed`),
    ...orders.flatMap((order) => {
      const { revisionOrderId: id, evidence, status, receipt, targetModule } = order;
      const decision = decided.get(id);
      const fits =
        decision === undefined
          ? sourceKeys.has(evidence)
          : evidence === decision.evidence && targetModule === decision.targetModule;
      return [
        ...(fits ? [] : [`${id} is not based on a decision of ${evidence}`]),
        ...(receipt === null && status !== 'superseded' ? [`${id} is ${status} without a receipt`] : []),
        ...(receipt !== null && receipt.service !== targetModule
          ? [`${id} was sent to ${targetModule} but acknowledged by ${receipt.service}`]
          : []),
        ...(order.createdAt !== createdAt || compareInstants(order.createdAt, order.updatedAt) > 0
          ? [`the times of ${id} do not fit its run`]
          : []),
      ];
    }),
  ];
}

function omissionFailures({ metrics, sources, omissions }: RunReceipt): readonly string[] {
  const without = new Set<string>(
    metrics
      .filter(({ status, judged }) => status !== 'available' || judged === 'some')
      .map(({ metric }) => metric),
  );
  if (sources.some(({ comparison, comparisonOmitted }) => comparison === 'missing' || comparisonOmitted))
    without.add('predicted_actual');
  return [
    ...repeated(omissions).map((name) => `${name} is listed more than once`),
    ...omission.options.flatMap((name) => {
      if (without.has(name) === omissions.includes(name)) return [];
      return [without.has(name) ? `${name} is missing but not listed` : `${name} is listed but not missing`];
    }),
  ];
}
