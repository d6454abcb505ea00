import type { AttemptReport, GateDecision, MasteryRow } from 'mastery-reports-client';
import { endsFor, roundTicks } from './axis.ts';
import { auditSections } from './audit.ts';
import type { Block, Section, Spoken, State } from './document.ts';
import { probabilityAxis, probabilityOf, statesSection, teacherSections, type Finding } from './findings.ts';
import { gapsOfGateAlone, isProbability, placesById, rowsByNeed } from './rows.ts';
import { reportScore } from './score.ts';
import { ofListed, type Listed, type Speaker } from './speaker.ts';
import { countsOf } from './states.ts';

/** Returns what to call each standard and component of a report: its name, or its place among those of its kind. By row. */
export function rowNames(
  { texts, nameOf }: Speaker,
  rows: readonly Pick<MasteryRow, 'kind' | 'caseGuid'>[],
): readonly string[] {
  const numbers = new Map<string, number>();
  return rows.map(({ kind, caseGuid }) => {
    const number = (numbers.get(kind) ?? 0) + 1;
    numbers.set(kind, number);
    const label = ofListed(
      { standard: texts.standard, knowledge_component: texts.component },
      kind,
      texts.subject,
    );
    return nameOf(caseGuid) ?? label(String(number));
  });
}

/** Returns when the last item behind a report was scored; undefined in a view without evidence. */
export function lastScored({ mastery }: AttemptReport): number | undefined {
  const times = mastery.flatMap(({ evidence = [] }) =>
    evidence.map(({ observedAt }) => Date.parse(observedAt)),
  );
  return times.length === 0 ? undefined : times.reduce((a, b) => Math.max(a, b));
}

function findingOf(speaker: Speaker, row: MasteryRow, name: string): Omit<Finding, 'partOf'> {
  const { texts, number, numbers, percent, probability } = speaker;
  const { estimate, threshold, uncertainty, uncertaintyKind, confidence } = row;
  const items = row.evidence?.map(({ qtiItemId }) => qtiItemId);
  const common = { id: row.caseGuid, name, state: row.state, items };
  const areShares = [estimate, threshold].every((value) => value >= 0 && value <= 1);
  // An answer of an earlier version of the service lacks it.
  const rule = typeof confidence === 'number' && areShares ? { cutScore: threshold, confidence } : undefined;
  if (rule !== undefined) return { ...common, ...probabilityOf(speaker, name, estimate, rule) };
  if (isProbability(row) && areShares) {
    const figure = `${texts.probability(probability(estimate, [threshold]))}, ${texts.threshold(percent(threshold))}`;
    return { ...common, rule, figure, axis: probabilityAxis(speaker, name, estimate, figure, threshold) };
  }
  const { standardError, halfWidth, policyMargin, unknown } = texts.margins;
  const margins: Readonly<Record<Listed<MasteryRow['uncertaintyKind']>, string>> = {
    standard_error: standardError,
    interval_half_width: halfWidth,
    policy_margin: policyMargin,
    unknown,
  };
  const margin = ofListed(margins, uncertaintyKind, unknown);
  const [value, limit] = numbers([estimate, threshold]);
  const figure = `${texts.estimate(value, number(uncertainty))} (${margin}), ${texts.threshold(limit)}`;
  const [low, high] = endsFor([estimate, threshold]);
  return {
    ...common,
    rule,
    figure,
    axis: {
      label: texts.axisLabel(name, figure, number(low), number(high)),
      low,
      high,
      ticks: roundTicks(low, high, number),
      zones: [],
      // The reach of an unknown kind is unknown.
      ...(margin === unknown ? {} : { band: [estimate - uncertainty, estimate + uncertainty] as const }),
      marks: [
        { at: threshold, kind: 'threshold' },
        { at: estimate, kind: 'value' },
      ],
    },
  };
}

const gateTones = { pass: 'good', fail: 'bad', indeterminate: 'open', unknown: 'open' } as const;

function verdictOf(speaker: Speaker, report: AttemptReport): State {
  const { texts } = speaker;
  const { gate, mastery } = report;
  const who = speaker.learnerOf(report.candidateSourcedId);
  const isLeftOut = report.omitted.includes('mastery');
  const counts = countsOf(speaker, mastery);
  const rest = counts === '' ? (isLeftOut ? texts.rowsLeftOut : texts.noRows) : counts;
  if (gate === null) {
    const states = mastery.map(({ state }) => state);
    const tone = states.includes('gap')
      ? 'bad'
      : states.length > 0 && states.every((state) => state === 'mastered')
        ? 'good'
        : 'open';
    return { tone, text: texts.sentence(texts.diagnosis(who), rest) };
  }
  const starts: Readonly<Record<Listed<GateDecision['status']>, string>> = {
    pass: texts.gatePass(who),
    fail: texts.gateFail(who),
    indeterminate: texts.gateOpen(who),
    unknown: texts.gateUnknown(who),
  };
  return {
    tone: ofListed(gateTones, gate.status, 'open'),
    text: texts.sentence(ofListed(starts, gate.status, starts.unknown), rest),
  };
}

/** Returns achieved, required and unit in one sentence, and what an undecided gate lacks. */
function gateFacts({ texts, number, numbers }: Speaker, { gate, score }: AttemptReport): readonly string[] {
  if (gate === null) return [];
  const { achieved, required, status, coverageEvidenceId } = gate;
  const { points, percent, scale } = texts.unitOfScore;
  // The gate has no unit of its own: that of the score counts where it is the same figure.
  const unit =
    achieved === score.value
      ? ofListed({ points, percent, mastery_scale: scale }, score.unit, texts.unitOfCriteria)
      : texts.unitOfCriteria;
  const misses = texts.gateMisses;
  return [
    achieved === null
      ? texts.gateWithoutFigure(number(required))
      : texts.gateFigures(...numbers([achieved, required]), unit),
    ...(status !== 'indeterminate'
      ? []
      : [
          ...(achieved === null ? [misses.measurement] : []),
          ...(coverageEvidenceId === null ? [misses.coverage] : []),
          ...(achieved !== null && coverageEvidenceId !== null ? [misses.other] : []),
        ]),
  ];
}

/** Returns why a test stopped, in a sentence. */
export function stopText({ texts }: Speaker, reason: string): string {
  const { complete, precise, longest, time, unknown } = texts.stopped;
  type Reason = Listed<NonNullable<AttemptReport['diagnostic']>['stoppingReason']>;
  const words: Readonly<Record<Reason, string>> = {
    classifications_complete: complete,
    precision_target_met: precise,
    max_items: longest,
    time_budget: time,
    unknown,
  };
  return ofListed(words, reason, unknown);
}

function limitsSection(speaker: Speaker, report: AttemptReport): Section {
  const { texts, list } = speaker;
  const { omitted, incompleteSections, diagnostic } = report;
  const { mastery, itemEvidence, readiness } = texts.omitted;
  const parts: Readonly<Record<Listed<AttemptReport['omitted'][number]>, string>> = {
    mastery,
    itemEvidence,
    readiness,
  };
  const left = omitted.map((part) => ofListed(parts, part, texts.omittedUnknown));
  const lines = [
    ...(diagnostic === null
      ? []
      : [
          texts.administered(diagnostic.administeredItemCount),
          stopText(speaker, diagnostic.stoppingReason),
          ...(diagnostic.extNormsSet === null ? [] : [texts.crosswalk]),
        ]),
    ...(incompleteSections.length === 0 ? [] : [texts.incomplete(incompleteSections.length)]),
    ...(left.length === 0 ? [] : [`${texts.leftOut}${list(left)}.`]),
  ];
  return {
    heading: texts.limits,
    blocks: [...lines, texts.stateMayChange].map((text): Block => ({ kind: 'text', text })),
  };
}

/** Returns an attempt report in its three layers. */
export function speakAttempt(speaker: Speaker, report: AttemptReport): Spoken {
  const { texts } = speaker;
  const names = rowNames(speaker, report.mastery);
  const places = placesById(report.mastery);
  const partOf = ({ parentCaseGuid: id }: MasteryRow): string | undefined =>
    id === null ? undefined : (speaker.nameOf(id) ?? names[places.get(id) ?? -1]);
  const findings = report.mastery.map((row, at): Finding => ({
    ...findingOf(speaker, row, names[at] ?? ''),
    partOf: partOf(row),
  }));
  const byRow = new Map(report.mastery.map((row, at) => [row, findings[at]]));
  const day = lastScored(report);
  const otherGaps = gapsOfGateAlone(report).map((id) => ({ id, finding: findings[places.get(id) ?? -1] }));
  const hasProbability = findings.some(({ axis }) => axis.high === 1 && axis.band === undefined);
  return {
    verdict: verdictOf(speaker, report),
    facts: [
      ...gateFacts(speaker, report),
      day === undefined ? texts.dayNotGiven : texts.lastScored(speaker.day(day)),
    ],
    teacher:
      report.omitted.includes('mastery') && otherGaps.length === 0
        ? []
        : teacherSections(speaker, findings, { otherGaps }),
    sure: [
      reportScore(speaker, report),
      ...(findings.length === 0
        ? []
        : [
            statesSection(
              speaker,
              rowsByNeed(report).flatMap((row) => byRow.get(row) ?? []),
              hasProbability ? [texts.probabilityMeans] : [],
            ),
          ]),
      limitsSection(speaker, report),
    ],
    audit: auditSections(speaker, report),
  };
}
