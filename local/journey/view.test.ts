import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { paintFor, plain } from '#tools/terminal/paint.ts';
import type { AdaptiveRun } from '#client/index.ts';
import { sampleComponent, sampleRun } from '#test/support/sample-report.ts';
import { openScreen } from './screen.ts';
import { openView, renderLive, renderStep, renderSummary, withState, type JourneyView } from './view.ts';

const labels = new Map([
  ['k1', 'convert a whole number to a fraction'],
  ['k2', 'borrow'],
  ['k3', 'simplify'],
]);
const started: AdaptiveRun = {
  ...sampleRun,
  status: 'in_progress',
  offeredItem: { deliverySessionId: 's', artifactVersionId: 'v1', sequence: 1 },
  kcClassifications: [...labels.keys()].map((guid) => sampleComponent(guid, 'not_yet', 0.5, [])),
  scaleReportability: 'pending',
  scale: null,
  stopReason: null,
  remainingUncertainty: 1,
};
const answered: AdaptiveRun = {
  ...started,
  offeredItem: { deliverySessionId: 's', artifactVersionId: 'v2', sequence: 2 },
  kcClassifications: [
    sampleComponent('k3', 'not_yet', 0.5, []),
    sampleComponent('k1', 'mastered', 0.97, ['e1', 'e2']),
    sampleComponent('k2', 'gap', 0.04, ['e1']),
  ],
  scaleReportability: 'reportable',
  scale: { ...sampleRun.scale!, scaleScore: 512, standardError: 40 },
  remainingUncertainty: 0.6,
};
const completed: AdaptiveRun = {
  ...answered,
  status: 'completed',
  offeredItem: null,
  stopReason: 'max_items',
};

/** The view of these states of a run, after a correct answer and an incorrect one by turns. */
function journey(...states: AdaptiveRun[]): JourneyView {
  return states.reduce(
    (view, state, at) => {
      const item = { deliverySessionId: 's', artifactVersionId: `v${at}`, sequence: at };
      return withState(view, state, at === 0 ? undefined : { item, correct: at % 2 === 1 }, (id) => ({
        name: `Name-${id}`,
        stem: `What is ${id}?`,
      }));
    },
    openView('aurora · bank', labels, { mastered: new Set(['k1', 'k2']), scale: 530 }),
  );
}

const screen = { width: 80, height: 40, paint: plain };

describe('renderLive', () => {
  it('shows components in the order of the bank, the band, the uncertainty, the answers and the offer', () => {
    expect(renderLive(journey(started, answered), screen)).toMatchInlineSnapshot(`
      [
        "aurora · bank",
        "",
        "convert a whole number to a fracti… ███████████████████████░  0.97  mastered  2",
        "borrow                              █░░░░░░░░░░░░░░░░░░░░░░░  0.04  gap       1",
        "simplify                            ████████████░░░░░░░░░░░░  0.50  not yet   0",
        "",
        "scale        ──────────────────━━━━━━━●━━━━━━──────────────────  512.0 ± 40.0",
        "uncertainty  ██████████████████████████████░░░░░░░░░░░░░░░░░░░░  0.600 bits",
        "",
        "answers      ✓",
        "item 2       Name-v2  What is v2?",
      ]
    `);
  });

  it('shows why the run has stopped instead of an offer', () => {
    const finalizing: AdaptiveRun = { ...completed, status: 'finalizing' };
    expect(renderLive(journey(started, finalizing), screen)).toContain('finalizing   max_items');
  });

  it('never exceeds the width, with or without colours', () => {
    for (let width = 1; width <= 120; width += 1)
      for (const paint of [plain, paintFor({ isTTY: true }, {})]) {
        const view = journey(started, answered, answered);
        for (const line of [
          ...renderLive(view, { ...screen, width, paint }),
          ...renderSummary(view, { width, paint }),
        ])
          expect(stripVTControlCharacters(line).length).toBeLessThanOrEqual(width);
      }
  });

  it('keeps to the height: open components with evidence first, the others counted', () => {
    const kcClassifications = [
      ...Array.from({ length: 30 }, (_, at) => sampleComponent(`x${at}`, 'not_yet', 0.5, [])),
      sampleComponent('open', 'not_yet', 0.6, ['e']),
      sampleComponent('done', 'mastered', 0.99, ['e']),
    ];
    const lines = renderLive(journey(started, { ...answered, kcClassifications }), { ...screen, height: 14 });
    expect(lines.length).toBeLessThanOrEqual(14);
    for (const line of [/^open /m, /^done /m, /^… and \d+ more: \d+ not yet$/m])
      expect(lines.join('\n')).toMatch(line);
  });
});

it('a terminal has the last state drawn over the one before, below the notes that stay', () => {
  const written: string[] = [];
  const { show, note } = openScreen({ isTTY: true, write: (piece) => written.push(piece) }, plain);
  const view = openView('heading', new Map(), undefined);
  show(view);
  show(view);
  note('kept');
  show(view);
  const drawing = 'heading\nstarting …\n';
  const erased = '\u001b[2A\u001b[0J';
  expect(written).toStrictEqual([drawing, erased + drawing, `${erased}kept\n`, drawing]);
});

describe('renderStep', () => {
  it('counts no classification as settled that it does not know', () => {
    const kcClassifications = answered.kcClassifications.map((row) => ({
      ...row,
      classification: 'half_settled' as typeof row.classification,
    }));
    expect(renderStep(journey(started, { ...answered, kcClassifications }))).toContain('settled 0/3');
  });

  it('is one line per state', () => {
    const states = [started, answered, completed];
    expect(states.map((_, at) => renderStep(journey(...states.slice(0, at + 1))))).toStrictEqual([
      'started  settled 0/3  scale pending  uncertainty 1.000 bits',
      'item 1 Name-v1 correct  settled 2/3  scale 512.0 ± 40.0  uncertainty 0.600 bits',
      expect.stringMatching(/^item 2 Name-v2 incorrect .* completed: max_items$/),
    ]);
  });
});

describe('renderSummary', () => {
  it('shows stop reason, scale, references, and every classification beside the truth', () => {
    expect(renderSummary(journey(started, answered, completed), screen)).toMatchInlineSnapshot(`
      [
        "stop reason       max_items",
        "items             2, 1 correct",
        "scale             512.0 ± 40.0 on scale-1",
        "true scale value  530.0",
        "uncertainty left  0.600 bits per component",
        "results record    record-1",
        "event             urn:uuid:1",
        "receipt           receipt-1",
        "",
        "knowledge component                   classification  posterior  items  truth",
        "convert a whole number to a fraction  mastered            0.970      2  mastered",
        "borrow                                gap                 0.040      1  mastered",
        "simplify                              not_yet             0.500      0  gap",
        "",
        "1 of 2 settled components match the simulation",
      ]
    `);
  });
});
