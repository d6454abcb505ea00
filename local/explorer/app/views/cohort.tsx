import type { JSX } from 'preact';
import type { CohortReport } from '#client/index.ts';
import { useSurface } from '../context.ts';
import { Choice } from '../parts.tsx';
import { choose, usePlace } from '../router.ts';
import { Shown } from './shown.tsx';

/** A class, or a grade of a school. */
export function Cohort(): JSX.Element {
  const { tenant, reports, names } = useSurface();
  const { parameters } = usePlace();
  const nameOf = (id: string): string => names.get(id) ?? 'a class';
  const { classesWithheld = [], classesWithoutRollup = [] } = tenant?.reports.special ?? {};
  const options = [
    ...(tenant?.reports.classes ?? []).map((id) => [`class ${id}`, nameOf(id)] as const),
    ...classesWithheld.map((id) => [`class ${id}`, `${nameOf(id)} (count withheld)`] as const),
    ...classesWithoutRollup.map((id) => [`class ${id}`, `${nameOf(id)} (no rollup)`] as const),
    ...(tenant?.reports.schools ?? []).map(
      ({ schoolSourcedId, grade }) =>
        [`grade ${grade} ${schoolSourcedId}`, `${nameOf(schoolSourcedId)}, grade ${grade}`] as const,
    ),
  ];
  const chosen = parameters['cohort'] ?? options[0]?.[0] ?? '';
  const read = async (signal: AbortSignal): Promise<CohortReport> => {
    const [kind, first = '', school = ''] = chosen.split(' ');
    if (kind === 'class') {
      const client = reports('reports:read', { classSourcedIds: [first] });
      return (await client.readClassCohort({ classSourcedId: first }, { signal })).data;
    }
    const client = reports('reports:read', { schoolSourcedIds: [school] });
    // SAFETY: the seed names grades of the enumeration.
    const cohort = { schoolSourcedId: school, grade: first as '04' };
    return (await client.readSchoolGradeCohort(cohort, { signal })).data;
  };
  return (
    <>
      <p>
        <Choice
          label="Cohort"
          value={chosen}
          options={options}
          onChange={(value) => choose({ cohort: value })}
        />
      </p>
      <Shown inputs={[chosen]} load={async (signal) => ({ kind: 'cohort', cohort: await read(signal) })} />
    </>
  );
}
