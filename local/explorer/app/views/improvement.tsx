import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { waitForImprovementRun } from '#client/index.ts';
import type { AlignmentReport, ImprovementRun, ReportsClient, RevisionOrder } from '#client/index.ts';
import { useSurface } from '../context.ts';
import { Bar, Choice, Facts, Failure, instant, Outcome, Receipts, State, Table } from '../parts.tsx';
import { pausing } from '../pauses.ts';
import { choose, usePlace } from '../router.ts';
import { useLoad } from '../store.ts';
import { figure, nameFrom, orderRule, wordsFor } from '../words.ts';

/** The analysis of an administration. */
export function Improvement(): JSX.Element {
  const { tenant, reports, nameOf } = useSurface();
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
          options={administrations.map((id) => [id, nameFrom(nameOf(id))])}
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
        sleep: pausing(() => 'The analysis is still under way'),
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
          : `So far: ${progress.alignmentRecordCount} of ${progress.namedSourceCount} alignments, ${progress.revisionOrderCount} orders`}
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
                'done without':
                  run.omissions.length === 0
                    ? 'nothing'
                    : run.omissions
                        .map((name) => wordsFor(name === 'predicted_actual' ? 'whyNot' : 'metrics', name))
                        .join(', '),
              }}
            />
            <Metrics run={run} />
          </section>
          {alignments.map((alignment) => (
            <Alignment key={alignment.sourceKey} alignment={alignment} />
          ))}
          <Orders
            orders={orders}
            sources={
              new Map(alignments.map((alignment) => [alignment.sourceKey, alignment.sourceAssessment]))
            }
          />
          <ForAuditors run={run} alignments={alignments} />
        </>
      )}
    </Outcome>
  );
}

interface ForAuditorsProps {
  readonly run: ImprovementRun;
  readonly alignments: readonly AlignmentReport[];
}

function ForAuditors({ run, alignments }: ForAuditorsProps): JSX.Element {
  return (
    <details class="auditors">
      <summary>For auditors</summary>
      <Facts
        of={{
          run: <code>{run.improvementRunId}</code>,
          policy: (
            <code>
              {run.analysisPolicyId}, {run.analysisPolicyVersion}
            </code>
          ),
          receipt:
            run.receipt === null ? undefined : (
              <a href={run.receipt.downloadUrl}>download, SHA-256 {run.receipt.sha256.slice(0, 12)}…</a>
            ),
        }}
      />
      {alignments.map(({ sourceKey, sourceAssessment, sourceVersion, limitations }) => (
        <ul key={sourceKey} class="quiet">
          {[`${sourceAssessment}, version ${sourceVersion}`, ...limitations].map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      ))}
      <Receipts sources={run.sources} />
    </details>
  );
}

function Metrics({ run }: { readonly run: ImprovementRun }): JSX.Element {
  return (
    <Table
      label="Metrics"
      columns={{ Metric: 'heading', Status: 'text', Learners: 'number', Sample: 'number', Why: 'text' }}
      rows={run.metricStatuses.map((metric) => [
        wordsFor('metrics', metric.metric),
        wordsFor('metricStates', metric.status),
        metric.populationCount ?? '–',
        metric.sampleCount ?? '–',
        metric.suppressionRule ?? (metric.reasonCode === null ? '' : wordsFor('whyNot', metric.reasonCode)),
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
        {figure(alignment.numerator)} of {figure(alignment.denominator)} by weight
      </p>
      <details>
        <summary>Contributions: {alignment.contributions.length} requirements</summary>
        <Table
          label={`Contributions of ${alignment.sourceAssessment}`}
          columns={{
            Requirement: 'heading',
            Covered: 'text',
            Rigor: 'text',
            Contribution: 'number',
            'Why not': 'text',
          }}
          rows={alignment.contributions.map((row, at) => [
            `${at + 1}. ${row.caseGuid === null ? 'not mapped to a standard' : nameOf(row.caseGuid)}`,
            row.coverage === 1 ? 'yes' : 'no',
            `${row.sourceDok} asked, ${row.targetDok ?? 'none'} met`,
            `${figure(row.weightedContribution)} of ${figure(row.weight)}`,
            row.reasonCode === null ? '' : wordsFor('whyNot', row.reasonCode),
          ])}
        />
      </details>
    </section>
  );
}

interface OrdersProps {
  readonly orders: readonly RevisionOrder[];
  /** What the external assessments are called, by key. */
  readonly sources: ReadonlyMap<string, string>;
}

/** The orders by the module that receives them, and in it by item, each in the order of its first one. */
function Orders({ orders, sources }: OrdersProps): JSX.Element {
  const { itemNameOf } = useSurface();
  return (
    <section aria-labelledby="orders-heading">
      <h2 id="orders-heading">
        {orders.length === 0 ? 'No revision orders' : `${orders.length} revision orders and why`}
      </h2>
      {[...Map.groupBy(orders, ({ targetModule }) => targetModule)].map(([module, received]) => (
        <section key={module}>
          <h3>
            For {wordsFor('modules', module)}: {received.length} {received.length === 1 ? 'order' : 'orders'}
          </h3>
          {[...Map.groupBy(received, ({ qtiItemId }) => qtiItemId)].map(([item, ofItem]) => (
            <div class="row" key={item}>
              <h4>{item === null ? 'The whole test' : itemNameOf(item)}</h4>
              <ul class="rows">
                {ofItem.map((order) => (
                  <Order key={order.revisionOrderId} order={order} sources={sources} />
                ))}
              </ul>
            </div>
          ))}
        </section>
      ))}
    </section>
  );
}

interface OrderProps extends Pick<OrdersProps, 'sources'> {
  readonly order: RevisionOrder;
}

function Order({ order, sources }: OrderProps): JSX.Element {
  const { nameOf } = useSurface();
  const assessments = order.sourceKeys.flatMap((key) => sources.get(key) ?? []);
  return (
    <li>
      <div class="row-head">
        <span>
          {wordsFor('actions', order.requestedAction)}
          {assessments.length === 0 ? '' : `: ${assessments.join(', ')}`}
        </span>
        <State of={order.status} />
      </div>
      <p class="quiet">
        Because {order.reasonCodes.map((reason) => wordsFor('reasons', reason)).join(', and ')}. Observed:{' '}
        {orderRule(order)}.{' '}
        {order.caseGuids.length === 0 ? '' : `Standards: ${order.caseGuids.map(nameOf).join('; ')}.`}
      </p>
    </li>
  );
}
