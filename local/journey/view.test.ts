import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { paintFor, plain } from '#tools/terminal/paint.ts';
import type { AdaptiveRun } from '#client/index.ts';
import { sampleRun } from '#test/support/sample-report.ts';
import { openView, renderLive, renderStep, renderSummary, withState } from './view.ts';
import type { JourneyView } from './view.ts';

const labels = new Map([
  ['k1', 'convert a whole number to a fraction'],
  ['k2', 'borrow'],
  ['k3', 'simplify'],
]);

function run(change: Partial<AdaptiveRun> = {}): AdaptiveRun {
  return {
    ...sampleRun,
    status: 'in_progress',
    selectionPolicyId: 'policy-1',
    scaleCalibrationId: 'calibration-1',
    offeredItem: { deliverySessionId: 's', artifactVersionId: 'v2', sequence: 2 },
    kcClassifications: [kc('k3', 'not_yet', 0.5, 0), kc('k1', 'mastered', 0.97, 2), kc('k2', 'gap', 0.04, 1)],
    scaleReportability: 'reportable',
    scale: { ...sampleRun.scale!, scaleScore: 512, standardError: 40, scaleId: 'scale-1' },
    stopReason: null,
    remainingUncertainty: 0.6,
    receiptId: 'receipt-1',
    ...change,
  };
}

function kc(
  caseCompetencyGuid: string,
  classification: string,
  posteriorProbability: number,
  evidence: number,
): AdaptiveRun['kcClassifications'][number] {
  return {
    ...sampleRun.kcClassifications[0]!,
    caseCompetencyGuid,
    classification,
    posteriorProbability,
    evidenceItemRefs: Array.from({ length: evidence }, (_, at) => `e${at}`),
  };
}

const texts = (id: string): { name: string; stem: string } => ({
  name: `Name-${id}`,
  stem: `What is ${id}?`,
});

function journey(...states: AdaptiveRun[]): JourneyView {
  return states.reduce(
    (view, state, at) =>
      withState(
        view,
        state,
        at === 0
          ? undefined
          : {
              item: { deliverySessionId: 's', artifactVersionId: `v${at}`, sequence: at },
              correct: at % 2 === 1,
            },
        texts,
      ),
    openView('aurora · bank', labels, { mastered: new Set(['k1', 'k2']), scale: 530 }),
  );
}

const pending = run({
  kcClassifications: [kc('k1', 'not_yet', 0.5, 0), kc('k2', 'not_yet', 0.5, 0), kc('k3', 'not_yet', 0.5, 0)],
  scaleReportability: 'pending',
  scale: null,
  remainingUncertainty: 1,
});
const screen = { width: 80, height: 40, paint: plain };

describe('renderLive', () => {
  it('shows components in the order of the bank, the band, the uncertainty, the answers and the offer', () => {
    expect(renderLive(journey(pending, run()), screen)).toMatchInlineSnapshot(`
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

  it('never exceeds the width, with or without colours', () => {
    const coloured = paintFor({ isTTY: true }, {});
    for (let width = 1; width <= 120; width += 1) {
      for (const paint of [plain, coloured]) {
        for (const line of renderLive(journey(pending, run(), run()), { width, height: 40, paint })) {
          expect(stripVTControlCharacters(line).length).toBeLessThanOrEqual(width);
        }
        for (const line of renderSummary(journey(pending, run()), { width, paint })) {
          expect(stripVTControlCharacters(line).length).toBeLessThanOrEqual(width);
        }
      }
    }
  });

  it('keeps to the height: open components with evidence first, the others counted', () => {
    const many = run({
      kcClassifications: [
        ...Array.from({ length: 30 }, (_, at) => kc(`x${at}`, 'not_yet', 0.5, 0)),
        kc('open', 'not_yet', 0.6, 1),
        kc('done', 'mastered', 0.99, 3),
      ],
    });
    const lines = renderLive(journey(pending, many), { ...screen, height: 14 });
    expect(lines.length).toBeLessThanOrEqual(14);
    const text = lines.join('\n');
    expect(text).toMatch(/^open /m);
    expect(text).toMatch(/^done /m);
    expect(text).toMatch(/^… and \d+ more: \d+ not yet$/m);
  });

  it('shows why the run has stopped instead of an offer', () => {
    const done = run({ status: 'finalizing', offeredItem: null, stopReason: 'max_items' });
    expect(renderLive(journey(pending, done), screen)).toContain('finalizing   max_items');
  });
});

describe('renderStep', () => {
  it('is one line per state', () => {
    expect(renderStep(journey(pending))).toBe('started  settled 0/3  scale pending  uncertainty 1.000 bits');
    expect(renderStep(journey(pending, run()))).toBe(
      'item 1 Name-v1 correct  settled 2/3  scale 512.0 ± 40.0  uncertainty 0.600 bits',
    );
    expect(
      renderStep(journey(pending, run(), run({ status: 'completed', stopReason: 'precision_target_met' }))),
    ).toMatch(/^item 2 Name-v2 incorrect .* completed: precision_target_met$/);
  });
});

describe('renderSummary', () => {
  it('shows stop reason, scale, references, and every classification beside the truth', () => {
    const done = run({
      status: 'completed',
      offeredItem: null,
      stopReason: 'classifications_complete',
      resultRecordRef: 'record-1',
      caliperEventRef: 'urn:uuid:1',
    });
    expect(renderSummary(journey(pending, run(), done), screen)).toMatchInlineSnapshot(`
      [
        "stop reason       classifications_complete",
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
