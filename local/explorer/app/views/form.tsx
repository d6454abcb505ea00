import type { JSX } from 'preact';
import type { EquivalenceReport } from '#client/index.ts';
import { useSurface } from '../context.ts';
import { Facts, Outcome, Receipts, State } from '../parts.tsx';
import { usePlace } from '../router.ts';
import { useLoad } from '../store.ts';
import { Picker } from './picker.tsx';

/** Whether a form is equivalent to others. */
export function Form(): JSX.Element {
  const { config, tenant, reports } = useSurface();
  const { parameters } = usePlace();
  const fixtures =
    tenant === undefined
      ? [['the sandbox’s form', config.sandbox.form] as const]
      : Object.entries(tenant.reports.forms).map(
          ([role, id]) => [role.replaceAll(/([A-Z])/g, ' $1').toLowerCase(), id] as const,
        );
  const qtiTestId = parameters['id'] ?? fixtures[0]?.[1] ?? '';
  const report = useLoad(
    async (signal) => (await reports('reports:read', {}).readEquivalence({ qtiTestId }, { signal })).data,
    [qtiTestId, tenant],
  );
  return (
    <>
      <Picker label="Form" value={qtiTestId} fixtures={fixtures} />
      <Outcome of={report}>{(value) => <Shown report={value} />}</Outcome>
    </>
  );
}

const signed = (value: number): string => String(value).replace('-', '−');

function Shown({ report }: { readonly report: EquivalenceReport }): JSX.Element {
  const { lower, upper } = report.confidenceInterval;
  return (
    <>
      <section aria-labelledby="decision-heading">
        <h2 id="decision-heading">
          <State of={report.decision} />
        </h2>
        <Facts
          of={{
            statistic: signed(report.statistic),
            'confidence interval': `${signed(lower)} to ${signed(upper)}`,
            tolerance: report.tolerance,
            method: `${report.method}, version ${report.analysisVersion}`,
            'same coverage': report.coverageMatch ? 'yes' : 'no',
            'same depth of knowledge': report.dokMatch ? 'yes' : 'no',
            'compared with': report.comparisonQtiTestIds.join(', '),
            'sample sizes': Object.entries(report.sampleSizes)
              .map(([form, size]) => `${form}: ${size}`)
              .join(', '),
          }}
        />
      </section>
      <h2>Receipts</h2>
      <Receipts sources={report.sources} />
    </>
  );
}
