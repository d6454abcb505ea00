import type { JSX } from 'preact';
import { useSurface } from '../context.ts';
import { Shown } from './shown.tsx';

/** The latest report of each learner of a class. No route lists a class: the embedding product knows its learners. */
export function Class(): JSX.Element {
  const { tenant, reports } = useSurface();
  const learners = tenant?.learners ?? [];
  return (
    <Shown
      inputs={[tenant]}
      load={() => {
        const client = reports('reports:read', { studentIds: learners });
        return Promise.resolve({
          kind: 'class',
          learners,
          async reportOf(candidateSourcedId, signal) {
            const { data } = await client.listCandidateReports({ candidateSourcedId, limit: 1 }, { signal });
            const [latest] = data.data;
            if (latest === undefined) return undefined;
            const { attemptId } = latest;
            return (await client.readAttemptReport({ attemptId, view: 'standards' }, { signal })).data;
          },
        });
      }}
    />
  );
}
