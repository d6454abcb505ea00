import { describe, expect, it } from 'vitest';
import { compileModel, nextStep, prepareSelection, weigh } from '#functions/mastery/engine/index.ts';
import type { Outcome, StopReason } from '#functions/mastery/engine/index.ts';
import { constraintsOf, stoppingRulesOf } from '#functions/mastery/records/engine-rules.ts';
import { modelParameters } from '#functions/mastery/records/model-parameters.ts';
import { soundSeed } from '#test/support/sound-seed.ts';
import { instantiateSeed } from './instantiate.ts';
import type { Learner } from './bank-files.ts';

const seed = await soundSeed();
const seeded = instantiateSeed(seed, 'tenant-aurora');

interface Walk {
  readonly stop: StopReason;
  readonly items: readonly string[];
}

/** Leads learners through a bank as the engine does; each answer takes so many milliseconds. */
function walkerThrough(bankName: string) {
  const at = seed.banks.findIndex(({ name }) => name === bankName);
  const fixture = seeded.fixtures.mastery.banks[at]!;
  const policy = seeded.policies[at]!.document;
  const { document, parameters } = seeded.calibrations.find(
    (one) => one.document.id === fixture.scaleCalibrationId,
  )!;
  const { members } = seeded.platform.manifests.find((one) => one.operationId === fixture.bankOperationId)!;
  const compiled = compileModel(modelParameters(parameters));
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.error));
  const model = compiled.value;
  const pool = members!.map(({ artifactVersionId, qtiIdentifier, kcGuids, caseGuids }) => {
    const item = model.itemIndex.get(artifactVersionId)!;
    const { accessibility = [] } = parameters.items[item]!;
    return { item, artifactVersionId, qtiIdentifier, tags: [...kcGuids, ...caseGuids], accessibility };
  });
  const scope = model.kcGuids.map((_, kc) => kc);
  const context = prepareSelection(model, pool, constraintsOf(policy, scope, [], undefined));
  const { numericPrecision } = document;
  const rules = stoppingRulesOf(policy, { numericPrecision });
  return ({ answers }: Learner, { millisecondsPerItem = 0, runSeed = 'seed' } = {}): Walk => {
    const outcomes: Outcome[] = [];
    const items: string[] = [];
    for (;;) {
      const evidence = weigh(model, scope, { ...policy, numericPrecision }, outcomes);
      const elapsedMilliseconds = outcomes.length * millisecondsPerItem;
      const step = nextStep(context, rules, evidence, { runSeed, elapsedMilliseconds });
      if (step.kind === 'stop') return { stop: step.reason, items };
      const name = seeded.itemNames[model.itemIds[step.item]!]!;
      items.push(name);
      outcomes.push({ item: step.item, correct: answers[name] === 1 });
    }
  };
}

function bankNamed(name: string) {
  return seed.banks.find((bank) => bank.name === name)!;
}

describe('the default policies reach the stop that they are for', () => {
  it('fraction-subtraction: classifications_complete, for most learners', () => {
    const walk = walkerThrough('fraction-subtraction');
    const ended = bankNamed('fraction-subtraction')
      .learners.filter((learner) => walk(learner).stop === 'classifications_complete')
      .map(({ name }) => name);
    expect(ended).toEqual(expect.arrayContaining(['everything-mastered', 'no-borrowing']));
    expect(ended.length).toBeGreaterThan(5);
  });

  it('fraction-subtraction-short: max_items, for every learner, with no enemies and no excluded item', () => {
    const walk = walkerThrough('fraction-subtraction-short');
    // The policy draws among the best items: other run seeds, other ways.
    for (const learner of bankNamed('fraction-subtraction-short').learners)
      for (const runSeed of ['a', 'b', 'c', 'd']) {
        const { stop, items } = walk(learner, { runSeed });
        expect([stop, items.length]).toEqual(['max_items', 5]);
        expect(items).not.toContain('Item09');
        expect(items.filter((item) => ['Item04', 'Item11', 'Item20'].includes(item)).length).toBeLessThan(2);
      }
  });

  it('fraction-subtraction-timed: time_budget, for every learner who takes a second per item', () => {
    const walk = walkerThrough('fraction-subtraction-timed');
    for (const learner of bankNamed('fraction-subtraction-timed').learners)
      expect(walk(learner, { millisecondsPerItem: 1000 }).stop).toBe('time_budget');
  });

  it('generated: precision_target_met with every standard covered, unless every component is clear before', () => {
    const { bank, learners } = bankNamed('generated');
    const walk = walkerThrough('generated');
    const walks = learners.slice(0, 8).map((learner) => walk(learner));
    const precise = walks.filter(({ stop }) => stop === 'precision_target_met');
    expect(precise.length).toBeGreaterThan(5);
    for (const { items } of precise)
      for (const { name } of bank.standards) {
        const covering = bank.items.filter(
          (item) => items.includes(item.name) && item.standards.includes(name),
        );
        expect(covering.length).toBeGreaterThanOrEqual(name === 'connect' ? 4 : 2);
      }
    const others = walks.filter((one) => !precise.includes(one));
    expect(others.every(({ stop }) => stop === 'classifications_complete')).toBe(true);
  });
});
