import type { JSX } from 'preact';
import { useSurface } from '../context.ts';
import { usePlace } from '../router.ts';
import { Picker } from './picker.tsx';
import { Shown } from './shown.tsx';

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
  return (
    <>
      <Picker label="Form" value={qtiTestId} fixtures={fixtures} />
      <Shown
        inputs={[qtiTestId]}
        load={async (signal) => {
          const { data } = await reports('reports:read', {}).readEquivalence({ qtiTestId }, { signal });
          return { kind: 'equivalence', equivalence: data };
        }}
      />
    </>
  );
}
