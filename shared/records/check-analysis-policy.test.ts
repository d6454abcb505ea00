import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { actions, analysisTrigger, metrics, reasons } from '#shared/contract/reports/analysis-policy.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
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

function pointersOf(document: Change): readonly string[] {
  const checked = checkAnalysisPolicy(sampleAnalysisPolicyFile(document));
  return checked.ok ? [] : checked.error.map((defect) => defect.pointer);
}

/** The defects of one trigger, with pointers into it. */
function triggerDefects(trigger: Change): readonly string[] {
  return defectsOf(sampleAnalysisPolicyFile({ triggers: [trigger] })).map((defect) =>
    defect.replace(/^\/document\/triggers\/0/, ''),
  );
}

/** A trigger that is in order but for what is changed: the metric's first measure, and a threshold between its bounds. */
function fitting(requestedAction: keyof typeof actions, change: Change = {}): Change {
  const [reason, { metrics: seenIn }] = Object.entries(reasons).find(([, fits]) =>
    fits.actions.includes(requestedAction),
  )!;
  const metric = seenIn.find((name) =>
    actions[requestedAction].subjects.every((subject) => metrics[name].subjects.includes(subject)),
  )!;
  const { name, unit } = metrics[metric].measures[0]!;
  return {
    metric,
    observed: { name, unit },
    threshold: { operator: 'gt', value: 0.5 },
    targetModule: actions[requestedAction].targetModule,
    requestedAction,
    reasonCodes: [reason],
    requiredSubjects: actions[requestedAction].subjects,
    ...change,
  };
}

const everyAction = Object.keys(actions) as (keyof typeof actions)[];
const everyMeasure = Object.entries(metrics).flatMap(([metric, { measures }]) =>
  measures.map((measure) => ({ metric, ...measure })),
);

describe('checkAnalysisPolicy', () => {
  it('names every defect of a file in one pass, form and meaning alike', () => {
    const file = sampleAnalysisPolicyFile({
      version: 'current',
      triggers: [
        sampleTrigger({
          observed: { name: 'discrimination_index', unit: 'percent' },
          threshold: { operator: 'outside', value: 0 },
          targetModule: 'blueprint',
          reasonCodes: ['low_discrimination', 'colour', 'untagged_distractor'],
          requiredSubjects: ['caseGuids', 7, 7],
        }),
        { ...sampleCrosswalkTrigger({ threshold: { operator: 'gt', value: 100 } }), note: 'x' },
        sampleCrosswalkTrigger({ threshold: { operator: 'gt', value: 50 } }),
        null,
      ],
    });
    delete (file['document'] as Record<string, unknown>)['formulaVersion'];
    expect(defectsOf(file).map((line) => line.replace(/Invalid option:.*|expected one of.*/, '…'))).toEqual([
      '/document/formulaVersion expected "alignment-v1"',
      '/document/triggers/0/reasonCodes/1 …',
      '/document/triggers/0/requiredSubjects/1 …',
      '/document/triggers/0/requiredSubjects/2 …',
      '/document/triggers/1/note is not a member that this version knows',
      '/document/triggers/3 expected object, received null',
      '/document/version is a mutable alias; name one immutable version',
      '/document/triggers/0/threshold/value must be above 0: outside is a tolerance on both sides of 0',
      '/document/triggers/0/observed/unit is no unit of discrimination_index: proportion',
      '/document/triggers/0/requestedAction is an action of bank, not of blueprint',
      '/document/triggers/0/reasonCodes/2 is no reason for regenerate_item; it is one for tag_distractor',
      '/document/triggers/0/reasonCodes/2 cannot be seen in item_discrimination; it can in distractor_distribution',
      '/document/triggers/0/requiredSubjects lacks qtiItemId, which regenerate_item needs',
      '/document/triggers/1/threshold/value cannot be reached: alignment_percent is never gt 100',
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

  it('answers what is wrong with any broken trigger inside that trigger, never an exception', () => {
    const anyTrigger = fc.record(
      Object.fromEntries(
        Object.entries(sampleTrigger()).map(([name, value]) => [
          name,
          fc.oneof(fc.constant(value), fc.jsonValue()),
        ]),
      ),
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(anyTrigger, (trigger) => {
        const triggers = [sampleCrosswalkTrigger(), trigger];
        const pointers = pointersOf({ triggers });
        expect(pointers.filter((pointer) => !pointer.startsWith('/document/triggers/1'))).toEqual([]);
        expect(pointers.length === 0).toBe(hashCanonical(trigger) === hashCanonical(sampleTrigger()));
      }),
    );
  });
});

describe('a trigger’s action', () => {
  it.each([
    ['regenerate_item', 'bank', 'qtiItemId'],
    ['rotate_item', 'bank', 'qtiItemId'],
    ['review_miskey', 'bank', 'qtiItemId'],
    ['tag_distractor', 'bank', 'qtiItemId'],
    ['apply_calibration_delta', 'blueprint', undefined],
    ['repair_crosswalk', 'blueprint', 'sourceKeys'],
  ] as const)(
    '%s is one of %s alone, and is not asked for without %s [RP-192, RP-193, RP-194]',
    (action, taker, subject) => {
      for (const targetModule of ['bank', 'blueprint'])
        expect(triggerDefects(fitting(action, { targetModule }))).toEqual(
          targetModule === taker ? [] : [`/requestedAction is an action of ${taker}, not of ${targetModule}`],
        );
      expect(triggerDefects(fitting(action, { requiredSubjects: ['caseGuids'] }))).toEqual(
        subject === undefined ? [] : [`/requiredSubjects lacks ${subject}, which ${action} needs`],
      );
    },
  );

  it('is one of six, for one of two modules [RP-192, RP-193]', () => {
    expect(
      triggerDefects(sampleTrigger({ requestedAction: 'retire_item', targetModule: 'content' })),
    ).toEqual([expect.stringMatching(/^\/targetModule /), expect.stringMatching(/^\/requestedAction /)]);
  });

  it('may be bound to more subjects than it needs [RP-194]', () => {
    const requiredSubjects = ['qtiTestId', 'qtiItemId', 'qtiFormId', 'caseGuids'];
    expect(triggerDefects(sampleTrigger({ requiredSubjects }))).toEqual([]);
  });

  it('is not bound to a subject that its metric never names, or twice to one', () => {
    expect(triggerDefects(sampleTrigger({ requiredSubjects: ['qtiItemId', 'sourceKeys'] }))).toEqual([
      '/requiredSubjects/1 is never named by item_discrimination',
    ]);
    expect(triggerDefects(sampleTrigger({ requiredSubjects: ['qtiItemId', 'qtiItemId'] }))).toEqual([
      '/requiredSubjects/1 repeats entry 0',
    ]);
  });

  it.each([
    ['uncovered_requirements', 'count', 'gt', 0, false],
    ['uncovered_requirements', 'count', 'gte', 5, false],
    ['alignment_percent', 'percent', 'lt', 90, false],
    ['lower_dok_requirements', 'count', 'lt', 3, false],
    ['lower_dok_requirements', 'count', 'gte', 0, false],
    ['lower_dok_requirements', 'count', 'gt', 0, true],
    ['lower_dok_requirements', 'count', 'gte', 1, true],
  ] as const)(
    'is bound to the GUIDs of %s (%s, %s %d) only where whatever trips has some: %j [RP-195, RP-196]',
    (name, unit, operator, value, isAllowed) => {
      const trigger = sampleCrosswalkTrigger({
        observed: { name, unit },
        threshold: { operator, value },
        requiredSubjects: ['sourceKeys', 'caseGuids'],
      });
      expect(triggerDefects(trigger)).toEqual(
        isAllowed
          ? []
          : [
              `/requiredSubjects/1 can be lacking where ${name} trips: a requirement without a mapping has no CASE GUID`,
            ],
      );
    },
  );
});

describe('a trigger’s reasons', () => {
  it('are 1 to 20 different ones of eight [RP-197]', () => {
    expect(triggerDefects(sampleTrigger({ reasonCodes: ['ugly'] }))).toEqual([
      expect.stringMatching(/^\/reasonCodes\/0 /),
    ]);
    expect(triggerDefects(sampleTrigger({ reasonCodes: [] }))).toEqual([
      expect.stringMatching(/^\/reasonCodes /),
    ]);
    expect(triggerDefects(sampleTrigger({ reasonCodes: Array(2).fill('low_discrimination') }))).toEqual([
      '/reasonCodes/1 repeats entry 0',
    ]);
    expect(
      triggerDefects(sampleTrigger({ reasonCodes: Array(21).fill('low_discrimination') })),
    ).toContainEqual(expect.stringMatching(/^\/reasonCodes Too big/));
  });

  it('fit the action, every reason some and no reason all', () => {
    for (const [reason, fits] of Object.entries(reasons)) {
      for (const action of everyAction) {
        const found = triggerDefects(fitting(action, { reasonCodes: [reason] }));
        const refused = found.some((line) => line.startsWith(`/reasonCodes/0 is no reason for ${action};`));
        expect(refused).toBe(!fits.actions.includes(action));
      }
      expect(fits.actions.length).toBeGreaterThan(0);
    }
  });

  it('fit the metric', () => {
    for (const [metric, { measures }] of Object.entries(metrics)) {
      const [{ name, unit }] = measures as [(typeof measures)[number]];
      const found = triggerDefects(sampleTrigger({ metric, observed: { name, unit } }));
      expect(found.some((line) => line.startsWith(`/reasonCodes/0 cannot be seen in ${metric};`))).toBe(
        metric !== 'item_discrimination',
      );
    }
  });
});

describe('a trigger’s observation', () => {
  it('is in the unit of its measure, whatever the metric', () => {
    for (const { metric, name, unit: right } of everyMeasure) {
      for (const unit of analysisTrigger.shape.observed.shape.unit.options) {
        const found = triggerDefects(sampleTrigger({ metric, observed: { name, unit } }));
        expect(found.filter((line) => line.startsWith('/observed'))).toEqual(
          unit === right ? [] : [`/observed/unit is no unit of ${name}: ${right}`],
        );
      }
    }
    expect(
      triggerDefects(sampleTrigger({ observed: { name: 'discrimination_index', unit: 'logit' } })),
    ).toEqual([expect.stringMatching(/^\/observed\/unit /)]);
  });

  it('is nothing that this service would have to calculate [RP-031]', () => {
    const found = triggerDefects(
      sampleCrosswalkTrigger({
        metric: 'predicted_actual',
        observed: { name: 'pass_rate_difference', unit: 'percent' },
        threshold: { operator: 'outside', value: 10 },
        reasonCodes: ['readiness_tolerance_breach'],
      }),
    );
    expect(found).toContainEqual(
      '/observed/name is nothing that predicted_actual measures: observed_agreement',
    );
  });

  it.each(['item_difficulty', 'constructor'])('is a measure of its metric, which %s is not', (name) => {
    expect(triggerDefects(sampleTrigger({ observed: { name, unit: 'points' } }))).toEqual([
      '/observed/name is nothing that item_discrimination measures: discrimination_index',
      '/observed/unit is no unit of item_discrimination: proportion',
    ]);
  });

  it.each([
    ['proportion_correct', 'lt', 0, false],
    ['proportion_correct', 'lte', -0.1, false],
    ['proportion_correct', 'lte', 0, true],
    ['proportion_correct', 'gt', 1, false],
    ['proportion_correct', 'gte', 1, true],
    ['proportion_correct', 'outside', 1, false],
    ['discrimination_index', 'lt', -1, false],
    ['discrimination_index', 'lt', 0, true],
    ['discrimination_index', 'outside', 0.999999, true],
    ['alignment_percent', 'gt', 100, false],
    ['uncovered_requirements', 'lt', 0, false],
    ['score_standard_deviation', 'lt', 0, false],
    ['mean_score_difference', 'lt', -1e300, true],
    ['mean_score_difference', 'outside', 1e300, true],
  ])('may wait for %s %s %d only where a value reaches it: %j', (name, operator, value, isReached) => {
    const { metric, unit } = everyMeasure.find((measure) => measure.name === name)!;
    const trigger = sampleTrigger({ metric, observed: { name, unit }, threshold: { operator, value } });
    expect(triggerDefects(trigger).filter((line) => line.startsWith('/threshold'))).toEqual(
      isReached ? [] : [`/threshold/value cannot be reached: ${name} is never ${operator} ${value}`],
    );
  });

  it('has a finite threshold and one of five operators [RP-199]', () => {
    expect(triggerDefects(sampleTrigger({ threshold: { operator: 'eq', value: Infinity } }))).toEqual([
      expect.stringMatching(/^\/threshold\/operator /),
      expect.stringMatching(/^\/threshold\/value /),
    ]);
  });

  it.each([0, -0.1])('needs a tolerance above 0 to be outside of, and %d is none [RP-200]', (value) => {
    expect(triggerDefects(sampleTrigger({ threshold: { operator: 'outside', value } }))).toEqual([
      '/threshold/value must be above 0: outside is a tolerance on both sides of 0',
    ]);
  });
});

describe('triggers', () => {
  it('do not ask twice for the same, whatever the threshold’s value', () => {
    const stricter = sampleTrigger({ threshold: { operator: 'lt', value: 0.1 } });
    expect(pointersOf({ triggers: [sampleTrigger(), sampleCrosswalkTrigger(), stricter] })).toEqual([
      '/document/triggers/2',
    ]);
  });

  it('may ask for something else on the same measure, or for the same on another', () => {
    const review = { requestedAction: 'review_miskey', reasonCodes: ['miskey_evidence'] };
    expect(
      pointersOf({
        triggers: [
          sampleTrigger(),
          sampleTrigger(review),
          sampleTrigger({ threshold: { operator: 'lte', value: 0.2 } }),
          sampleTrigger({
            metric: 'item_difficulty',
            observed: { name: 'proportion_correct', unit: 'proportion' },
            reasonCodes: ['difficulty_out_of_band'],
          }),
        ],
      }),
    ).toEqual([]);
  });
});
