import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AttemptReport } from '#client/index.ts';
import { useSurface } from '../context.ts';
import { Choice } from '../parts.tsx';
import { usePlace } from '../router.ts';
import { Picker } from './picker.tsx';
import { Shown } from './shown.tsx';

/** Requests that are under way at the same time. */
const AT_ONCE = 4;

/** All reports of one learner. */
export function History(): JSX.Element {
  const { config, tenant, reports } = useSurface();
  const { parameters } = usePlace();
  const [limit, setLimit] = useState('10');
  const fixtures =
    tenant === undefined
      ? [['the sandbox’s learner', config.sandbox.candidate] as const]
      : [
          ...Object.entries(tenant.reports.candidates).map(
            ([role, id]) =>
              [
                role === 'withHistory' ? 'a learner with a history' : 'a learner without attempts',
                id,
              ] as const,
          ),
          ['the learner of adaptive runs', tenant.resultsStudentId] as const,
        ];
  const candidateSourcedId = parameters['id'] ?? fixtures[0]?.[1] ?? '';
  return (
    <>
      <Picker label="Learner" value={candidateSourcedId} fixtures={fixtures} />
      <p>
        <Choice
          label="Latest reports"
          value={limit}
          options={['10', '25', '100'].map((count) => [count, count])}
          onChange={setLimit}
        />
      </p>
      <Shown
        inputs={[candidateSourcedId, limit]}
        load={async (signal) => {
          const client = reports('reports:read', { studentIds: [candidateSourcedId] });
          const { data: page } = await client.listCandidateReports(
            { candidateSourcedId, limit: Number(limit) },
            { signal },
          );
          // The rows of a page do not state the day of the test: the reports do.
          const details: AttemptReport[] = [];
          const queue = page.data.values();
          const work = async (): Promise<void> => {
            for (const { attemptId } of queue)
              details.push(
                (await client.readAttemptReport({ attemptId, view: 'evidence' }, { signal })).data,
              );
          };
          await Promise.all(Array.from({ length: AT_ONCE }, work));
          return { kind: 'history', page, details };
        }}
      />
    </>
  );
}
