import type { JSX } from 'preact';
import type { AdaptiveRun } from '#client/index.ts';
import { ScoreChart } from '../charts.tsx';
import { State, Table } from '../parts.tsx';
import type { Bank } from '../session.ts';
import { percent, ruleOf, zonesOf, type StateRule } from '../words.ts';
import type { Step } from './take.ts';

/** How probabilities and score have moved from answer to answer. */
export function Course({
  bank,
  steps,
}: {
  readonly bank: Bank;
  readonly steps: readonly Step[];
}): JSX.Element {
  const courses = bank.kcs.flatMap(({ guid, label }) => {
    const rows = steps.flatMap(({ run }) =>
      run.kcClassifications.filter(({ caseCompetencyGuid }) => caseCompetencyGuid === guid),
    );
    const last = rows.at(-1);
    return last === undefined ? [] : [{ label, last, values: rows.map((row) => row.posteriorProbability) }];
  });
  const scores = steps.flatMap(({ run: { scale } }, x) => (scale === null ? [] : [{ x, ...scale }]));
  return (
    <section aria-labelledby="course-heading" class="course">
      <h2 id="course-heading">How the estimates moved</h2>
      <p class="quiet">The probability of mastery after each answer. Shaded: {ruleOf(bank.rule)}.</p>
      <div class="multiples">
        {courses.map((course) => (
          <Multiple key={course.label} rule={bank.rule} {...course} />
        ))}
      </div>
      <details>
        <summary>The same in numbers</summary>
        <Table
          label="Probability of mastery after each answer"
          columns={{
            'Knowledge component': 'heading',
            Start: 'number',
            ...Object.fromEntries(steps.slice(1).map((_, at) => [`After ${at + 1}`, 'number' as const])),
          }}
          rows={courses.map(({ label, values }) => [
            label,
            ...values.map((value) => percent(value, bank.rule)),
          ])}
        />
      </details>
      <ScoreChart
        title="Scale score, by number of answers"
        description="The band is one standard error to both sides. It narrows as answers agree, and can widen when one comes as a surprise."
        x="answers"
        scores={scores}
      />
      <details>
        <summary>Answers so far</summary>
        <ol>
          {steps.flatMap(({ answered }, at) => {
            if (answered === undefined) return [];
            const item = bank.items.find(
              ({ artifactVersionId }) => artifactVersionId === answered.artifactVersionId,
            );
            return [
              <li key={at}>
                {item?.stem === '' ? item.name : item?.stem}:{' '}
                {answered.correct ? '✓ correct' : '✗ not correct'}
              </li>,
            ];
          })}
        </ol>
      </details>
    </section>
  );
}

interface MultipleProps {
  readonly label: string;
  readonly last: AdaptiveRun['kcClassifications'][number];
  readonly rule: StateRule;
  /** At least two. */
  readonly values: readonly number[];
}

/** The course of one probability on the axes that all of them share: 0 to 1, from the start to the last answer. */
function Multiple({ label, last, rule, values }: MultipleProps): JSX.Element {
  const { gap: gapUpTo, mastered: masteredFrom } = zonesOf(rule);
  const points = values.map((value, at) => `${(100 * at) / (values.length - 1)},${100 * (1 - value)}`);
  return (
    <figure>
      <figcaption>
        <strong>{label}</strong>
        <span>
          {percent(last.posteriorProbability, rule)}, <State of={last.classification} />
          {last.evidenceItemRefs.length === 0 ? ' (no item yet)' : ''}
        </span>
      </figcaption>
      <svg
        class="bar"
        viewBox="0 0 100 100"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: from ${percent(values[0] ?? 0, rule)} to ${percent(last.posteriorProbability, rule)}`}
      >
        <rect class="track" width="100" height="100" />
        <rect class="settled" width="100" height={100 * (1 - masteredFrom)} />
        <rect class="settled" width="100" y={100 * (1 - gapUpTo)} height={100 * gapUpTo} />
        <polyline points={points.join(' ')} />
      </svg>
    </figure>
  );
}
