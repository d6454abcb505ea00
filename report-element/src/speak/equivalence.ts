import type { EquivalenceReport } from 'mastery-reports-client';
import { auditSections } from './audit.ts';
import { roundTicks } from './axis.ts';
import type { Axis, Block, Spoken } from './document.ts';
import { ofListed, type Listed, type Speaker } from './speaker.ts';

const tones = {
  equivalent: 'good',
  not_equivalent: 'bad',
  insufficient_evidence: 'open',
  unknown: 'open',
} as const;

/** Returns whether forms of a test measure alike, and what to do about it. */
export function speakEquivalence(speaker: Speaker, report: EquivalenceReport): Spoken {
  const { texts, nameOf } = speaker;
  const { decision, coverageMatch, dokMatch, sampleSizes } = report;
  type Decision = Listed<EquivalenceReport['decision']>;
  const verdicts: Readonly<Record<Decision, string>> = {
    equivalent: texts.equivalent,
    not_equivalent: texts.notEquivalent,
    insufficient_evidence: texts.undecidedForms,
    unknown: texts.unknownForms,
  };
  const { equivalent, notEquivalent, open } = texts.formsNext;
  const advice: Readonly<Record<Decision, string>> = {
    equivalent,
    not_equivalent: notEquivalent,
    insufficient_evidence: open,
    unknown: open,
  };
  const countOf = (size: number | undefined): string =>
    size === undefined ? texts.notGiven : speaker.number(size);
  const samples = new Map(Object.entries(sampleSizes));
  const forms = [report.qtiTestId, ...report.comparisonQtiTestIds].map((id, at) => [
    { text: nameOf(id) ?? (at === 0 ? texts.thisForm : texts.form(String(at + 1))) },
    { text: countOf(samples.get(id)) },
  ]);
  const isUnequal = decision === 'equivalent' && !(coverageMatch && dokMatch);
  return {
    verdict: {
      tone: isUnequal ? 'open' : ofListed(tones, decision, 'open'),
      text: `${isUnequal ? texts.alikeButDifferent : ofListed(verdicts, decision, texts.unknownForms)}.`,
    },
    facts: [isUnequal ? open : ofListed(advice, decision, open)],
    teacher: [
      {
        heading: texts.comparedForms,
        blocks: [
          {
            kind: 'table',
            table: {
              caption: texts.comparedForms,
              columns: [texts.columns.form, texts.columns.learners],
              rows: forms,
            },
          },
          ...[
            coverageMatch ? texts.sameCoverage : texts.otherCoverage,
            dokMatch ? texts.sameDepth : texts.otherDepth,
          ].map((text): Block => ({ kind: 'text', text })),
        ],
      },
    ],
    sure: [{ heading: texts.study, blocks: studyBlocks(speaker, report) }],
    audit: auditSections(speaker, report),
  };
}

function studyBlocks(speaker: Speaker, report: EquivalenceReport): readonly Block[] {
  const { texts, number } = speaker;
  const { statistic, tolerance, limitations = [] } = report;
  const { lower, upper } = report.confidenceInterval;
  const end = Math.max(Math.abs(lower), Math.abs(upper), tolerance, 1e-6) * 1.25;
  const text = texts.difference(number(statistic), number(lower), number(upper), number(tolerance));
  const axis: Axis = {
    label: text,
    low: -end,
    high: end,
    ticks: roundTicks(-end, end, number).slice(1, -1),
    zones: [
      { from: -end, to: -tolerance, tone: 'bad' },
      { from: -tolerance, to: tolerance, tone: 'good' },
      { from: tolerance, to: end, tone: 'bad' },
    ],
    band: [lower, upper],
    marks: [{ at: statistic, kind: 'value' }],
  };
  return [
    { kind: 'text', text },
    { kind: 'axis', axis },
    { kind: 'text', quiet: true, text: texts.toleranceDrawn },
    ...limitations.map((limitation): Block => ({ kind: 'text', text: limitation, isEnglish: true })),
  ];
}
