import { describe, expect, it } from 'vitest';
import {
  compileModel,
  createResponder,
  drawSimulatedLearner,
  prepareSelection,
  simulatedRunSeed,
  simulateRun,
} from '#functions/mastery/engine/index.ts';
import { constraintsOf, runRulesOf } from '#functions/mastery/records/engine-rules.ts';
import { entityKinds, entityNames } from '#local/platform/entities.ts';
import { openTenant } from '#local/platform/tenant-state.ts';
import { actions, metrics } from '#shared/contract/reports/analysis-policy.ts';
import { parseInstant } from '#shared/kernel/instant.ts';
import { supportedModels } from '#shared/records/models.ts';
import { CALIPER_CONTEXT } from '#shared/platform/owners/caliper.ts';
import { soundSeed } from '#test/support/sound-seed.ts';
import type { GeneratorFile } from './bank-files.ts';
import { generateBank } from './generator.ts';
import { instantiateSeed } from './instantiate.ts';
import type { Seed } from './seed.ts';
import { localTenant } from './tenants.ts';

const seed = await soundSeed();
const aurora = instantiateSeed(seed, 'tenant-aurora');

describe('the default seed', () => {
  it('gives the owners what their schemas take, also of what is made on demand', () => {
    const tenant = openTenant(aurora.platform);
    const onDemand = Object.values(aurora.platform.reports.generated).map((made) => [...made.keys()][0]!);
    let found = 0;
    for (const { schema, held } of entityNames.map((name) => entityKinds[name])) {
      const store = held(tenant);
      const ids = [...[...store.entries()].map(([id]) => id), ...onDemand];
      for (const entity of ids.map((id) => store.get(id)).filter((one) => one !== undefined)) {
        expect(schema.safeParse(entity).error).toBeUndefined();
        found += 1;
      }
    }
    expect(found).toBeGreaterThan(700);
  });

  it('exercises every rule of eligibility, every metric and every action', () => {
    const documents = aurora.policies.map(({ document }) => document);
    expect(new Set(documents.flatMap(({ eligibilityRules }) => Object.keys(eligibilityRules)))).toEqual(
      new Set([
        ...['contentConstraints', 'enemySets', 'excludedItems', 'exposure', 'poolMembership'],
        ...[
          'priorUse',
          'requiredAccessibility',
          'selectionTarget',
          'unmeasuredCredit',
          'minimumDecisionGain',
        ],
      ]),
    );
    expect(documents.some(({ coverageFloors }) => coverageFloors.length > 0)).toBe(true);
    const { triggers } = aurora.analysisPolicy.document;
    expect(new Set(triggers.map(({ metric }) => metric))).toEqual(new Set(Object.keys(metrics)));
    expect(new Set(triggers.map((one) => one.requestedAction))).toEqual(new Set(Object.keys(actions)));
  });

  it('keeps the policies of earlier versions released, under the ids that they have always had', () => {
    const named = aurora.fixtures.mastery.banks.map(({ selectionPolicyId }) => selectionPolicyId);
    expect(aurora.policies.map(({ document }) => document.id)).toEqual([
      ...named,
      'policy-fraction-subtraction-497ba4a35937',
      'policy-fraction-subtraction-10bc52365222',
      'policy-fraction-subtraction-b2b21532e0eb',
      'policy-fraction-subtraction-short-590994fbfaaf',
      'policy-fraction-subtraction-timed-0dc0532717f3',
      'policy-fraction-subtraction-timed-f1f6738a6e4b',
      'policy-generated-389c9faae8fd',
      'policy-generated-e11fef040fd1',
    ]);
  });

  it('ends a run over fractions once no item can decide anything, and leaves no more open than all 20 items would [MA-114]', () => {
    const { document, parameters } = aurora.calibrations[0]!;
    const compiled = compileModel(parameters);
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.error));
    const model = compiled.value;
    const pool = parameters.items.map((item, at) => ({ ...item, item: at, tags: [], accessibility: [] }));
    const learners = Array.from({ length: 40 }, (_, n) => drawSimulatedLearner(model, `learner ${n}`, []));
    const lengthsUnder = (id: string) => {
      const policy = aurora.policies.find((record) => record.document.id === id)!.document;
      const scope = [...model.kcGuids.keys()];
      const context = prepareSelection(model, pool, constraintsOf(policy, scope, [], undefined));
      const rules = runRulesOf(policy, document);
      const runs = [() => false, ...learners.map((learner) => createResponder(model, learner))].map(
        (respond, n) => simulateRun(context, rules, simulatedRunSeed(`run ${n}`), respond).evidence,
      );
      const [allWrong, ...others] = runs.map(({ outcomes }) => outcomes.length);
      return {
        allWrong,
        items: others.reduce((sum, items) => sum + items, 0),
        notYet: runs.flatMap(({ classifications }) => classifications.filter((one) => one === 'not_yet'))
          .length,
      };
    };
    const [policy] = aurora.policies;
    expect(lengthsUnder('policy-fraction-subtraction-b2b21532e0eb')).toEqual({
      allWrong: 20,
      items: 477,
      notYet: 37,
    });
    expect(lengthsUnder(policy!.document.id)).toEqual({ allWrong: 10, items: 377, notYet: 37 });
  });

  it('turns guess and slip into a table over the patterns, and the scale into a rising one', () => {
    const { items, scale } = aurora.calibrations[0]!.parameters;
    // Item06: one component, guess 0.016075, slip 0.043161. Item02: two components.
    expect(items[5]!.probabilities).toEqual([0.016075, 0.956839]);
    expect(items[1]!.probabilities).toEqual([0.026713, 0.026713, 0.026713, 0.963935]);
    expect([scale.length, scale[0], scale[30], scale[60]]).toEqual([61, -100, 500, 1100]);
  });
});

/** A value in which what is made on demand has been made. */
function made(value: unknown): unknown {
  if (typeof value === 'function') return made((value as () => unknown)());
  // Of half a million requirements some are enough: their list has a digest of each crosswalk.
  if (value instanceof Map)
    return [...(value as ReadonlyMap<string, unknown>)]
      .filter(([id], at) => at < 2 || !id.startsWith('alignment-'))
      .map(([id, entity]) => [id, made(entity)]);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, made(member)]));
}

/** Every text in a value, member names included. */
function texts(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value === 'string') found.add(value);
  else if (typeof value === 'object' && value !== null)
    for (const [key, member] of Object.entries(value)) texts(member, found.add(key));
  return found;
}

describe('two tenants', () => {
  it('share no id, and have the same ids at the next start', () => {
    // Words of the seed itself, constants of the standards and plain values are the same everywhere; ids are not.
    const neutral = texts(seed);
    const models = supportedModels.flatMap((model) => Object.values(model));
    for (const word of [...models, 'alignment-v1', 'sha256', CALIPER_CONTEXT]) neutral.add(word);
    const generated = /^S\d+(\.K\d+)?$|^(Standard|Knowledge component|Generated assessment) \d/;
    const isPlain = (text: string): boolean =>
      /^\d*$/.test(text) || parseInstant(text) !== undefined || generated.test(text);
    const all = made(aurora);
    const own = [...texts(all)].filter((text) => /\d/.test(text) && !isPlain(text) && !neutral.has(text));
    const other = texts(made(instantiateSeed(seed, 'tenant-borealis')));
    expect(own.length).toBeGreaterThan(10_000);
    expect(own.filter((text) => other.has(text))).toEqual([]);
    expect(localTenant('tenant-aurora').sub).not.toBe(localTenant('tenant-borealis').sub);
    expect(made(instantiateSeed(seed, 'tenant-aurora'))).toEqual(all);
  });

  it('get a new version id when the content changes, and only for that', () => {
    const [bank, ...rest] = seed.banks;
    const banks = [{ ...bank!, policy: { ...bank!.policy, maxItems: 3 } }, ...rest];
    const triggers = seed.analysisPolicy.triggers.slice(1);
    const idsOf = ({ policies, analysisPolicy }: typeof aurora): readonly string[] =>
      [policies[0]!, policies[1]!, analysisPolicy].map(({ document }) => document.id);
    const before = idsOf(aurora);
    const changed = (change: Partial<Seed>): readonly boolean[] =>
      idsOf(instantiateSeed({ ...seed, ...change }, 'tenant-aurora')).map((id, at) => id !== before[at]);
    expect(changed({ banks })).toEqual([true, false, false]);
    expect(changed({ analysisPolicy: { ...seed.analysisPolicy, triggers } })).toEqual([false, false, true]);
  });
});

it('a generated bank is that of its settings: items of one standard each, no component without items', () => {
  const settings: GeneratorFile = {
    generator: 'standards-by-components/1',
    seed: 's',
    title: 'T',
    subject: 'mathematics',
    grades: ['06'],
    standards: 5,
    kcsPerStandard: 3,
    items: 45,
    learners: 2,
  };
  expect(generateBank(settings)).toEqual(generateBank(settings));
  expect(generateBank({ ...settings, seed: 't' })).not.toEqual(generateBank(settings));
  const { items } = generateBank(settings).bank;
  expect(new Set(items.flatMap(({ kcs }) => kcs)).size).toBe(15);
  for (const { kcs } of items) {
    expect(new Set(kcs.map((kc) => kc.split('.')[0])).size).toBe(1);
    expect(new Set(kcs).size).toBe(kcs.length);
  }
  expect(new Set(items.map(({ kcs }) => kcs.length))).toEqual(new Set([1, 2, 3]));
});
