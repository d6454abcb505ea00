import type { JSX } from 'preact';
import type { AttemptReport, MasteryRow } from '#client/index.ts';
import { useSurface } from '../context.ts';
import { Facts, instant, Outcome, Receipts, ScoreBand, State } from '../parts.tsx';
import { choose, hrefOf, usePlace } from '../router.ts';
import { useLoad } from '../store.ts';
import { Picker } from './picker.tsx';

/** What needs attention comes first. */
const order = ['gap', 'not_yet', 'insufficient_evidence', 'unknown', 'mastered'];

/** The rows of a report, gaps first, and within a state the one first that is furthest below its threshold. */
function byNeed(rows: readonly MasteryRow[]): readonly MasteryRow[] {
  const rank = ({ state }: MasteryRow): number => (order.indexOf(state) + order.length) % order.length;
  return rows.toSorted((a, b) => rank(a) - rank(b) || a.estimate - a.threshold - (b.estimate - b.threshold));
}

/** Whether the uncertainty is only that of a yes or no that holds with this probability. */
function isProbability({ kind, estimate, uncertainty, uncertaintyKind }: MasteryRow): boolean {
  return (
    kind === 'knowledge_component' &&
    uncertaintyKind === 'standard_error' &&
    Math.abs(uncertainty ** 2 - estimate * (1 - estimate)) < 1e-5
  );
}

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
      <h1>Attempt report</h1>
      <Picker label="Attempt" value={attemptId} fixtures={fixtures} onChange={(id) => choose({ id })} />
      <Outcome of={report}>{(value) => <Shown report={value} />}</Outcome>
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

function Shown({ report }: { readonly report: AttemptReport }): JSX.Element {
  const { tenant, nameOf } = useSurface();
  const { score, diagnostic, gate } = report;
  const rows = byNeed(report.mastery);
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
              Dark mark: the estimate. Blue band: its uncertainty. Orange mark: the threshold of the policy.
            </p>
            <ul class="rows">
              {rows.map((row) => (
                <Row key={`${row.kind} ${row.caseGuid}`} row={row} />
              ))}
            </ul>
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
  const low = Math.min(0, row.estimate - reach, row.threshold);
  const high = Math.max(1, row.estimate + reach, row.threshold);
  const at = (value: number): number => (100 * (value - low)) / (high - low);
  const figure = asProbability
    ? `probability of mastery ${(row.estimate * 100).toFixed(0)} %`
    : `estimate ${row.estimate.toFixed(3)} ± ${row.uncertainty.toFixed(3)} (${uncertainties[row.uncertaintyKind] ?? row.uncertaintyKind})`;
  return (
    <li class="row">
      <div class="row-head">
        <strong>{nameOf(row.caseGuid)}</strong>
        <State of={row.state} />
      </div>
      <svg
        class="estimate"
        viewBox="0 0 100 12"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${figure}, threshold ${row.threshold.toFixed(3)}`}
      >
        <rect class="track" x="0" y="3" width="100" height="6" />
        {asProbability ? null : (
          <rect
            class="band"
            x={at(row.estimate - row.uncertainty)}
            y="1"
            width={at(row.estimate + row.uncertainty) - at(row.estimate - row.uncertainty)}
            height="10"
          />
        )}
        <rect class="threshold" x={at(row.threshold) - 0.2} y="0" width="0.4" height="12" />
        <rect
          class="value"
          x={Math.min(99.4, Math.max(0, at(row.estimate) - 0.3))}
          y="0"
          width="0.6"
          height="12"
        />
      </svg>
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
