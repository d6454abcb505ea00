import { expect, it } from 'vitest';
import { compileModel, nextStep, prepareSelection, weigh } from '#functions/mastery/engine/index.ts';
import type { Outcome, StopReason } from '#functions/mastery/engine/index.ts';
import { constraintsOf, runRulesOf } from '#functions/mastery/records/engine-rules.ts';
import { soundSeed } from '#test/support/sound-seed.ts';
import { instantiateSeed } from './instantiate.ts';
import type { Learner } from './bank-files.ts';

const seed = await soundSeed();
const seeded = instantiateSeed(seed, 'tenant-aurora');

/** Leads a learner through a bank as the engine does: why the run stops, and which items the learner was given. */
function walkerThrough(bankName: string) {
  const at = seed.banks.findIndex(({ name }) => name === bankName);
  const fixture = seeded.fixtures.mastery.banks[at]!;
  const policy = seeded.policies[at]!.document;
  const { document, parameters } = seeded.calibrations.find(
    (one) => one.document.id === fixture.scaleCalibrationId,
  )!;
  const { members } = seeded.platform.manifests.find((one) => one.operationId === fixture.bankOperationId)!;
  const compiled = compileModel(parameters);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.error));
  const model = compiled.value;
  const pool = members!.map(({ artifactVersionId, qtiIdentifier, kcGuids, caseGuids }) => {
    const item = model.itemIndex.get(artifactVersionId)!;
    const { accessibility = [] } = parameters.items[item]!;
    return { item, artifactVersionId, qtiIdentifier, tags: [...kcGuids, ...caseGuids], accessibility };
  });
  const scope = model.kcGuids.map((_, kc) => kc);
  const context = prepareSelection(model, pool, constraintsOf(policy, scope, [], undefined));
  const rules = runRulesOf(policy, document);
  return ({ answers }: Learner): { readonly stop: StopReason; readonly items: readonly string[] } => {
    const outcomes: Outcome[] = [];
    const items: string[] = [];
    for (;;) {
      const evidence = weigh(model, scope, rules, outcomes);
      const step = nextStep(context, rules, evidence, { runSeed: 'seed', elapsedMilliseconds: 0 });
      if (step.kind === 'stop') return { stop: step.reason, items };
      const name = seeded.itemNames[model.itemIds[step.item]!]!;
      items.push(name);
      outcomes.push({ item: step.item, correct: answers[name] === 1 });
    }
  };
}

// The journeys of the contract tests reach the stops of the other banks. Those of this bank draw their items, and may stop either way.
it('generated reaches precision_target_met with every standard covered, unless every component is clear before', () => {
  const { bank, learners } = seed.banks.find(({ name }) => name === 'generated')!;
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
