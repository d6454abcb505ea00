import type { AttemptReport, AttemptReportPage, WithheldAttempts } from 'mastery-reports-client';
import { lastScored } from './attempt.ts';
import { auditSections } from './audit.ts';
import { roundedEnds, roundTicks } from './axis.ts';
import type { Block, Cell, Section, Spoken, State } from './document.ts';
import { scoreText } from './score.ts';
import { ofListed, type Listed, type Speaker } from './speaker.ts';

/** A score on a mastery scale whose day is known. */
interface Dated {
  readonly day: number;
  readonly value: number;
  readonly error: number;
  readonly calibration: string;
}

/** Whether two scores of one scale differ by more than chance explains: by more than twice the errors of both together. */
export function compareScores(
  first: Pick<Dated, 'value' | 'error'>,
  last: Pick<Dated, 'value' | 'error'>,
): { readonly by: number; readonly least: number; readonly change: 'rose' | 'fell' | 'none' } {
  const by = last.value - first.value;
  const least = 2 * Math.hypot(first.error, last.error);
  const change = Math.abs(by) <= least ? 'none' : by > 0 ? 'rose' : 'fell';
  return { by: Math.abs(by), least, change };
}

const tones = { rose: 'good', fell: 'bad', none: 'open' } as const;

function changeText({ texts, numbers, day }: Speaker, scores: readonly Dated[]): State {
  const [first] = scores;
  const last = scores.at(-1);
  if (first === undefined || last === undefined || scores.length < 2)
    return { tone: 'open', text: texts.oneScore };
  const { by, least, change } = compareScores(first, last);
  const days = [day(first.day), day(last.day)] as const;
  if (days[0] === days[1]) return { tone: 'open', text: texts.oneDay(days[0]) };
  if (first.calibration !== last.calibration || least === 0)
    return { tone: 'open', text: texts.notComparable(...days) };
  const words = { rose: texts.rose, fell: texts.fell, none: texts.noChange };
  return {
    tone: tones[change],
    text: words[change](...days, ...numbers([by, least])),
  };
}

/** Returns the scores of each scale, oldest first. */
function scoresByScale(
  reports: readonly AttemptReport[],
  dayOf: (report: AttemptReport) => number | undefined,
): ReadonlyMap<string, readonly Dated[]> {
  const scales = new Map<string, Dated[]>();
  for (const report of reports) {
    const day = dayOf(report);
    if (report.diagnostic === null || day === undefined) continue;
    const { scaleScore, standardError, scaleVersion, calibrationVersion } = report.diagnostic;
    const score = { day, value: scaleScore, error: standardError, calibration: calibrationVersion };
    scales.set(scaleVersion, [...(scales.get(scaleVersion) ?? []), score]);
  }
  return new Map([...scales].map(([scale, scores]) => [scale, scores.toSorted((a, b) => a.day - b.day)]));
}

function panelBlocks(speaker: Speaker, scale: string, scores: readonly Dated[]): readonly Block[] {
  const { texts, number, shortDay } = speaker;
  const reach = scores.flatMap(({ value, error }) => [value - error, value + error]);
  const known = speaker.scaleOf(scale);
  const [low, high] = known === undefined ? roundedEnds(reach) : [known.low, known.high];
  const days = [...new Set(scores.map(({ day }) => day))];
  const shown = [days[0], days.at(-1)].filter(
    (at, index, all) => at !== undefined && all.indexOf(at) === index,
  );
  return [
    {
      kind: 'timeline',
      timeline: {
        label: texts.timelineLabel(scores.length, number(low), number(high)),
        low,
        high,
        ticks: roundTicks(low, high, number),
        days: shown.flatMap((at) => (at === undefined ? [] : { at, text: shortDay(at) })),
        points: scores.map(({ day, value, error }) => ({ day, value, error })),
      },
    },
    {
      kind: 'text',
      quiet: true,
      text: (known === undefined ? texts.axisPart : texts.axisEnds)(number(low), number(high)),
    },
    ...(new Set(scores.map(({ calibration }) => calibration)).size > 1
      ? [{ kind: 'text' as const, text: texts.otherCalibrations }]
      : []),
  ];
}

/** Returns what a report comes to in a few words: the decision, or the score. */
function resultOf(speaker: Speaker, { gate, diagnostic, score }: AttemptReport): Cell {
  const { texts, number } = speaker;
  if (gate !== null) {
    const { passed, failed, undecided } = texts;
    const cells: Readonly<Record<Listed<typeof gate.status>, Cell>> = {
      pass: { text: passed, state: 'good' },
      fail: { text: failed, state: 'bad' },
      indeterminate: { text: undecided, state: 'open' },
      unknown: { text: texts.unknownValue, state: 'open' },
    };
    return ofListed(cells, gate.status, cells.unknown);
  }
  if (diagnostic !== null)
    return { text: `${number(diagnostic.scaleScore)} ± ${number(diagnostic.standardError)}` };
  return { text: scoreText(speaker, score) };
}

function allTests(
  speaker: Speaker,
  reports: readonly AttemptReport[],
  dayOf: (report: AttemptReport) => number | undefined,
): Section {
  const { texts, nameOf, hrefOf, day } = speaker;
  const { gate, diagnostic, formative, unknown } = texts.testKinds;
  const kinds: Readonly<Record<Listed<AttemptReport['testKind']>, string>> = {
    mastery_gate: gate,
    adaptive_diagnostic: diagnostic,
    formative,
    unknown,
  };
  const rows = reports.map((report): Cell[] => {
    const scored = dayOf(report);
    const test =
      nameOf(report.contentTestSpecId) ??
      nameOf(report.qtiTestId) ??
      ofListed(kinds, report.testKind, unknown);
    return [
      { text: test, href: hrefOf?.(report.attemptId) },
      { text: scored === undefined ? texts.notGiven : day(scored) },
      resultOf(speaker, report),
    ];
  });
  const { columns } = texts;
  return {
    heading: texts.allTests,
    blocks: [
      {
        kind: 'table',
        table: { caption: texts.allTests, columns: [columns.test, columns.day, columns.result], rows },
      },
    ],
  };
}

/** Returns the reports of one learner over time: whether a score has changed, and what is missing. */
export function speakHistory(
  speaker: Speaker,
  page: AttemptReportPage,
  details: readonly AttemptReport[],
): Spoken {
  const { texts } = speaker;
  const days = new Map(details.map((report) => [report.attemptId, lastScored(report)]));
  const dayOf = ({ attemptId }: AttemptReport): number | undefined => days.get(attemptId);
  const scales = [...scoresByScale(page.data, dayOf)];
  const hasScore = page.data.some(({ diagnostic }) => diagnostic !== null);
  const [first] = page.data;
  const who =
    first === undefined
      ? (speaker.learner ?? texts.thisLearner)
      : speaker.learnerOf(first.candidateSourcedId);
  const { unsettled, stale, unreleased, unverified, unknown } = texts.withheld;
  const reasons: Readonly<Record<Listed<WithheldAttempts['reason']>, (count: number) => string>> = {
    unsettled,
    stale,
    unreleased,
    unverified,
  };
  const missing = [
    ...(page.withheld ?? []).map(({ reason, count }) => ofListed(reasons, reason, unknown)(count)),
    ...(page.hasMore ? [texts.moreReports] : []),
  ];
  const noChange = !hasScore ? texts.noScores : scales.length === 0 ? texts.noDays : undefined;
  const only = scales.length === 1 ? scales[0] : undefined;
  const verdict =
    first === undefined
      ? { tone: 'open' as const, text: texts.noReports(who) }
      : only === undefined
        ? { tone: 'open' as const, text: texts.history(who) }
        : changeText(speaker, only[1]);
  return {
    verdict,
    facts:
      first === undefined
        ? missing
        : [
            ...(only === undefined ? [] : [texts.history(who)]),
            ...(noChange === undefined ? [] : [noChange]),
            texts.reportsFound(page.data.length),
            ...missing,
          ],
    teacher: [
      ...scales.map(([scale, scores], at) => ({
        heading: texts.scalePanel(String(at + 1), scales.length),
        blocks: [
          ...(only === undefined ? [{ kind: 'text' as const, text: changeText(speaker, scores).text }] : []),
          ...panelBlocks(speaker, scale, scores),
        ],
      })),
      ...(first === undefined ? [] : [allTests(speaker, page.data, dayOf)]),
    ],
    sure:
      scales.length === 0
        ? []
        : [{ heading: texts.limits, blocks: [{ kind: 'text', text: texts.changeRule }] }],
    audit: auditSections(speaker, page),
  };
}
