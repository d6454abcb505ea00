import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { waitForImprovementRun } from '#client/index.ts';
import type { AlignmentReport, ImprovementRun, ReportsClient, RevisionOrder } from '#client/index.ts';
import { useSurface } from '../context.ts';
import { Bar, Choice, Facts, Failure, instant, Outcome, Receipts, State, Table } from '../parts.tsx';
import { choose, usePlace } from '../router.ts';
import { useLoad } from '../store.ts';

/** The analysis of an administration. */
export function Improvement(): JSX.Element {
  const { tenant, reports } = useSurface();
  const { parameters } = usePlace();
  const administrations = tenant?.reports.administrations ?? [];
  const administrationId = parameters['administration'] ?? administrations[0] ?? '';
  const runId = parameters['run'];
  const [failure, setFailure] = useState<unknown>();
  const [isStarting, setStarting] = useState(false);
  const analyze = async (): Promise<void> => {
    setFailure(undefined);
    setStarting(true);
    try {
      const client = reports('reports:write', { administrationIds: [administrationId] });
      choose({ run: (await client.analyzeAdministration({ administrationId })).data.improvementRunId });
    } catch (error) {
      setFailure(error);
    } finally {
      setStarting(false);
    }
  };
  return (
    <>
      <p class="lead">
        Analyzes a scored administration: how well its blueprint covers named external assessments, and what
        Bank and Blueprint should revise.
      </p>
      <p class="picker">
        <Choice
          label="Administration"
          value={administrationId}
          options={administrations.map((id) => [id, id])}
          onChange={(administration) => choose({ administration, run: '' })}
        />
        <button type="button" class="primary" disabled={isStarting} onClick={() => void analyze()}>
          {isStarting ? 'Starting …' : 'Analyze'}
        </button>
      </p>
      {failure === undefined ? null : <Failure error={failure} onRetry={() => void analyze()} />}
      {runId === undefined ? null : (
        <Run
          key={runId}
          client={reports('reports:read', { administrationIds: [administrationId] })}
          improvementRunId={runId}
        />
      )}
    </>
  );
}

interface RunProps {
  readonly client: ReportsClient;
  readonly improvementRunId: string;
}

function Run({ client, improvementRunId }: RunProps): JSX.Element {
  const [progress, setProgress] = useState<ImprovementRun>();
  const ended = useLoad(
    async (signal) => {
      const { data: run } = await waitForImprovementRun(client, improvementRunId, {
        signal,
        onProgress: setProgress,
      });
      const alignments = await Promise.all(
        run.receipt === null
          ? []
          : run.sourceKeys.map(
              async (sourceKey) =>
                (await client.readAlignmentReport({ improvementRunId, sourceKey }, { signal })).data,
            ),
      );
      const orders: RevisionOrder[] = [];
      for await (const order of client.iterateRevisionOrders({ improvementRunId, limit: 100 }, { signal }))
        orders.push(order);
      return { run, alignments, orders };
    },
    [improvementRunId],
  );
  if (ended.state === 'loading') {
    return (
      <p role="status" class="quiet">
        {progress === undefined
          ? 'Loading …'
          : `${progress.status}: ${progress.alignmentRecordCount} of ${progress.namedSourceCount} alignments, ${progress.revisionOrderCount} orders so far`}
      </p>
    );
  }
  return (
    <Outcome of={ended}>
      {({ run, alignments, orders }) => (
        <>
          <section aria-labelledby="run-heading">
            <h2 id="run-heading">
              <State of={run.status} />
            </h2>
            <Facts
              of={{
                'begun at': instant(run.createdAt),
                'ended at': run.completedAt === null ? undefined : instant(run.completedAt),
                policy: `${run.analysisPolicyId}, ${run.analysisPolicyVersion}`,
                'done without':
                  run.omissions.length === 0
                    ? 'nothing'
                    : run.omissions.map((name) => name.replaceAll('_', ' ')).join(', '),
                receipt:
                  run.receipt === null ? undefined : (
                    <a href={run.receipt.downloadUrl}>download, SHA-256 {run.receipt.sha256.slice(0, 12)}…</a>
                  ),
              }}
            />
            <Metrics run={run} />
          </section>
          {alignments.map((alignment) => (
            <Alignment key={alignment.sourceKey} alignment={alignment} />
          ))}
          <Orders orders={orders} />
          <h2>Receipts</h2>
          <Receipts sources={run.sources} />
        </>
      )}
    </Outcome>
  );
}

function Metrics({ run }: { readonly run: ImprovementRun }): JSX.Element {
  return (
    <Table
      label="Metrics"
      columns={{ Metric: 'heading', Status: 'text', Learners: 'number', Sample: 'number', Why: 'text' }}
      rows={run.metricStatuses.map((metric) => [
        metric.metric.replaceAll('_', ' '),
        metric.status,
        metric.populationCount ?? '–',
        metric.sampleCount ?? '–',
        metric.suppressionRule ?? metric.reasonCode?.replaceAll('_', ' ') ?? '',
      ])}
    />
  );
}

function Alignment({ alignment }: { readonly alignment: AlignmentReport }): JSX.Element {
  const { nameOf } = useSurface();
  const id = `alignment-${alignment.sourceKey}`;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {alignment.sourceAssessment}: {alignment.alignmentPercent.toFixed(1)} % aligned
      </h2>
      <Bar
        label={`${alignment.alignmentPercent.toFixed(1)} percent aligned`}
        low={0}
        high={100}
        spans={[{ from: 0, to: alignment.alignmentPercent, kind: 'band' }]}
      />
      <p class="quiet">
        {alignment.numerator} of {alignment.denominator} by weight, source version {alignment.sourceVersion}
      </p>
      <ul class="quiet">
        {alignment.limitations.map((limitation) => (
          <li key={limitation}>{limitation}</li>
        ))}
      </ul>
      <details>
        <summary>Contributions: {alignment.contributions.length} requirements</summary>
        <Table
          label={`Contributions of ${alignment.sourceAssessment}`}
          columns={{
            Requirement: 'heading',
            Standard: 'text',
            Covered: 'text',
            Rigor: 'text',
            Contribution: 'number',
            'Why not': 'text',
          }}
          rows={alignment.contributions.map((row) => [
            row.sourceRequirementId,
            row.caseGuid === null ? '–' : nameOf(row.caseGuid),
            row.coverage === 1 ? 'yes' : 'no',
            `${row.sourceDok} asked, ${row.targetDok ?? 'none'} met`,
            `${row.weightedContribution} of ${row.weight}`,
            row.reasonCode?.replaceAll('_', ' ') ?? '',
          ])}
        />
      </details>
    </section>
  );
}

const operators: Readonly<Record<string, string>> = {
  lt: 'below',
  lte: 'at most',
  gt: 'above',
  gte: 'at least',
  outside: 'outside of',
};

function Orders({ orders }: { readonly orders: readonly RevisionOrder[] }): JSX.Element {
  const { itemNameOf, nameOf } = useSurface();
  return (
    <section aria-labelledby="orders-heading">
      <h2 id="orders-heading">
        {orders.length === 0 ? 'No revision orders' : `${orders.length} revision orders and why`}
      </h2>
      <ul class="rows">
        {orders.map((order) => (
          <li class="row" key={order.revisionOrderId}>
            <div class="row-head">
              <strong>
                {order.targetModule}: {order.requestedAction.replaceAll('_', ' ')}
                {order.qtiItemId === null ? '' : `, ${itemNameOf(order.qtiItemId)}`}
              </strong>
              <State of={order.status} />
            </div>
            <p class="quiet">
              Reason: {order.reasonCodes.map((reason) => reason.replaceAll('_', ' ')).join(', ')}. Observed:{' '}
              {order.observedMetric.name.replaceAll('_', ' ')} {order.observedMetric.value} (
              {order.observedMetric.unit}). An order is due{' '}
              {operators[order.threshold.operator] ?? order.threshold.operator} {order.threshold.value}.{' '}
              {order.caseGuids.length === 0 ? '' : `Standards: ${order.caseGuids.map(nameOf).join('; ')}.`}
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
