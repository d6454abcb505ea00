import type { JSX } from 'preact';
import { useSurface } from '../context.ts';
import { usePlace } from '../router.ts';
import { Picker } from './picker.tsx';
import { Shown } from './shown.tsx';

/** The seeded attempts by what they are for. */
const roles: Readonly<Record<string, string>> = {
  gateFail: 'Ben: mastery gate, not passed',
  gatePass: 'Ada: mastery gate, passed',
  gateIndeterminate: 'Cleo: mastery gate, undecided',
  diagnostic: 'Dana: adaptive diagnostic',
  formative: 'Eli: formative test',
  unscored: 'Fay: not scored yet',
  unsettled: 'Gus: scored, not settled yet',
  stale: 'Hana: settled, out of date',
  large: 'Kim: the largest report',
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
  const attemptId = parameters['id'] ?? tenant?.reports.attempts['gateFail'] ?? fixtures[0]?.[1] ?? '';
  return (
    <>
      <Picker label="Attempt" value={attemptId} fixtures={fixtures} />
      <Shown
        inputs={[attemptId]}
        load={async (signal) => {
          const client = reports('reports:read', { studentIds: tenant?.reports.students ?? [] });
          const { data: report } = await client.readAttemptReport(
            { attemptId, view: 'evidence' },
            { signal },
          );
          return { kind: 'attempt', report };
        }}
      />
    </>
  );
}
