import type { CohortReport, CohortScope, SchoolGradeScope } from 'mastery-reports-client';
import { auditSections } from './audit.ts';
import type { Entry, Section, Spoken } from './document.ts';
import { ofListed, type Listed, type Speaker } from './speaker.ts';

/** Returns the figures of a class, or of a grade of a school. */
export function speakCohort(speaker: Speaker, cohort: CohortReport): Spoken {
  const { texts, day } = speaker;
  const { scope, populationCount, suppression, measures, asOf } = cohort;
  const learners = texts.cohortOf(populationCount);
  const isShown = suppression.status === 'not_suppressed';
  const entries = isShown ? (measures ?? []).map((measure, at) => measureOf(speaker, measure, at)) : [];
  const figures: Section = {
    heading: texts.figures,
    blocks: [
      entries.length === 0
        ? {
            kind: 'text',
            text: isShown
              ? texts.noFigures
              : suppression.status === 'suppressed'
                ? texts.suppressed
                : texts.suppressionUnknown,
          }
        : { kind: 'entries', ordered: false, entries },
    ],
  };
  return {
    verdict: { tone: 'open', text: [...groupOf(speaker, scope), learners].join(': ') },
    facts: [texts.figuresOf(day(asOf))],
    teacher: [figures],
    sure: [{ heading: texts.limits, blocks: [{ kind: 'text', text: texts.cohortCaution }] }],
    audit: auditSections(speaker, cohort),
  };
}

/** The grades that are more than a number. */
type NamedGrade = Exclude<Listed<SchoolGradeScope['grade']>, `${0 | 1}${number}`>;

function groupOf({ texts, nameOf }: Speaker, scope: CohortScope): readonly string[] {
  if ('classSourcedId' in scope) return [nameOf(scope.classSourcedId) ?? []].flat();
  const { schoolSourcedId, grade } = scope;
  const named: Readonly<Record<NamedGrade, string>> = texts.grades;
  const words = /^\d\d$/.test(grade)
    ? texts.grade(String(Number(grade)))
    : ofListed(named, grade, texts.unknownGrade);
  return [`${nameOf(schoolSourcedId) ?? texts.thisSchool}, ${words}`];
}

function measureOf(
  speaker: Speaker,
  { name, value, unit }: NonNullable<CohortReport['measures']>[number],
  at: number,
): Entry {
  const { texts, nameOf, number, numbers, percent } = speaker;
  const known = new Map(Object.entries(texts.measures));
  const words = nameOf(name) ?? known.get(name) ?? texts.measure(String(at + 1));
  const share = unit === 'proportion' ? value : unit === 'percent' ? value / 100 : undefined;
  if (share === undefined) {
    const plain: Readonly<Record<string, string>> = {
      count: number(value),
      points: texts.points(number(value), undefined),
    };
    return { name: words, lines: [ofListed(plain, unit, texts.unknownUnit(number(value)))] };
  }
  // A few are not none, and almost all are not all.
  const figure = `${numbers([share * 100, 0, 100])[0]} %`;
  const isOnAxis = share >= 0 && share <= 1;
  return {
    name: words,
    lines: [figure],
    ...(isOnAxis
      ? {
          axis: {
            label: texts.axisLabel(words, figure, percent(0), percent(1)),
            low: 0,
            high: 1,
            ticks: [0, 0.5, 1].map((tick) => ({ at: tick, text: percent(tick) })),
            zones: [],
            band: [0, share],
            marks: [{ at: share, kind: 'value' }],
          },
        }
      : {}),
  };
}
