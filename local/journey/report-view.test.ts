import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { paintFor, plain } from '#tools/terminal/paint.ts';
import { columnsOf } from '#tools/terminal/line.ts';
import { renderEvidence, renderReport, type ReportNames } from './report-view.ts';
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
const many = sampleReport({
  mastery: [
    sampleRow('k-mastered', 'mastered', 0.97, ['q1', 'q3']),
    sampleRow('k-doubtful', 'insufficient_evidence', 0.5, ['q3']),
    sampleRow('k-open', 'not_yet', 0.6, ['q3']),
    sampleRow('k-gap', 'gap', 0.12, ['q2']),
    sampleRow('k-worse', 'gap', 0.04, ['q2']),
    sampleRow('k-new', 'unknown', 0.4, ['q2']),
  ],
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

describe('renderReport', () => {
  it('shows whose report it is, what was measured and what is missing; every row below its state, gaps and the furthest below the threshold first; and a receipt for every source', () => {
    expect(renderReport(many, names, space)).toMatchInlineSnapshot(`
      [
        "attempt report  adaptive_diagnostic, scored",
        "attempt         attempt-1",
        "results record  record-1",
        "student         student-1",
        "score           512.4 ± 18.3 (scale scale-1)",
        "                439 ──────────────────━━━━━━━●━━━━━━────────────────── 585",
        "calibration     calibration-1",
        "stopped         max_items, after 3 items",
        "",
        "mastery, gaps first  estimate ● ± standard_error ━, threshold ┃",
        "gap (2)",
        "  knowledge_component k-worse     ━●━━━━━━━─────────────────┃───────  0.040 ± 0.200  0.800  1 item",
        "  borrow                          ━━━━●━━━━━━━──────────────┃───────  0.120 ± 0.200  0.800  1 item",
        "not_yet (1)",
        "  knowledge_component k-open      ─────────────━━━━━━━●━━━━━┃───────  0.600 ± 0.200  0.800  1 item",
        "insufficient_evidence (1)",
        "  knowledge_component k-doubtful  ──────────━━━━━━━●━━━━━━──┃───────  0.500 ± 0.200  0.800  1 item",
        "unknown (1)",
        "  knowledge_component k-new       ───────━━━━━━●━━━━━━━─────┃───────  0.400 ± 0.200  0.800  1 item",
        "mastered (1)",
        "  約分                            ─────────────────────────━┃━━━━━●━  0.970 ± 0.200  0.800  2 items",
        "",
        "source   resource   version  status   age",
        "qti      attempt-1  "3"      current  60 ms",
        "results  record-1   none     current  2.1 s",
        "",
        "incomplete      caliper: Dependency unavailable (503)",
        "left out        readiness",
      ]
    `);
  });

  it('shows a stale source, and how old it is', () => {
    const [source] = many.sources;
    const sources = [{ ...source!, status: 'stale' as const, observedAt: '2026-03-02T10:10:00.000Z' }];
    expect(renderReport(sampleReport({ sources }), names, space).join('\n')).toMatch(
      /^qti .* stale {3}5 min$/m,
    );
  });

  it('never exceeds the width, and keeps to the figures when there is no room for drawings', () => {
    for (const width of [1, 2, 7, 16, 24, 33, 46, 60, 75, 80, 100, 160])
      for (const paint of [plain, paintFor({ isTTY: true }, {})]) {
        const lines = [
          ...renderReport(many, names, { width, paint }),
          ...many.mastery.flatMap((row) => renderEvidence(row, names, { width, paint })),
        ];
        for (const line of lines)
          expect(columnsOf(stripVTControlCharacters(line))).toBeLessThanOrEqual(width);
      }
    const narrow = renderReport(many, names, { ...space, width: 36 });
    expect(narrow).toContain('  bor…    0.120 ± 0.200  0.800  1 i…');
  });

  it('writes no escape code in plain, and nothing that an owner has put into an id', () => {
    const row = { ...sampleRow('k\u001b[2J', 'gap', 0.1, ['q\u001b]0;x\u0007']), policyVersion: '3\n4' };
    const text = [
      ...renderReport(sampleReport({ mastery: [row] }), names, space),
      ...renderEvidence(row, names, space),
    ].join('');
    expect(text).not.toMatch(/\p{Cc}/u);
    expect(text).toContain('k�[2J');
  });
});

describe('renderEvidence', () => {
  it('shows each outcome with what it counts, when it was scored and where it can be looked up', () => {
    const row = sampleRow('k-gap', 'gap', 0.04, ['q1', 'q2']);
    const [first, second] = row.evidence!;
    const evidence = [
      { ...first!, contribution: 0.5 },
      { ...second!, resultComponentId: null },
    ];
    expect(renderEvidence({ ...row, parentCaseGuid: null, evidence }, names, space)).toStrictEqual([
      'borrow  gap  0.040 ± 0.200 against 0.800',
      '  CASE k-gap, under no parent',
      '  policy policy-1, version 1',
      '  item    contribution  scored at                 QTI outcome, results component',
      '  Item 1          +0.5  2026-03-02T10:15:11.000Z  outcome-q1, component-k-gap',
      '  q2                -1  2026-03-02T10:15:11.000Z  outcome-q2, no component',
    ]);
  });
});
