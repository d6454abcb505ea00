import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ScoreChart } from '../charts.tsx';
import { useSurface } from '../context.ts';
import { instant, Outcome, Receipts, State } from '../parts.tsx';
import { hrefOf, usePlace } from '../router.ts';
import { useLoad } from '../store.ts';
import { Picker } from './picker.tsx';

const PAGE_ROWS = 10;
/** The most rows of one page of the API. */
const MAX_ROWS = 100;

const reasons: Readonly<Record<string, string>> = {
  unsettled: 'not settled by their owners yet',
  stale: 'with a source that is out of date',
  unreleased: 'of a kind that is not released',
  unverified: 'not verified, since facts are missing or contradict each other',
};

/** All reports of one learner. */
export function History(): JSX.Element {
  const { config, tenant, reports } = useSurface();
  const { parameters } = usePlace();
  const fixtures =
    tenant === undefined
      ? [['the sandbox’s learner', config.sandbox.candidate] as const]
      : [
          ['the learner of adaptive runs', tenant.resultsStudentId] as const,
          ...Object.entries(tenant.reports.candidates).map(
            ([role, id]) =>
              [
                role === 'withHistory' ? 'a learner with a history' : 'a learner without attempts',
                id,
              ] as const,
          ),
        ];
  const candidateSourcedId =
    parameters['id'] ?? fixtures.find(([words]) => words.includes('history'))?.[1] ?? fixtures[0]?.[1] ?? '';
  const [rows, setRows] = useState(PAGE_ROWS);
  useEffect(() => setRows(PAGE_ROWS), [candidateSourcedId]);
  const page = useLoad(
    async (signal) => {
      const client = reports('reports:read', { studentIds: [candidateSourcedId] });
      return (await client.listCandidateReports({ candidateSourcedId, limit: rows }, { signal })).data;
    },
    [candidateSourcedId, tenant, rows],
  );
  return (
    <>
      <Picker label="Learner" value={candidateSourcedId} fixtures={fixtures} />
      <Outcome of={page}>
        {({ data, hasMore, withheld = [], sources }) => {
          const scores = data
            .flatMap(({ diagnostic }) => diagnostic ?? [])
            .toReversed()
            .map((diagnostic, at) => ({ x: at + 1, ...diagnostic }));
          return (
            <>
              <ScoreChart
                title="Scale scores, oldest first"
                description="Adaptive diagnostics among the reports below. The band is one standard error to both sides: scores whose bands overlap are no evidence of a change."
                x="attempt"
                scores={scores}
                hasDots
              />
              {data.length === 0 ? <p>This learner has no reports yet.</p> : null}
              <ul class="rows">
                {data.map((report) => (
                  <li class="row" key={report.attemptId}>
                    <div class="row-head">
                      <a href={hrefOf('report', { tenant: tenant?.tenantId, id: report.attemptId })}>
                        {report.testKind.replaceAll('_', ' ')}
                      </a>
                      {report.gate === null ? (
                        <span>
                          {report.diagnostic === null
                            ? `${report.score.value.toFixed(1)} ${report.score.unit.replaceAll('_', ' ')}`
                            : `${report.diagnostic.scaleScore.toFixed(1)} ± ${report.diagnostic.standardError.toFixed(1)}`}
                        </span>
                      ) : (
                        <State of={report.gate.status} />
                      )}
                    </div>
                    <p class="quiet">
                      Attempt {report.attemptId}, facts read at {instant(report.observedAt)}
                    </p>
                  </li>
                ))}
              </ul>
              {!hasMore ? null : rows < MAX_ROWS ? (
                <button type="button" onClick={() => setRows(MAX_ROWS)}>
                  Show up to {MAX_ROWS}
                </button>
              ) : (
                <p class="quiet">There are more than these {data.length} reports.</p>
              )}
              {withheld.map(({ reason, count }) => (
                <p key={reason}>
                  {count} scored {count === 1 ? 'attempt is' : 'attempts are'} {reasons[reason] ?? reason}: no
                  report until then.
                </p>
              ))}
              <h2>Receipts</h2>
              <Receipts sources={sources} />
            </>
          );
        }}
      </Outcome>
    </>
  );
}
