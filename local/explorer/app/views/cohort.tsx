import type { JSX } from 'preact';
import { useSurface } from '../context.ts';
import { Choice, Facts, instant, Outcome, Receipts, Table } from '../parts.tsx';
import { choose, usePlace } from '../router.ts';
import { useLoad } from '../store.ts';

/** A class, or a grade of a school. */
export function Cohort(): JSX.Element {
  const { tenant, reports } = useSurface();
  const { parameters } = usePlace();
  const classes = tenant?.reports.classes ?? [];
  const { classesWithheld = [], classesWithoutRollup = [] } = tenant?.reports.special ?? {};
  const options = [
    ...classes.map((id) => [`class ${id}`, id] as const),
    ...classesWithheld.map((id) => [`class ${id}`, `${id} (count withheld)`] as const),
    ...classesWithoutRollup.map((id) => [`class ${id}`, `${id} (no rollup)`] as const),
    ...(tenant?.reports.schools ?? []).map(
      ({ schoolSourcedId, grade }) =>
        [`grade ${grade} ${schoolSourcedId}`, `${schoolSourcedId}, grade ${grade}`] as const,
    ),
  ];
  const chosen = parameters['cohort'] ?? options[0]?.[0] ?? '';
  const cohort = useLoad(
    async (signal) => {
      const [kind, first = '', school = ''] = chosen.split(' ');
      return kind === 'class'
        ? (
            await reports('reports:read', { classSourcedIds: [first] }).readClassCohort(
              { classSourcedId: first },
              { signal },
            )
          ).data
        : (
            await reports('reports:read', { schoolSourcedIds: [school] }).readSchoolGradeCohort(
              // SAFETY: the seed names grades of the enumeration.
              { schoolSourcedId: school, grade: first as '04' },
              { signal },
            )
          ).data;
    },
    [chosen, tenant],
  );
  return (
    <>
      <Choice
        label="Cohort"
        value={chosen}
        options={options}
        onChange={(value) => choose({ cohort: value })}
      />
      <Outcome of={cohort}>
        {({ populationCount, suppression, measures, asOf, formulaVersion, rollupId, source }) => (
          <>
            <section aria-labelledby="cohort-heading">
              <h2 id="cohort-heading">{populationCount} learners</h2>
              {suppression.status === 'not_suppressed' ? (
                <Table
                  label="Measures"
                  columns={{ Measure: 'heading', Value: 'number', Unit: 'text' }}
                  rows={(measures ?? []).map(({ name, value, unit }) => [
                    name.replaceAll('_', ' '),
                    value,
                    unit,
                  ])}
                />
              ) : (
                <p class="notice">
                  <strong>Suppressed.</strong> Analytics withholds the measures of this cohort, so that
                  nothing can be concluded about single learners. There is no value to show, not a value of
                  zero.
                </p>
              )}
              <Facts
                of={{ 'as of': instant(asOf), formula: formulaVersion, rollup: <code>{rollupId}</code> }}
              />
            </section>
            <h2>Receipt</h2>
            <Receipts sources={[source]} />
          </>
        )}
      </Outcome>
    </>
  );
}
