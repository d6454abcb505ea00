import type { EquivalenceReport } from 'mastery-reports-client';
import { auditSections } from './audit.ts';
import { endsFor, roundTicks } from './axis.ts';
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
  const { equivalent, notEquivalent, open, unequal, unknown } = texts.formsNext;
  const advice: Readonly<Record<Decision, string>> = {
    equivalent,
    not_equivalent: notEquivalent,
    insufficient_evidence: open,
    unknown,
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
    facts: [isUnequal ? unequal : ofListed(advice, decision, unknown)],
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
  const { texts, number, numbers } = speaker;
  const { statistic, tolerance, limitations = [] } = report;
  const { lower, upper } = report.confidenceInterval;
  const [value, from, to, most] = numbers([statistic, lower, upper, tolerance, -tolerance]);
  const text = texts.resultOfStudy(value, from, to);
  const [low, high] = endsFor([lower, upper]);
  const axis: Axis = {
    label: text,
    low,
    high,
    ticks: roundTicks(low, high, number),
    // The report does not name the methods of which the result is a difference: only for them, the tolerance would be a zone.
    zones: [],
    band: [lower, upper],
    marks: [{ at: statistic, kind: 'value' }],
  };
  return [
    { kind: 'text', text },
    { kind: 'axis', axis },
    { kind: 'text', text: texts.tolerance(most) },
    ...limitations.map((limitation): Block => ({ kind: 'text', text: limitation, isEnglish: true })),
  ];
}
