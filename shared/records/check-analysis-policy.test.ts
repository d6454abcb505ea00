import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { analysisTrigger, metrics, reasons } from '#shared/contract/reports/analysis-policy.ts';
import type { AnalysisTrigger } from '#shared/contract/reports/analysis-policy.ts';
import { checkAnalysisPolicy } from './check-analysis-policy.ts';
import {
  sampleAnalysisPolicyFile,
  sampleCrosswalkTrigger,
  sampleTrigger,
} from '#test/support/sample-files.ts';

type Change = Readonly<Record<string, unknown>>;

function defectsOf(file: unknown): readonly string[] {
  const checked = checkAnalysisPolicy(file);
  return checked.ok ? [] : checked.error.map((defect) => `${defect.pointer} ${defect.message}`);
}

const pointersOf = (document: Change): readonly string[] =>
  defectsOf(sampleAnalysisPolicyFile(document)).map((line) => line.replace(/ .*/, ''));

describe('checkAnalysisPolicy', () => {
  it('names every defect of the form of a file in one pass', () => {
    const file = sampleAnalysisPolicyFile({
      triggers: [
        sampleTrigger({ reasonCodes: ['low_discrimination', 'colour'], requiredSubjects: ['caseGuids', 7] }),
        { ...sampleCrosswalkTrigger(), note: 'x' },
        null,
      ],
    });
    delete (file['document'] as Record<string, unknown>)['formulaVersion'];
    expect(defectsOf(file).map((line) => line.replace(/Invalid option:.*|expected one of.*/, '…'))).toEqual([
      '/document/formulaVersion expected "alignment-v1"',
      '/document/triggers/0/reasonCodes/1 …',
      '/document/triggers/0/requiredSubjects/1 …',
      '/document/triggers/1/note is not a member that this version knows',
      '/document/triggers/2 expected object, received null',
    ]);
  });

  it('names every defect of the meaning of a file in one pass', () => {
    const file = sampleAnalysisPolicyFile({
      version: 'current',
      triggers: [
        sampleTrigger({
          observed: { name: 'discrimination_index', unit: 'percent' },
          threshold: { operator: 'outside', value: 0 },
          targetModule: 'blueprint',
          reasonCodes: ['low_discrimination', 'untagged_distractor'],
          requiredSubjects: ['caseGuids'],
        }),
        sampleCrosswalkTrigger({ threshold: { operator: 'gt', value: 100 } }),
        sampleCrosswalkTrigger({ threshold: { operator: 'gt', value: 50 } }),
        sampleTrigger({
          observed: { name: 'constructor', unit: 'points' },
          reasonCodes: ['low_discrimination', 'low_discrimination'],
          requiredSubjects: ['qtiItemId', 'sourceKeys', 'qtiItemId'],
        }),
        sampleCrosswalkTrigger({
          observed: { name: 'lower_dok_requirements', unit: 'count' },
          requiredSubjects: ['sourceKeys', 'caseGuids'],
        }),
      ],
    });
    expect(defectsOf(file)).toEqual([
      '/document/version is a mutable alias; name one immutable version',
      '/document/triggers/0/threshold/value must be above 0: outside is a tolerance on both sides of 0',
      '/document/triggers/0/observed/unit is no unit of discrimination_index: proportion',
      '/document/triggers/0/requestedAction is an action of bank, not of blueprint',
      '/document/triggers/0/reasonCodes/1 is no reason for regenerate_item; it is one for tag_distractor',
      '/document/triggers/0/reasonCodes/1 cannot be seen in item_discrimination; it can in distractor_distribution',
      '/document/triggers/0/requiredSubjects lacks qtiItemId, which regenerate_item needs',
      '/document/triggers/1/threshold/value cannot be reached: alignment_percent is never gt 100',
      '/document/triggers/3/observed/name is nothing that item_discrimination measures: discrimination_index',
      '/document/triggers/3/observed/unit is no unit of item_discrimination: proportion',
      '/document/triggers/3/reasonCodes/1 repeats entry 0',
      '/document/triggers/3/requiredSubjects/2 repeats entry 0',
      '/document/triggers/3/requiredSubjects/1 is never named by item_discrimination',
      '/document/triggers/4/requiredSubjects/1 can be lacking where lower_dok_requirements trips: a requirement without a mapping has no CASE GUID',
      '/document/triggers/2 repeats trigger 1: the same measure, operator and action',
    ]);
  });

  it.each(['id', 'version'])('takes a %s of 1 to 255 characters that names one version [RP-146]', (name) => {
    expect(pointersOf({ [name]: 'x'.repeat(255) })).toEqual([]);
    for (const value of ['', 'x'.repeat(256), null, 'thresholds@latest']) {
      expect(pointersOf({ [name]: value })).toEqual([`/document/${name}`]);
    }
  });

  it('takes the formula alignment-v1 and no other, and at least one trigger', () => {
    expect(pointersOf({ formulaVersion: 'alignment-v2' })).toEqual(['/document/formulaVersion']);
    expect(pointersOf({ triggers: [] })).toEqual(['/document/triggers']);
    expect(pointersOf({ triggers: [[]] })).toEqual(['/document/triggers/0']);
  });
});

/** Who takes an action, and what its order cannot be without. */
const orders = {
  regenerate_item: ['bank', 'qtiItemId'],
  rotate_item: ['bank', 'qtiItemId'],
  review_miskey: ['bank', 'qtiItemId'],
  tag_distractor: ['bank', 'qtiItemId'],
  apply_calibration_delta: ['blueprint'],
  repair_crosswalk: ['blueprint', 'sourceKeys'],
} as const;

const trips: Record<AnalysisTrigger['threshold']['operator'], (value: number, limit: number) => boolean> = {
  lt: (value, limit) => value < limit,
  lte: (value, limit) => value <= limit,
  gt: (value, limit) => value > limit,
  gte: (value, limit) => value >= limit,
  outside: (value, limit) => value < -limit || value > limit,
};

/** Whether every order of a trigger of the right form can be made, and some value asks for one. */
function isSound({ metric, observed, threshold, requiredSubjects, reasonCodes, ...order }: AnalysisTrigger) {
  const { measures, subjects } = metrics[metric];
  const measure = measures.find(({ name, unit }) => name === observed.name && unit === observed.unit);
  if (measure === undefined) return false;
  const { least, greatest, withoutGuids } = measure;
  const isTripped = (value: number) => trips[threshold.operator](value, threshold.value);
  const near = [least, greatest, ...[-1e-9, 0, 1e-9].map((step) => threshold.value + step)];
  const isReached = near.some((value) => least <= value && value <= greatest && isTripped(value));
  const lacksGuids = withoutGuids === 'ever' || (withoutGuids === 'at_zero' && isTripped(0));
  const named = subjects.filter((subject) => subject !== 'caseGuids' || !lacksGuids);
  const [taker, ...needed] = orders[order.requestedAction];
  return (
    isReached &&
    !(threshold.operator === 'outside' && threshold.value <= 0) &&
    order.targetModule === taker &&
    needed.every((subject) => requiredSubjects.includes(subject)) &&
    requiredSubjects.every((subject) => named.includes(subject)) &&
    new Set(requiredSubjects).size === requiredSubjects.length &&
    new Set(reasonCodes).size === reasonCodes.length &&
    reasonCodes.every(
      (code) =>
        reasons[code].actions.includes(order.requestedAction) && reasons[code].metrics.includes(metric),
    )
  );
}

describe('a trigger', () => {
  const { shape } = analysisTrigger;
  /** For each reason, action and measure that belong together a trigger that is in order, unless the measure has no subjects for it. */
  const fitting = Object.entries(reasons).flatMap(([reason, fits]) =>
    fits.actions.flatMap((requestedAction) =>
      fits.metrics.flatMap((metric) =>
        metrics[metric].measures.map(({ name, unit }) => ({
          metric,
          observed: { name, unit },
          threshold: { operator: 'gt', value: 0.5 },
          targetModule: orders[requestedAction][0],
          requestedAction,
          reasonCodes: [reason],
          requiredSubjects: orders[requestedAction].slice(1),
        })),
      ),
    ),
  );
  const names = Object.values(metrics).flatMap(({ measures }) => measures.map(({ name }) => name));
  const changes = {
    metric: fc.constantFrom(...shape.metric.options),
    observed: fc.record({
      name: fc.constantFrom(...names, 'pass_rate_difference', 'constructor'),
      unit: fc.constantFrom(...shape.observed.shape.unit.options, 'logit'),
    }),
    threshold: fc.record({
      operator: fc.constantFrom(...shape.threshold.shape.operator.options, 'eq'),
      value: fc.constantFrom(-1e300, -1, -0.1, 0, 0.5, 1, 100, 1e300, Infinity),
    }),
    targetModule: fc.constantFrom(...shape.targetModule.options, 'content'),
    requestedAction: fc.constantFrom(...shape.requestedAction.options, 'retire_item'),
    reasonCodes: fc.array(fc.constantFrom(...Object.keys(reasons), 'ugly'), { maxLength: 3 }),
    requiredSubjects: fc.uniqueArray(fc.constantFrom(...shape.requiredSubjects.element.options), {
      maxLength: 4,
    }),
  };
  const change = fc.oneof(
    ...Object.entries(changes).map(([name, values]) =>
      (values as fc.Arbitrary<unknown>).map((value) => [name, value] as const),
    ),
  );

  it('is taken exactly if it can ask for an order that is valid, of whichever form, metric, reason and action [RP-031, RP-192, RP-193, RP-194, RP-195, RP-196, RP-197, RP-199, RP-200]', () => {
    let taken = 0;
    fc.assert(
      fc.property(fc.constantFrom(...fitting), fc.array(change, { maxLength: 3 }), (base, changed) => {
        const trigger = { ...base, ...Object.fromEntries(changed) };
        const { success, data } = analysisTrigger.safeParse(trigger);
        const isTaken = pointersOf({ triggers: [trigger] }).length === 0;
        expect(isTaken).toBe(success && isSound(data));
        taken += Number(isTaken);
      }),
      { numRuns: 3_000 },
    );
    expect(taken).toBeGreaterThan(300);
  });

  it('does not ask twice for the same, whatever the threshold’s value; on another measure or for something else it may', () => {
    const triggers = [
      sampleTrigger(),
      sampleCrosswalkTrigger(),
      sampleTrigger({ requestedAction: 'review_miskey', reasonCodes: ['miskey_evidence'] }),
      sampleTrigger({ threshold: { operator: 'lte', value: 0.2 } }),
      fitting.find(({ metric }) => metric === 'item_difficulty')!,
    ];
    expect(pointersOf({ triggers })).toEqual([]);
    const stricter = sampleTrigger({ threshold: { operator: 'lt', value: 0.1 } });
    expect(pointersOf({ triggers: [...triggers, stricter] })).toEqual(['/document/triggers/5']);
  });
});
