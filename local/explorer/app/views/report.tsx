import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AttemptReport, MasteryRow } from '#client/index.ts';
import { useSurface } from '../context.ts';
import { isProbability, rowsByNeed } from '#report-element/speak/rows.ts';
import { Bar, Facts, instant, Outcome, Receipts, ScoreBand, State } from '../parts.tsx';
import { hrefOf, usePlace } from '../router.ts';
import { useLoad } from '../store.ts';
import { Picker } from './picker.tsx';

const uncertainties: Readonly<Record<string, string>> = {
  standard_error: 'standard error',
  interval_half_width: 'half width of the interval',
  policy_margin: 'margin of the policy',
};

/** One scored attempt. */
export function Report(): JSX.Element {
  const { config, tenant, reports } = useSurface();
  const { parameters } = usePlace();
  const fixtures =
    tenant === undefined
      ? [
          ['an attempt that failed its mastery gate', config.sandbox.masteryGateAttempt] as const,
          ['an adaptive diagnostic', config.sandbox.adaptiveDiagnosticAttempt] as const,
        ]
      : Object.entries(tenant.reports.attempts).map(([role, id]) => [roles[role] ?? role, id] as const);
  const attemptId = parameters['id'] ?? fixtures[0]?.[1] ?? '';
  const report = useLoad(
    async (signal) => {
      const client = reports('reports:read', { studentIds: tenant?.reports.students ?? [] });
      return (await client.readAttemptReport({ attemptId, view: 'evidence' }, { signal })).data;
    },
    [attemptId, tenant],
  );
  return (
    <>
      <Picker label="Attempt" value={attemptId} fixtures={fixtures} />
      <Outcome of={report}>{(value) => <Shown key={value.attemptId} report={value} />}</Outcome>
    </>
  );
}

/** The seeded attempts by what they are for. */
const roles: Readonly<Record<string, string>> = {
  gatePass: 'mastery gate, passed',
  gateFail: 'mastery gate, not passed',
  gateIndeterminate: 'mastery gate, indeterminate',
  diagnostic: 'adaptive diagnostic',
  formative: 'formative test',
  unscored: 'not scored yet',
  unsettled: 'scored, not settled yet',
  stale: 'settled, out of date',
  large: 'the largest report',
};

/** How many rows are drawn at first: a browser takes minutes for the thousands of the largest report. */
const FIRST_ROWS = 100;

function Shown({ report }: { readonly report: AttemptReport }): JSX.Element {
  const { tenant, nameOf } = useSurface();
  const { score, diagnostic, gate } = report;
  const rows = rowsByNeed(report);
  const [isWhole, setWhole] = useState(false);
  return (
    <>
      <section aria-labelledby="score-heading">
        <h2 id="score-heading">
          {diagnostic === null
            ? `Score ${score.value.toFixed(1)} ${score.unit === 'percent' ? '%' : score.unit.replaceAll('_', ' ')}`
            : `Scale score ${diagnostic.scaleScore.toFixed(1)}`}{' '}
          {diagnostic === null ? null : (
            <small>± {diagnostic.standardError.toFixed(1)} (one standard error)</small>
          )}
        </h2>
        {diagnostic === null ? null : (
          <ScoreBand
            score={diagnostic.scaleScore}
            error={diagnostic.standardError}
            low={score.minimum ?? diagnostic.scaleScore - 4 * diagnostic.standardError}
            high={score.maximum ?? diagnostic.scaleScore + 4 * diagnostic.standardError}
          />
        )}
        <Facts
          of={{
            kind: report.testKind.replaceAll('_', ' '),
            status: report.status,
            learner: (
              <a href={hrefOf('history', { tenant: tenant?.tenantId, id: report.candidateSourcedId })}>
                {report.candidateSourcedId}
              </a>
            ),
            scale: score.scaleVersion ?? undefined,
            range:
              score.minimum === null || score.maximum === null
                ? undefined
                : `${score.minimum} to ${score.maximum}`,
            stopped:
              diagnostic === null
                ? undefined
                : `${diagnostic.stoppingReason.replaceAll('_', ' ')}, after ${diagnostic.administeredItemCount} items`,
            calibration: diagnostic?.calibrationVersion,
            crosswalk: diagnostic?.extNormsSet ?? undefined,
            policy: [...new Set(rows.map(({ policyId }) => policyId))].join(', ') || undefined,
            form: (
              <a href={hrefOf('form', { tenant: tenant?.tenantId, id: report.qtiTestId })}>
                {report.qtiTestId}
              </a>
            ),
          }}
        />
      </section>
      {gate === null ? null : (
        <section aria-labelledby="gate-heading">
          <h2 id="gate-heading">
            Mastery gate: <State of={gate.status} />
          </h2>
          <Facts
            of={{
              achieved: gate.achieved ?? 'no valid measurement',
              required: gate.required,
              'gaps that the gate names': gate.gapCaseGuids.map(nameOf).join('; ') || 'none',
              criteria: gate.criteriaVersion,
              'coverage evidence': gate.coverageEvidenceId ?? 'none: without it, a gate stays indeterminate',
            }}
          />
        </section>
      )}
      <section aria-labelledby="mastery-heading">
        <h2 id="mastery-heading">Mastery, gaps first</h2>
        {rows.length === 0 ? (
          <p class="quiet">This report has no mastery rows.</p>
        ) : (
          <>
            <p class="quiet">
              Mark in the colour of the text: the estimate. Blue band: its uncertainty. Orange mark: the
              threshold of the policy. A bar runs from 0 to 1, or to 100 where the estimate or the threshold
              is above 1.
            </p>
            <ul class="rows">
              {rows.slice(0, isWhole ? undefined : FIRST_ROWS).map((row) => (
                <Row key={`${row.kind} ${row.caseGuid}`} row={row} />
              ))}
            </ul>
            {isWhole || rows.length <= FIRST_ROWS ? null : (
              <button type="button" onClick={() => setWhole(true)}>
                Show all {rows.length} rows
              </button>
            )}
          </>
        )}
      </section>
      <section aria-labelledby="limits-heading">
        <h2 id="limits-heading">What this report does not cover</h2>
        <ul>
          {report.omitted.map((section) => (
            <li key={section}>Left out: {section.replaceAll(/([A-Z])/g, ' $1').toLowerCase()}.</li>
          ))}
          {report.incompleteSections.map((problem) => (
            <li key={problem.instance}>
              {problem.title}: {problem.detail}
            </li>
          ))}
          <li>
            A state is a decision of the policy at its threshold. A few more answers can change a state whose
            uncertainty reaches across the threshold.
          </li>
        </ul>
      </section>
      <section aria-labelledby="receipts-heading">
        <h2 id="receipts-heading">Receipts</h2>
        <p>
          Every fact was read from its owner for this report, the last one at {instant(report.observedAt)}.
        </p>
        <Receipts sources={report.sources} />
      </section>
    </>
  );
}

function Row({ row }: { readonly row: MasteryRow }): JSX.Element {
  const { nameOf, itemNameOf } = useSurface();
  const asProbability = isProbability(row);
  const reach = asProbability ? 0 : row.uncertainty;
  const largest = Math.max(row.estimate, row.threshold);
  const figure = asProbability
    ? `probability of mastery ${(row.estimate * 100).toFixed(0)} %`
    : `estimate ${row.estimate.toFixed(3)} ± ${row.uncertainty.toFixed(3)} (${uncertainties[row.uncertaintyKind] ?? row.uncertaintyKind})`;
  return (
    <li class="row">
      <div class="row-head">
        <strong>{nameOf(row.caseGuid)}</strong>
        <State of={row.state} />
      </div>
      <Bar
        label={`${figure}, threshold ${row.threshold.toFixed(3)}`}
        low={Math.min(0, row.estimate, row.threshold)}
        high={largest <= 1 ? 1 : Math.max(100, largest)}
        spans={[{ from: row.estimate - reach, to: row.estimate + reach, kind: 'band' }]}
        marks={[
          { at: row.threshold, kind: 'threshold' },
          { at: row.estimate, kind: 'value' },
        ]}
      />
      <p class="quiet">
        {row.kind === 'standard' ? 'Standard' : 'Knowledge component'}, {figure}, threshold{' '}
        {asProbability ? `${(row.threshold * 100).toFixed(0)} %` : row.threshold.toFixed(3)}
        {row.parentCaseGuid === null ? '' : `, part of “${nameOf(row.parentCaseGuid)}”`}.
      </p>
      {row.evidence === undefined ? null : (
        <details>
          <summary>
            Evidence: {row.evidence.length} {row.evidence.length === 1 ? 'item' : 'items'}
          </summary>
          <ul>
            {row.evidence.map((evidence) => (
              <li key={evidence.qtiOutcomeId}>
                {itemNameOf(evidence.qtiItemId)}: contribution {evidence.contribution.toFixed(3)}, scored at{' '}
                {instant(evidence.observedAt)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}
