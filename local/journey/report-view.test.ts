import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { AttemptReport } from '#shared/contract/reports/attempt-report.ts';
import { paintFor, plain } from '#tools/terminal/paint.ts';
import { columnsOf } from '#tools/terminal/line.ts';
import { rowsByNeed } from '../report-rows.ts';
import { renderEvidence, renderReport } from './report-view.ts';
import type { ReportNames } from './report-view.ts';
import { sampleReport, sampleRow } from '#test/support/sample-report.ts';

const labels = new Map([
  ['k-gap', 'borrow'],
  ['k-mastered', '約分'],
]);
const names: ReportNames = {
  component: (caseGuid) => labels.get(caseGuid),
  item: (qtiItemId) => (qtiItemId === 'q1' ? 'Item 1' : undefined),
};
const space = { width: 100, paint: plain };
const coloured = paintFor({ isTTY: true }, {});
const many = sampleReport({
  mastery: [
    sampleRow('k-mastered', 'mastered', 0.97, ['q1', 'q3']),
    sampleRow('k-doubtful', 'insufficient_evidence', 0.5, ['q3']),
    sampleRow('k-open', 'not_yet', 0.6, ['q3']),
    sampleRow('k-gap', 'gap', 0.12, ['q2']),
    sampleRow('k-worse', 'gap', 0.04, ['q2']),
    sampleRow('k-new', 'unknown', 0.4, ['q2']),
  ],
});

/** The line that begins with the text. */
function lineOf(report: AttemptReport, start: string, width = 100): string {
  const line = renderReport(report, names, { ...space, width }).find((text) => text.startsWith(start));
  if (line === undefined) throw new Error(`no line begins with ${start}`);
  return line;
}

describe('rowsByNeed', () => {
  it('puts gaps first, then what is open, then what is mastered; the furthest below its threshold first', () => {
    expect(rowsByNeed(many).map(({ caseGuid }) => caseGuid)).toStrictEqual([
      'k-worse',
      'k-gap',
      'k-open',
      'k-doubtful',
      'k-new',
      'k-mastered',
    ]);
  });
});

describe('renderReport', () => {
  it('says whose report it is, of what kind, and what was measured', () => {
    const report = sampleReport();
    expect(lineOf(report, 'attempt report')).toBe('attempt report  adaptive_diagnostic, scored');
    expect(lineOf(report, 'attempt  ')).toMatch(/ attempt-1$/);
    expect(lineOf(report, 'results record')).toMatch(/ record-1$/);
    expect(lineOf(report, 'student')).toMatch(/ student-1$/);
    expect(lineOf(report, 'score')).toMatch(/ 512\.4 ± 18\.3 \(scale scale-1\)$/);
    expect(lineOf(report, 'calibration')).toMatch(/ calibration-1$/);
    expect(lineOf(report, 'stopped')).toMatch(/ max_items, after 3 items$/);
    expect(lineOf(report, 'left out')).toMatch(/ readiness$/);
    expect(lineOf(report, 'incomplete')).toMatch(/ nothing$/);
  });

  it('shows every row below its state, by name where the seed knows it, against its threshold', () => {
    const lines = renderReport(many, names, space);
    const from = lines.indexOf('gap (2)');
    expect(lines.slice(from, from + 11).map((line) => line.trim().split(/ {2,}/)[0])).toStrictEqual([
      'gap (2)',
      'knowledge_component k-worse',
      'borrow',
      'not_yet (1)',
      'knowledge_component k-open',
      'insufficient_evidence (1)',
      'knowledge_component k-doubtful',
      'unknown (1)',
      'knowledge_component k-new',
      'mastered (1)',
      '約分',
    ]);
    expect(lineOf(many, '  borrow')).toMatch(/ ━+●━+─+┃─+  0\.120 ± 0\.200  0\.800  1 item$/);
    expect(lineOf(many, '  約分')).toMatch(/ ─+━+┃━*●━*  0\.970 ± 0\.200  0\.800  2 items$/);
  });

  it('shows a receipt for every source, with its age at the end of the composition', () => {
    const report = sampleReport();
    const [heading, ...receipts] = renderReport(report, names, space).slice(-6, -3);
    expect(heading).toBe('source   resource   version  status   age');
    expect(receipts).toStrictEqual([
      'qti      attempt-1  "3"      current  60 ms',
      'results  record-1   none     current  2.1 s',
    ]);
    const old = sampleReport({
      sources: [{ ...report.sources[0]!, status: 'stale', observedAt: '2026-03-02T10:10:00.000Z' }],
    });
    expect(lineOf(old, 'qti')).toMatch(/ stale {3}5 min$/);
  });

  it('names every section that is incomplete, and the owner', () => {
    const report = sampleReport({
      incompleteSections: [
        {
          type: 'https://problems.example/dependency-unavailable',
          title: 'Dependency unavailable',
          status: 503,
          detail: 'Detail.',
          instance: 'urn:request:1',
          requestId: 'r',
          traceId: 't',
          retryable: true,
          dependency: 'caliper',
          fieldErrors: null,
          operationId: null,
        },
      ],
    });
    expect(lineOf(report, 'incomplete')).toMatch(/ caliper: Dependency unavailable \(503\)$/);
  });

  it('never exceeds the width, and keeps to the figures when there is no room for drawings', () => {
    for (const width of [1, 2, 7, 16, 24, 33, 46, 60, 75, 80, 100, 160]) {
      for (const paint of [plain, coloured]) {
        const lines = [
          ...renderReport(many, names, { width, paint }),
          ...many.mastery.flatMap((row) => renderEvidence(row, names, { width, paint })),
        ];
        for (const line of lines)
          expect(columnsOf(stripVTControlCharacters(line))).toBeLessThanOrEqual(width);
      }
    }
    expect(lineOf(many, '  bor', 46)).toBe('  borrow        0.120 ± 0.200  0.800  1 item');
    expect(lineOf(many, '  bor', 36)).toBe('  bor…    0.120 ± 0.200  0.800  1 i…');
  });

  it('writes no escape code in plain, and nothing that an owner has put into an id', () => {
    const hostile = sampleReport({
      mastery: [{ ...sampleRow('k\u001b[2J', 'gap', 0.1, ['q\u001b]0;x\u0007']), policyVersion: '3\n4' }],
    });
    const text = [
      ...renderReport(hostile, names, space),
      ...renderEvidence(hostile.mastery[0]!, names, space),
    ].join('');
    expect(text).not.toMatch(/\p{Cc}/u);
    expect(text).toContain('k�[2J');
  });
});

describe('renderEvidence', () => {
  it('shows each outcome with what it counts, when it was scored and where it can be looked up', () => {
    const row = sampleRow('k-gap', 'gap', 0.04, ['q1', 'q2']);
    const [first, second] = row.evidence!;
    const weighed = {
      ...row,
      parentCaseGuid: null,
      evidence: [
        { ...first!, contribution: 0.5 },
        { ...second!, resultComponentId: null },
      ],
    };
    expect(renderEvidence(weighed, names, space)).toStrictEqual([
      'borrow  gap  0.040 ± 0.200 against 0.800',
      '  CASE k-gap, under no parent',
      '  policy policy-1, version 3',
      '  item    contribution  scored at                 QTI outcome, results component',
      '  Item 1          +0.5  2026-03-02T10:15:11.000Z  outcome-q1, component-k-gap',
      '  q2                -1  2026-03-02T10:15:11.000Z  outcome-q2, no component',
    ]);
  });
});
